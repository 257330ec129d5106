// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * service: modules of a process that uses libdprobes already.
 *
 * lib/service.h has the protocol. What is read from the process is checked before use.
 */
#include "tracer/session.h"
#include "lib/service.h"
#include "proc/call.h"
#include "proc/attach_other.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAP_US 2000
#define ASKED_US 100000
#define WATCH_US 50000
#define DONE_SECONDS 10
#define PATIENCE_SECONDS 3
#define PART 4096

/** struct client - the tool's side
 *  @proc: its memory has the struct dp_service, at @addr; every access is to that memory,
 *         whatever the process executes */
struct client {
	pid_t pid;
	struct dp_process *proc;
	u64 addr;
	u64 line; /* number of the line that is shown next */
	FILE *out;
};

static int get(const struct client *c, size_t offset, void *to, size_t n)
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

static int has_gone(const struct client *c, struct dp_diag *diag)
{
	return dp_diag_set(diag, -ESRCH,
			   dp_process_replaced(c->proc) ?
				   "process %d has executed another program" :
				   "process %d has ended",
			   c->pid);
}

#define GET(c, field, to) \
	get(c, offsetof(struct dp_service, field), to, sizeof(*(to)))
#define PUT(c, field, from)                                                    \
	dp_process_write((c)->proc,                                            \
			 (c)->addr + offsetof(struct dp_service, field), from, \
			 sizeof(*(from)))

/* Check the service's header. Return: 0; -EAGAIN the process has executed meanwhile. */
static int check_client(struct client *c, struct dp_diag *diag)
{
	u64 magic = 0;
	u32 version = 0, owner = 0;

	/* Look again, now that the memory is known to be that of @proc. */
	c->addr = dp_mapping_named(c->pid, DP_SERVICE_PATH);
	GET(c, magic, &magic);
	GET(c, version, &version);
	GET(c, owner, &owner);
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
			"process %d was made of one that uses libdprobes, but not by fork; modules cannot be loaded into it",
			c->pid);
	return 0;
}

static void close_client(struct client *c)
{
	dp_process_close(c->proc);
	c->proc = NULL;
}

static int open_client(struct client *c, pid_t pid, FILE *out,
		       struct dp_diag *diag)
{
	int err;

	do {
		*c = (struct client){ .pid = pid, .out = out };
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
			close_client(c);
	} while (err == -EAGAIN);
	return err;
}

/* Read line @n of the modules. Return: 0; -ENOENT overwritten; -EAGAIN half written. */
static int get_line(const struct client *c, u64 n, struct dp_service_line *line)
{
	size_t at = offsetof(struct dp_service, lines) +
		    n % DP_SERVICE_LINES * sizeof(*line);
	u64 seq;

	if (get(c, at, line, sizeof(*line)) || get(c, at, &seq, sizeof(seq)))
		return -ESRCH;
	if (line->seq == seq && seq == 2 * n + 2)
		return 0;
	return seq > 2 * n + 2 ? -ENOENT : -EAGAIN;
}

static void show_lines(struct client *c)
{
	struct dp_service_line line;
	u64 next = c->line, gone = 0;
	int err;

	GET(c, next, &next);
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
static int wait_done(struct client *c, u32 number, struct dp_diag *diag)
{
	double deadline = dp_source_now() + DONE_SECONDS;
	u64 state;

	do {
		if (GET(c, state, &state))
			return has_gone(c, diag);
		if (state == ((u64)number << 32 | DP_SERVICE_DONE))
			return 0;
		show_lines(c);
		usleep(NAP_US);
	} while (dp_source_now() < deadline);
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d has not finished with the module in %d s, and goes on; dprobes lsmod -p %d will show what came of it",
		c->pid, DONE_SECONDS, c->pid);
}

/* The order of a dead tool that was never delivered can be dropped. If it was delivered, the
 * thread with it has begun after the wait. */
static int find_idle(const struct client *c, u64 *state, struct dp_diag *diag)
{
	int err = GET(c, state, state);

	if (!err && (u32)*state == DP_SERVICE_ASKED) {
		usleep(ASKED_US);
		err = GET(c, state, state);
	}
	if (err)
		return has_gone(c, diag);
	if ((u32)*state == DP_SERVICE_RUNS)
		return dp_diag_set(
			diag, -EBUSY,
			"process %d is still at work for another dprobes: a module's init or exit does not end",
			c->pid);
	return 0;
}

static int answer(const struct client *c, u32 *refused, struct dp_diag *diag)
{
	struct dp_diag theirs;
	s32 err = -ESRCH;

	if (GET(c, err, &err) || GET(c, refused, refused) ||
	    GET(c, diag, &theirs))
		return has_gone(c, diag);
	if (!err)
		return 0;
	err = dp_output_quote(diag, err, &theirs);
	return *refused ? dp_diag_set(diag, err, "the library is busy") : err;
}

static int ask_once(struct client *c, u32 verb, const char *text, u32 *refused,
		    struct dp_diag *diag)
{
	struct dp_call call = {
		.word_addr = c->addr + offsetof(struct dp_service, state)
	};
	u64 state, idle;
	u32 number, len = (u32)strlen(text) + 1;
	int err = find_idle(c, &state, diag);

	if (err)
		return err;
	number = (u32)(state >> 32) + 1;
	call.arg = number;
	call.word = (u64)number << 32 | DP_SERVICE_ASKED;
	idle = (u64)number << 32 | DP_SERVICE_IDLE;
	/* Write the order while the state is idle; write last that there is an order. */
	if (GET(c, entry, &call.entry) || PUT(c, state, &idle) ||
	    PUT(c, verb, &verb) ||
	    dp_process_write(c->proc,
			     c->addr + offsetof(struct dp_service, order), text,
			     len) ||
	    PUT(c, state, &call.word))
		return has_gone(c, diag);
	err = dp_process_call(c->proc, &call, diag);
	if (!err)
		err = wait_done(c, number, diag);
	if (err)
		return err;
	err = answer(c, refused, diag);
	PUT(c, state, &idle);
	return err;
}

static int ask_locked(struct client *c, u32 verb, const char *text,
		      struct dp_diag *diag)
{
	double deadline = dp_source_now() + PATIENCE_SECONDS;
	u32 refused;
	int err;

	GET(c, next, &c->line);
	do {
		refused = 0;
		err = ask_once(c, verb, text, &refused, diag);
		if (refused)
			usleep(NAP_US);
	} while (refused && dp_source_now() < deadline);
	if (refused)
		dp_diag_set(
			diag, err,
			"process %d is busy with probes: it is changing them, or the thread that could be asked is in a handler; try again",
			c->pid);
	show_lines(c);
	return err;
}

/* One tool at a time. */
static int ask(struct client *c, u32 verb, const char *text,
	       struct dp_diag *diag)
{
	int err = dp_process_lock(c->proc, DP_LOCK_ORDER, diag);

	if (err)
		return err;
	err = ask_locked(c, verb, text, diag);
	dp_process_unlock(c->proc, DP_LOCK_ORDER);
	return err;
}

char *dp_order_text(const struct dp_tracer_options *opt)
{
	char module[PATH_MAX], *text = NULL;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs(realpath(opt->specs[0], module) ? module : opt->specs[0], f);
	for (i = 1; i < opt->nr_specs; i++)
		fprintf(f, "\n%s", opt->specs[i]);
	for (i = 0; i < opt->nr_aliases; i++)
		fprintf(f, "\n@%s", opt->aliases[i]);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static int order(const struct dp_tracer_options *opt, u32 verb,
		 const char *text, struct dp_diag *diag)
{
	struct client c;
	int err;

	if (!text)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	err = dp_order_check(opt, diag);
	if (err)
		return err;
	if (strlen(text) >= DP_SERVICE_ORDER)
		return dp_diag_set(diag, -EINVAL,
				   "the parameters are too long");
	err = open_client(&c, opt->pid, opt->out, diag);
	if (err)
		return err;
	err = ask(&c, verb, text, diag);
	close_client(&c);
	return err;
}

int dp_tracer_insmod_pid(const struct dp_tracer_options *opt,
			 struct dp_diag *diag)
{
	char *text = dp_order_text(opt);
	int err = order(opt, DP_SERVICE_LOAD, text, diag);

	free(text);
	return err;
}

int dp_tracer_rmmod(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	return order(opt, DP_SERVICE_UNLOAD, opt->specs[0], diag);
}

/* Read all modules as they were at one moment. */
static int get_modules(const struct client *c, struct dp_service_module *list,
		       u32 *n)
{
	u32 before, after = 1;
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		if (GET(c, changes, &before) || GET(c, nr_modules, n) ||
		    get(c, offsetof(struct dp_service, modules), list,
			DP_SERVICE_MODULES * sizeof(*list)) ||
		    GET(c, changes, &after))
			return -ESRCH;
		if (before == after && !(before & 1))
			return *n > DP_SERVICE_MODULES ? -EBADMSG : 0;
		usleep(NAP_US);
	}
	return -EAGAIN;
}

static void show_module(const struct client *c,
			const struct dp_service_module *m, bool verbose)
{
	dp_output_print(c->out, "%-7d %.*s %lu %d %s", c->pid,
			(int)sizeof(m->name), m->name, m->size, m->refs,
			m->forked ? "Forked" : "Live");
	if (verbose)
		dp_output_print(c->out, " %.*s", (int)sizeof(m->path), m->path);
	dp_output_print(c->out, "\n");
}

static int show_modules(const struct client *c, bool verbose)
{
	struct dp_service_module *list =
		calloc(DP_SERVICE_MODULES, sizeof(*list));
	u32 n = 0, i;
	int err = list ? get_modules(c, list, &n) : -ENOMEM;

	for (i = 0; !err && i < n; i++)
		show_module(c, &list[i], verbose);
	free(list);
	return err;
}

/* Call @act for every process that uses libdprobes and that the user may open. */
static int each(const struct dp_tracer_options *opt,
		int (*act)(struct client *c, void *arg), void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct client c;
	int first = 0, err;

	while (dir && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0 || open_client(&c, pid, opt->out, NULL))
			continue;
		err = act(&c, arg);
		first = first ? first : err;
		close_client(&c);
	}
	if (dir)
		closedir(dir);
	return first;
}

static int show_one(struct client *c, void *arg)
{
	const struct dp_tracer_options *opt = arg;

	show_modules(c, opt->verbose);
	return 0;
}

int dp_tracer_lsmod(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	struct client c;
	int err = 0;

	if (opt->pid)
		err = open_client(&c, opt->pid, opt->out, diag);
	if (err)
		return err;
	dp_output_print(opt->out, "PID     MODULE SIZE USED STATE%s\n",
			opt->verbose ? " FILE" : "");
	if (!opt->pid) {
		each(opt, show_one, (void *)opt);
		return 0;
	}
	err = show_modules(&c, opt->verbose);
	close_client(&c);
	return err ? dp_diag_set(diag, -EAGAIN,
				 "the modules of process %d cannot be read",
				 opt->pid) :
		     0;
}

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	stopped = 1;
}

int dp_tracer_dmesg(const struct dp_tracer_options *opt, struct dp_diag *diag)
{
	double end = dp_source_now() + opt->duration;
	struct client c;
	u64 next = 0;
	int err = open_client(&c, opt->pid, opt->out, diag);

	if (err)
		return err;
	GET(&c, next, &next);
	c.line = next > DP_SERVICE_LINES ? next - DP_SERVICE_LINES : 0;
	show_lines(&c);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	while (opt->watch && !stopped && !ferror(c.out) &&
	       (!opt->duration || dp_source_now() < end) &&
	       !GET(&c, next, &next)) {
		show_lines(&c);
		usleep(WATCH_US);
	}
	close_client(&c);
	return 0;
}

struct turning {
	enum dp_service_knob knob;
	int value; /* -1: only shown */
	const char *name;
	bool all;
	struct dp_diag *diag;
};

static int turn_one(struct client *c, void *arg)
{
	const struct turning *t = arg;
	char text[32];
	u32 knobs[DP_KNOBS];
	int err = 0;

	snprintf(text, sizeof(text), "%d %d", t->knob, t->value);
	if (t->value >= 0)
		err = ask(c, DP_SERVICE_TURN, text, t->diag);
	if (!err && GET(c, knobs, &knobs))
		err = has_gone(c, t->diag);
	/* Among all processes, a process that has ended is skipped. */
	if (err)
		return t->all && err == -ESRCH ? 0 : err;
	if (t->all)
		dp_output_print(c->out, "%d ", c->pid);
	if (*t->name)
		dp_output_print(c->out, "%s = ", t->name);
	dp_output_print(c->out, "%u\n", knobs[t->knob] != 0);
	return 0;
}

int dp_tracer_knob(const struct dp_tracer_options *opt, bool optimization,
		   int value, const char *name, struct dp_diag *diag)
{
	struct turning t = { .knob = optimization ? DP_KNOB_OPTIMIZATION :
						    DP_KNOB_ENABLED,
			     .value = value,
			     .name = name,
			     .all = !opt->pid,
			     .diag = diag };
	struct client c;
	int err;

	if (!opt->pid)
		return each(opt, turn_one, &t);
	err = open_client(&c, opt->pid, opt->out, diag);
	if (err)
		return err;
	err = turn_one(&c, &t);
	close_client(&c);
	return err;
}
