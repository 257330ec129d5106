// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ask: have the tool that probes a process do something, by the protocol of tracer/order.h. */
#include "tracer/module/ask.h"
#include "proc/attach_other.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "tracer/order.h"
#include "tracer/output.h"
#include "tracer/source.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define NAP_US 2000
/* How long a tool may take to begin with an order, and to carry it out. */
#define TAKE_SECONDS 0.25
#define DONE_SECONDS 10

/** struct asker - @proc: the tool, whose struct dp_orders is at @addr */
struct asker {
	const struct dp_ask *ask;
	struct dp_process *proc;
	u64 addr;
};

#define AT(a, field) ((a)->addr + offsetof(struct dp_orders, field))
#define GET(a, field, to) \
	dp_process_read((a)->proc, AT(a, field), to, sizeof(*(to)))
#define PUT(a, field, from) \
	dp_process_write((a)->proc, AT(a, field), from, sizeof(*(from)))

int dp_ask_gone(pid_t tool, pid_t pid, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -ESRCH,
		"the dprobes that probed %s (process %d) has ended; its probes count nothing more",
		dp_order_place((u32)pid).s, tool);
}

static int has_gone(const struct asker *a, struct dp_diag *diag)
{
	return dp_ask_gone(a->ask->tool, a->ask->pid, diag);
}

/* Wait until the order has left state @state. Return: 0; -EAGAIN; -ESRCH. */
static int wait_while(const struct asker *a, u64 state, double seconds,
		      u64 *now)
{
	double deadline = dp_source_now() + seconds;

	do {
		if (GET(a, state, now))
			return -ESRCH;
		if (*now != state)
			return 0;
		usleep(NAP_US);
	} while (dp_source_now() < deadline);
	return -EAGAIN;
}

static int no_answer(const struct asker *a, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EAGAIN,
		"the dprobes that probes %s (process %d) does not answer, and nothing has changed; try again",
		dp_order_place((u32)a->ask->pid).s, a->ask->tool);
}

/* An asker that has died may have left an order. */
static int wait_idle(const struct asker *a, u64 *state, struct dp_diag *diag)
{
	int err = GET(a, state, state) ? -ESRCH : 0;

	while (!err &&
	       ((u32)*state == DP_ORDER_ASKED || (u32)*state == DP_ORDER_TAKEN))
		err = wait_while(a, *state, TAKE_SECONDS, state);
	if (err == -ESRCH)
		return has_gone(a, diag);
	return err ? no_answer(a, diag) : 0;
}

static int put_order(const struct asker *a, u64 number)
{
	u64 state = number << 32 | DP_ORDER_IDLE;
	const struct dp_ask *ask = a->ask;
	u32 pid = (u32)ask->pid;

	/* Of the last write only one byte differs. */
	if (PUT(a, state, &state) || PUT(a, verb, &ask->verb) ||
	    PUT(a, how, &ask->how) || PUT(a, pid, &pid) ||
	    PUT(a, nr, &ask->nr) ||
	    (ask->len &&
	     dp_process_write(a->proc, AT(a, points), ask->body, ask->len)))
		return -ESRCH;
	state = number << 32 | DP_ORDER_ASKED;
	return PUT(a, state, &state);
}

/* The tool is not believed in how much it says. */
static int take_reply(const struct asker *a, char **reply)
{
	u32 n;

	if (GET(a, replied, &n) || n > DP_ORDER_TEXT)
		return -ESRCH;
	*reply = calloc(1, n + 1);
	if (!*reply)
		return -ENOMEM;
	return n && dp_process_read(a->proc, AT(a, text), *reply, n) ? -ESRCH :
								       0;
}

/* The tool may end by what it was asked for: it waits until this has been read. */
static int answer(const struct asker *a, u64 number, struct dp_diag *diag)
{
	u64 state = number << 32 | DP_ORDER_IDLE;
	struct dp_diag theirs;
	s32 err;

	if (GET(a, err, &err) || GET(a, diag, &theirs) ||
	    (a->ask->reply && take_reply(a, a->ask->reply)))
		return has_gone(a, diag);
	(void)PUT(a, state, &state);
	return err ? dp_output_quote(diag, err, &theirs) : 0;
}

/* Return: 0: the order is taken. */
static int wait_taken(const struct asker *a, u64 number, u64 *state,
		      struct dp_diag *diag)
{
	u64 asked = number << 32 | DP_ORDER_ASKED;
	int err = wait_while(a, asked, TAKE_SECONDS, state);

	if (err != -EAGAIN)
		return err ? has_gone(a, diag) : 0;
	if (PUT(a, withdrawn, &number) || GET(a, state, state))
		return has_gone(a, diag);
	return *state == asked ? no_answer(a, diag) : 0;
}

static int ask(const struct asker *a, struct dp_diag *diag)
{
	u64 state, number;
	int err = wait_idle(a, &state, diag);

	if (err)
		return err;
	number = (u32)((state >> 32) + 1);
	if (put_order(a, number))
		return has_gone(a, diag);
	err = wait_taken(a, number, &state, diag);
	if (!err && (u32)state == DP_ORDER_TAKEN)
		err = wait_while(a, state, DONE_SECONDS, &state);
	if (err == -EAGAIN && (u32)state == DP_ORDER_TAKEN)
		return dp_diag_set(
			diag, err,
			"process %d has begun to change its probes and goes on; dprobes list -p %d will show what came of it",
			a->ask->tool, a->ask->pid);
	if (err)
		return err == -ESRCH ? has_gone(a, diag) : err;
	return answer(a, number, diag);
}

static int check_tool(struct asker *a, struct dp_diag *diag)
{
	u64 magic = 0;
	u32 version = 0;

	a->addr = dp_mapping_named(a->ask->tool, DP_ORDER_PATH);
	if (a->addr)
		GET(a, magic, &magic);
	if (magic == DP_ORDER_MAGIC)
		GET(a, version, &version);
	if (version == DP_ORDER_VERSION)
		return 0;
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"what probes %s (process %d) takes no orders: it is no dprobes command, another version, or in another pid namespace",
		dp_order_place((u32)a->ask->pid).s, a->ask->tool);
}

/* One asker at a time. */
static int ask_tool(struct asker *a, struct dp_diag *diag)
{
	int err = dp_process_open(a->ask->tool, &a->proc, diag);

	if (err == -ESRCH)
		return has_gone(a, diag);
	if (err == -EPERM)
		return dp_diag_set(
			diag, err,
			"%s is probed by process %d, which obeys only those who may trace that process, too",
			dp_order_place((u32)a->ask->pid).s, a->ask->tool);
	if (err)
		return err;
	err = check_tool(a, diag);
	if (!err)
		err = dp_process_lock(a->proc, DP_LOCK_ORDER, diag);
	if (!err)
		err = ask(a, diag);
	dp_process_close(a->proc);
	return err;
}

int dp_ask(const struct dp_ask *ask, struct dp_diag *diag)
{
	struct asker a = { .ask = ask };

	return ask_tool(&a, diag);
}
