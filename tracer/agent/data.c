// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * data: probes on data, whose traps the kernel raises, and whose programs the agent runs.
 *
 *     store ─► debug trap in the kernel ─► count of the event
 *                                     └──► SIGTRAP ─► the agent: dp_trap_watched()
 *
 * The events are there only while the agent is: they are opened behind it, and stop before it
 * goes. They end with the tool, and at an exec. So no thread gets such a signal without the
 * agent's handler. The kernel counts each access; an access whose program has not run is missed.
 */
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "proc/facts.h"
#include "proc/proc.h"
#include "tracer/agent/agent.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <sys/random.h>

static int too_many(const struct dp_point *p, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -ENOSPC,
		"%s is watchpoint number %d, and a thread has %d debug registers: leave out what matters least",
		p->name, DP_WATCHPOINTS + 1, DP_WATCHPOINTS);
}

/* Traps of other events, which the program itself may have, do not bear it. */
static int choose_number(struct dp_agent *a)
{
	u32 number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	dp_engine_set_watch_number(a->engine, number | 1);
	return 0;
}

int dp_agent_add_data(struct dp_agent *a, struct dp_point *p,
		      struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	u8 watch = p->spec->access == DP_WATCH_WRITE ? DP_SITE_WRITTEN :
						       DP_SITE_ACCESSED;
	const char *why = dp_process_permits(a->proc).no_traps;

	if (why)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s cannot be watched by a program, for its traps are signals, which the process cannot have: %s; dprobes trace needs none",
			p->name, why);
	if (d->n == DP_WATCHPOINTS)
		return too_many(p, diag);
	if ((!d->n && choose_number(a)) ||
	    dp_engine_add_watch(a->engine, p->addr, p->len, watch, &p->probe))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	d->probe[d->n] = p->probe;
	d->v[d->n++] = (struct dp_watchpoint){ .addr = p->addr,
					       .len = p->len,
					       .access = p->spec->access,
					       .name = p->name };
	return 0;
}

static void begin_values(struct dp_agent *a)
{
	const struct dp_agent_data *d = &a->data;
	size_t i;
	u64 now;

	for (i = 0; i < d->n; i++) {
		now = 0;
		dp_process_read(a->proc, d->v[i].addr, &now, d->v[i].len);
		dp_engine_watch_begin(a->engine, d->probe[i], now);
	}
}

/* Events that were opened behind an exec would be of a program without an agent. An exec that
 * comes later takes them. */
static int open_events(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	int err = dp_watch_events_open(&d->armed.events, a->source.pid, d->v,
				       d->n, NULL, diag);

	if (err && !dp_process_ended(a->proc))
		return err;
	if (dp_process_ended(a->proc) || dp_process_replaced(a->proc)) {
		dp_watch_events_close(&d->armed.events);
		return 0;
	}
	begin_values(a);
	dp_watch_cost_begin(&d->cost, dp_source_now());
	dp_watch_events_switch(&d->armed.events, true);
	return 0;
}

static int open_registers(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	int err;

	begin_values(a);
	dp_watch_cost_begin(&d->cost, dp_source_now());
	err = dp_watch_registers_open(&d->armed.registers, a->proc, d->v, d->n,
				      NULL, diag);
	if (err)
		dp_watch_registers_end(d->armed.registers);
	return err;
}

int dp_agent_data_begin(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	enum dp_watch_way way;
	size_t i;
	int err = dp_watch_way_read(&way, diag);

	if (err || !d->n || dp_process_ended(a->proc))
		return d->n ? err : 0;
	for (i = 0; i < d->n; i++)
		d->v[i].tag = dp_engine_watch_tag(a->engine, d->probe[i]);
	if (way == DP_WATCH_REGISTERS)
		return open_registers(a, diag);
	err = open_events(a, diag);
	if (way == DP_WATCH_EVENTS || !dp_watch_events_denied(err))
		return err;
	dp_diag_clear(diag);
	return open_registers(a, diag);
}

bool dp_agent_data_wait(struct dp_agent *a, int ms)
{
	struct dp_watch_registers *r = a->data.armed.registers;

	return !r || dp_watch_registers_wait(r, ms);
}

void dp_agent_data_tend(struct dp_agent *a, double t)
{
	struct dp_agent_data *d = &a->data;

	if (d->armed.events.n || d->armed.registers)
		dp_watch_cost_look(&d->cost, &d->armed, (u32)d->n, t, true,
				   " without its program");
}

void dp_agent_data_end(struct dp_agent *a)
{
	dp_watch_events_switch(&a->data.armed.events, false);
	dp_watch_registers_end(a->data.armed.registers);
}

void dp_agent_data_tell(const struct dp_agent *a)
{
	const struct dp_agent_data *d = &a->data;
	u64 all, run;
	u32 i;

	dp_watch_bare_tell(&d->armed);
	for (i = 0; i < d->n; i++) {
		all = dp_watch_armed_count(&d->armed, i);
		run = dp_engine_hits(a->engine, d->probe[i]);
		if (run < all)
			dp_output_say(
				"%s: %lu of its hits have not run the program: one instruction hit several watchpoints, SIGTRAP was blocked in the kernel, or a debugger has taken it",
				d->v[i].name, all - run);
	}
}

void dp_agent_data_close(struct dp_agent *a)
{
	dp_watch_events_close(&a->data.armed.events);
	dp_watch_registers_close(a->data.armed.registers);
}

void dp_agent_data_count(const struct dp_agent *a, u32 probe,
			 struct dp_source_count *count)
{
	const struct dp_agent_data *d = &a->data;
	u64 all;
	u32 i;

	for (i = 0; i < d->n; i++) {
		if (d->probe[i] != probe)
			continue;
		all = dp_watch_armed_count(&d->armed, i);
		if (all <= count->hits)
			continue;
		count->missed += all - count->hits;
		count->hits = all;
	}
}
