// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* client: ask a process that uses libdprobes to do something. lib/service.h has the protocol. */
#include "tracer/module/client.h"
#include "proc/attach_other.h"
#include "proc/call.h"
#include "proc/inspect.h"
#include "tracer/output.h"
#include "tracer/source.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define NAP_US 2000
#define ASKED_US 100000
#define DONE_SECONDS 10
#define PART 4096

int dp_client_get(const struct dp_client *c, size_t offset, void *to, size_t n)
{
	size_t part;
	int err = 0;

	/* Larger reads go by process id: after an exec they would read another memory. */
	for (; n && !err; n -= part) {
		part = n < PART ? n : PART;
		err = dp_process_read(c->proc, c->addr + offset, to, part);
		offset += part;
		to = (char *)to + part;
	}
	return err ? -ESRCH : 0;
}

int dp_client_gone(const struct dp_client *c, struct dp_diag *diag)
{
	return dp_diag_set(diag, -ESRCH,
			   dp_process_replaced(c->proc) ?
				   "process %d has executed another program" :
				   "process %d has ended",
			   c->pid);
}

/* Check the service's header. Return: 0; -EAGAIN the process has executed meanwhile. */
static int check_client(struct dp_client *c, struct dp_diag *diag)
{
	u64 magic = 0;
	u32 version = 0, owner = 0;

	/* Look again, now that the memory is known to be that of @proc. */
	c->addr = dp_mapping_named(c->pid, DP_SERVICE_PATH);
	DP_CLIENT_GET(c, magic, &magic);
	DP_CLIENT_GET(c, version, &version);
	DP_CLIENT_GET(c, owner, &owner);
	if (dp_process_replaced(c->proc))
		return -EAGAIN;
	if (magic != DP_SERVICE_MAGIC || version != DP_SERVICE_VERSION)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d uses another version of libdprobes than this tool",
			c->pid);
	if (owner != dp_process_inside(c->proc))
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d was made of one that uses libdprobes, but not by fork; it cannot be asked for anything",
			c->pid);
	return 0;
}

void dp_client_close(struct dp_client *c)
{
	dp_process_close(c->proc);
	c->proc = NULL;
}

int dp_client_open(struct dp_client *c, pid_t pid, FILE *out,
		   struct dp_diag *diag)
{
	int err;

	do {
		*c = (struct dp_client){ .pid = pid, .out = out };
		if (kill(pid, 0) && errno == ESRCH)
			return dp_diag_set(diag, -ESRCH, "no process %d", pid);
		if (!dp_mapping_named(pid, DP_SERVICE_PATH))
			return dp_diag_set(
				diag, -EOPNOTSUPP,
				"process %d does not use libdprobes.so (or may not be looked at); start it with dprobes insmod MOD.so -- CMD, or with LD_PRELOAD=libdprobes.so.1",
				pid);
		err = dp_process_open(pid, &c->proc, diag);
		if (err)
			return err;
		err = check_client(c, diag);
		if (err)
			dp_client_close(c);
	} while (err == -EAGAIN);
	return err;
}

/* Read line @n of the modules. Return: 0; -ENOENT overwritten; -EAGAIN half written. */
static int get_line(const struct dp_client *c, u64 n,
		    struct dp_service_line *line)
{
	size_t at = offsetof(struct dp_service, lines) +
		    n % DP_SERVICE_LINES * sizeof(*line);
	u64 seq;

	if (dp_client_get(c, at, line, sizeof(*line)) ||
	    dp_client_get(c, at, &seq, sizeof(seq)))
		return -ESRCH;
	if (line->seq == seq && seq == 2 * n + 2)
		return 0;
	return seq > 2 * n + 2 ? -ENOENT : -EAGAIN;
}

void dp_client_lines(struct dp_client *c)
{
	struct dp_service_line line;
	u64 next = c->line, gone = 0;
	int err;

	if (!c->out)
		return;
	DP_CLIENT_GET(c, next, &next);
	if (next > c->line + DP_SERVICE_LINES) {
		gone = next - c->line - DP_SERVICE_LINES;
		c->line += gone;
	}
	for (; c->line < next; c->line++) {
		err = get_line(c, c->line, &line);
		if (err == -EAGAIN && c->line + 1 >= next)
			break;
		if (err) {
			gone++;
			continue;
		}
		dp_output_print(c->out, "<%u>%.*s\n", line.level & 7u,
				line.len < DP_SERVICE_TEXT ? line.len :
							     DP_SERVICE_TEXT,
				line.text);
	}
	fflush(c->out);
	if (gone)
		dp_output_say(
			"%lu lines were lost; they came too fast, or are too old",
			gone);
}

/* Wait for an order to be carried out. Return: 0 done; -EAGAIN not yet. */
static int wait_done(struct dp_client *c, u32 number, struct dp_diag *diag)
{
	double deadline = dp_source_now() + DONE_SECONDS;
	u64 state;

	do {
		if (DP_CLIENT_GET(c, state, &state))
			return dp_client_gone(c, diag);
		if (state == ((u64)number << 32 | DP_SERVICE_DONE))
			return 0;
		dp_client_lines(c);
		usleep(NAP_US);
	} while (dp_source_now() < deadline);
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d has not done it in %d s, and goes on; dprobes lsmod -p %d will show what came of a module, dprobes list -p %d of probes",
		c->pid, DONE_SECONDS, c->pid, c->pid);
}

/* The order of a dead tool that was never delivered can be dropped. If it was delivered, the
 * thread with it has begun after the wait. */
static int find_idle(const struct dp_client *c, u64 *state,
		     struct dp_diag *diag)
{
	int err = DP_CLIENT_GET(c, state, state);

	if (!err && (u32)*state == DP_SERVICE_ASKED) {
		usleep(ASKED_US);
		err = DP_CLIENT_GET(c, state, state);
	}
	if (err)
		return dp_client_gone(c, diag);
	if ((u32)*state == DP_SERVICE_RUNS)
		return dp_diag_set(
			diag, -EBUSY,
			"process %d is still at work for another dprobes: a module's init or exit does not end",
			c->pid);
	return 0;
}

static int answer(const struct dp_client *c, u32 *refused, struct dp_diag *diag)
{
	struct dp_diag theirs;
	s32 err = -ESRCH;

	if (DP_CLIENT_GET(c, err, &err) || DP_CLIENT_GET(c, refused, refused) ||
	    DP_CLIENT_GET(c, diag, &theirs))
		return dp_client_gone(c, diag);
	if (!err)
		return 0;
	err = dp_output_quote(diag, err, &theirs);
	return *refused ? dp_diag_set(diag, err, "the library is busy") : err;
}

static int put_order(const struct dp_client *c, const struct dp_client_order *o,
		     u64 idle, u64 asked)
{
	/* Write the order while the state is idle; write last that there is an order. */
	return DP_CLIENT_PUT(c, state, &idle) ||
	       DP_CLIENT_PUT(c, verb, &o->verb) ||
	       DP_CLIENT_PUT(c, nr_guests, &o->nr_guests) ||
	       dp_process_write(c->proc,
				c->addr + offsetof(struct dp_service, order),
				o->data, o->len) ||
	       DP_CLIENT_PUT(c, state, &asked);
}

static int ask_once(struct dp_client *c, const struct dp_client_order *o,
		    u32 *refused, struct dp_diag *diag)
{
	struct dp_call call = {
		.word_addr = c->addr + offsetof(struct dp_service, state)
	};
	u64 state, idle;
	u32 number;
	int err = find_idle(c, &state, diag);

	if (err)
		return err;
	number = (u32)(state >> 32) + 1;
	call.arg = number;
	call.word = (u64)number << 32 | DP_SERVICE_ASKED;
	idle = (u64)number << 32 | DP_SERVICE_IDLE;
	if (DP_CLIENT_GET(c, entry, &call.entry) ||
	    put_order(c, o, idle, call.word))
		return dp_client_gone(c, diag);
	err = dp_process_call(c->proc, &call, diag);
	if (!err)
		err = wait_done(c, number, diag);
	if (err)
		return err;
	err = answer(c, refused, diag);
	if (!*refused && o->nr_guests &&
	    dp_client_get(c, offsetof(struct dp_service, guests), o->data,
			  o->len))
		err = dp_client_gone(c, diag);
	DP_CLIENT_PUT(c, state, &idle);
	return err;
}

static int ask_locked(struct dp_client *c, const struct dp_client_order *o,
		      struct dp_diag *diag)
{
	double deadline = dp_source_now() + o->patience;
	u32 refused;
	int err;

	DP_CLIENT_GET(c, next, &c->line);
	do {
		refused = 0;
		err = ask_once(c, o, &refused, diag);
		if (refused)
			usleep(NAP_US);
	} while (refused && dp_source_now() < deadline);
	if (refused)
		dp_diag_set(
			diag, err,
			"process %d is busy with probes: it is changing them, or the thread that could be asked is in a handler; try again",
			c->pid);
	dp_client_lines(c);
	return err;
}

int dp_client_ask(struct dp_client *c, const struct dp_client_order *order,
		  struct dp_diag *diag)
{
	int err = dp_process_lock(c->proc, DP_LOCK_ORDER, diag);

	if (err)
		return err;
	err = ask_locked(c, order, diag);
	dp_process_unlock(c->proc, DP_LOCK_ORDER);
	return err;
}
