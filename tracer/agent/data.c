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
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* A thread leaves the agent within microseconds, if it runs. */
#define TRIES 200
#define NAP_US 500

static int too_many(const struct dp_point *p, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -ENOSPC,
		"%s is watchpoint number %d, and a thread has %d debug registers: leave out what matters least",
		p->name, DP_WATCHPOINTS + 1, DP_WATCHPOINTS);
}

static size_t leaving(const struct dp_agent_data *d)
{
	size_t i, n = 0;

	for (i = 0; i < d->first; i++)
		n += d->go[i];
	return n;
}

/* Traps of other events, which the program itself may have, do not bear it. */
static int choose_number(struct dp_agent *a)
{
	u32 number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	dp_engine_set_watch_number(a->engine, number | 1);
	a->data.numbered = true;
	return 0;
}

static int may_watch(const struct dp_agent *a, const struct dp_point *p,
		     struct dp_diag *diag)
{
	const char *why = dp_process_permits(a->proc).no_traps;

	if (why)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s cannot be watched by a program, for its traps are signals, which the process cannot have: %s; dprobes trace needs none",
			p->name, why);
	return a->data.n - leaving(&a->data) == DP_WATCHPOINTS ?
		       too_many(p, diag) :
		       0;
}

static int add(struct dp_agent *a, struct dp_point *p, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	u8 watch = p->spec->access == DP_WATCH_WRITE ? DP_SITE_WRITTEN :
						       DP_SITE_ACCESSED;
	int err = may_watch(a, p, diag);

	if (err)
		return err;
	if ((!a->data.numbered && !dp_process_engine(a->proc) &&
	     choose_number(a)) ||
	    dp_engine_add_watch(a->engine, p->addr, p->len, watch, &p->probe))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	d->probe[d->n] = p->probe;
	d->v[d->n++] = (struct dp_watchpoint){ .addr = p->addr,
					       .len = p->len,
					       .access = p->spec->access,
					       .name = p->name };
	return 0;
}

bool dp_agent_data_alone(const struct dp_agent *a, const struct dp_point *p,
			 int err)
{
	return err && err != -ENOMEM && err != -ESRCH && err != -EAGAIN &&
	       p->several && !leaving(&a->data);
}

int dp_agent_add_data(struct dp_agent *a, struct dp_point *p,
		      struct dp_diag *diag)
{
	int err = add(a, p, diag);

	if (!dp_agent_data_alone(a, p, err))
		return err;
	dp_point_refuse(p, err, "%.150s", diag->text);
	dp_diag_clear(diag);
	return 0;
}

static void begin_values(struct dp_agent *a, size_t first)
{
	const struct dp_agent_data *d = &a->data;
	size_t i;
	u64 now;

	for (i = first; i < d->n; i++) {
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
	begin_values(a, 0);
	dp_watch_cost_begin(&d->cost, dp_source_now());
	dp_watch_events_switch(&d->armed.events, true);
	return 0;
}

static void end_registers(struct dp_agent_data *d)
{
	dp_watch_registers_end(d->armed.registers);
	dp_watch_registers_close(d->armed.registers);
	d->armed.registers = NULL;
}

static int open_registers(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	int err;

	begin_values(a, 0);
	dp_watch_cost_begin(&d->cost, dp_source_now());
	err = dp_watch_registers_open(&d->armed.registers, a->proc, d->v, d->n,
				      NULL, diag);
	if (err)
		end_registers(d);
	return err;
}

/* By events, or by ptrace(2) where these are denied, and none is open already. */
static int open_either(struct dp_agent *a, enum dp_watch_way way,
		       int (*by_events)(struct dp_agent *a,
					struct dp_diag *diag),
		       struct dp_diag *diag)
{
	int err;

	if (way == DP_WATCH_REGISTERS)
		return open_registers(a, diag);
	err = by_events(a, diag);
	if (a->data.first || way == DP_WATCH_EVENTS ||
	    !dp_watch_events_denied(err))
		return err;
	dp_diag_clear(diag);
	return open_registers(a, diag);
}

int dp_agent_data_begin(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	enum dp_watch_way way;
	size_t i;
	int err = dp_watch_way_read(&way, diag);

	d->left = d->numbered;
	if (err || !d->n || dp_process_ended(a->proc)) {
		d->first = d->n;
		return d->n ? err : 0;
	}
	for (i = 0; i < d->n; i++)
		d->v[i].tag = dp_engine_watch_tag(a->engine, d->probe[i]);
	do
		err = d->n ? open_either(a, way, open_events, diag) : 0;
	while (dp_agent_data_lack(a, err, diag));
	d->first = d->n;
	return err;
}

int dp_agent_data_room(const struct dp_agent *a,
		       const struct dp_source_request *want, size_t first,
		       struct dp_diag *diag)
{
	const struct dp_points *p = want->points;
	size_t i, n = a->data.n - leaving(&a->data);

	for (i = first; i < p->n; i++) {
		if (p->v[i].refused || p->v[i].spec->kind != DP_SPEC_WATCH)
			continue;
		if (n < DP_WATCHPOINTS)
			n++;
		else if (!dp_agent_data_alone(a, &p->v[i], -ENOSPC))
			return too_many(&p->v[i], diag);
	}
	return 0;
}

/* Once the number is there, programs run on their threads' own stacks. One that began before is on a stack
 * of the agent's own, where no signal frame may come. Its access must not trap, so it has to end first. */
static int number(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_seen seen = { 0 };
	int tries, err = a->data.numbered ? 0 : choose_number(a);

	if (!err && !a->data.left)
		err = -EAGAIN;
	for (tries = 0; err == -EAGAIN && tries < TRIES; tries++) {
		err = dp_process_left(a->proc, &seen);
		if (err == -EAGAIN)
			usleep(NAP_US);
	}
	free(seen.v);
	a->data.left |= !err;
	return err ? dp_diag_set(
			     diag, err,
			     "a thread of process %d is always inside a probe; try again",
			     a->source.pid) :
		     0;
}

/* Where another tool has a register that is not to go, those that go have to make room, too. */
static int or_swap(struct dp_agent_data *d, int err, struct dp_diag *diag)
{
	if (err != -ENOSPC || !leaving(d))
		return err;
	if (diag)
		dp_diag_clear(diag);
	d->swap = true;
	return 0;
}

static int come_by_events(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;

	return dp_watch_events_open(&d->coming, a->source.pid, &d->v[d->first],
				    d->n - d->first, NULL, diag);
}

static int come(struct dp_agent *a, enum dp_watch_way way, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;

	if (d->first == d->n)
		return 0;
	d->swap = d->n > DP_WATCHPOINTS;
	if (d->swap)
		return 0;
	if (d->armed.registers)
		return or_swap(d,
			       dp_watch_registers_more(d->armed.registers, d->n,
						       diag),
			       diag);
	return or_swap(d, open_either(a, way, come_by_events, diag), diag);
}

int dp_agent_data_come(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	enum dp_watch_way way;
	size_t i;
	int err = d->first == d->n ? 0 : dp_watch_way_read(&way, diag);

	if (d->first == d->n || err)
		return err;
	err = number(a, diag);
	for (i = d->first; i < d->n; i++)
		d->v[i].tag = dp_engine_watch_tag(a->engine, d->probe[i]);
	if (err)
		return err;
	do
		err = come(a, way, diag);
	while (dp_agent_data_lack(a, err, diag));
	return err;
}

/* Its events have counted, and are closed. */
static void stop_events(struct dp_agent_data *d, u32 i)
{
	d->base[i] -= dp_watch_events_count(&d->armed.events, i);
	dp_watch_events_stop(&d->armed.events, i);
}

/* Only another tool, which has come meanwhile, can have the register. */
static void put_back(struct dp_agent *a, u32 i)
{
	struct dp_agent_data *d = &a->data;
	struct dp_watch_events back = { 0 };
	int err = dp_watch_events_open(&back, a->source.pid, &d->v[i], 1, NULL,
				       NULL);

	if (!err) {
		dp_watch_events_switch(&back, true);
		err = dp_watch_events_join(&d->armed.events, &back, i);
	}
	if (err)
		dp_output_say("%s is watched no more: %s", d->v[i].name,
			      strerror(-err));
}

static int swap_events(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	int err;
	u32 i;

	for (i = 0; i < d->first; i++)
		if (d->go[i])
			stop_events(d, i);
	err = come_by_events(a, diag);
	for (i = 0; i < d->first && err; i++)
		if (d->go[i])
			put_back(a, i);
	return err;
}

int dp_agent_data_swap(struct dp_agent *a, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;

	if (!d->swap)
		return 0;
	if (d->armed.registers)
		return dp_watch_registers_swap(d->armed.registers, d->go, d->n,
					       diag);
	return swap_events(a, diag);
}

void dp_agent_data_now(struct dp_agent *a)
{
	struct dp_agent_data *d = &a->data;
	size_t i;

	if (d->first == d->n)
		return;
	begin_values(a, d->first);
	if (!d->first)
		dp_watch_cost_begin(&d->cost, dp_source_now());
	for (i = d->first; i < d->n; i++)
		d->base[i] = d->armed.registers ?
				     dp_watch_armed_count(&d->armed, (u32)i) :
				     0;
	dp_watch_events_switch(&d->coming, true);
}

/* One whose register cannot be cleared now stays in the list: its probe is off. Another try comes with the next change. */
static void drop(struct dp_agent_data *d, u32 i)
{
	size_t k;
	int err = d->armed.registers ?
			  dp_watch_registers_drop(d->armed.registers, i) :
			  0;

	if (err && err != -ENOENT)
		return;
	dp_watch_events_drop(&d->armed.events, i);
	for (k = i; k + 1 < d->n; k++) {
		d->v[k] = d->v[k + 1];
		d->probe[k] = d->probe[k + 1];
		d->base[k] = d->base[k + 1];
	}
	d->n--;
}

void dp_agent_data_give_up(struct dp_agent *a)
{
	struct dp_agent_data *d = &a->data;
	u32 i = (u32)d->n;

	dp_watch_events_close(&d->coming);
	if (!d->first && d->armed.registers)
		end_registers(d);
	while (i-- > d->first)
		drop(d, i);
	memset(d->go, 0, sizeof(d->go));
	d->first = d->n;
	d->out = 0;
}

/* Which of them the choice of probes has as retired */
static void drop_retired(struct dp_agent *a)
{
	struct dp_agent_data *d = &a->data;
	u32 i = (u32)d->n;

	while (i--)
		if (d->probe[i] < a->off.n &&
		    a->off.v[d->probe[i]] == DP_OFF_RETIRED)
			drop(d, i);
}

void dp_agent_data_leave(struct dp_agent *a, const struct dp_points *points,
			 const bool *retire, size_t n)
{
	struct dp_agent_data *d = &a->data;
	size_t i, k;

	drop_retired(a);
	d->first = d->n;
	memset(d->go, 0, sizeof(d->go));
	for (i = 0; i < n; i++)
		for (k = 0; k < d->first && retire[i]; k++)
			d->go[k] |= d->probe[k] == points->v[i].probe;
}

void dp_agent_data_go(struct dp_agent *a)
{
	struct dp_agent_data *d = &a->data;

	if (dp_watch_events_join(&d->armed.events, &d->coming, (u32)d->first))
		dp_output_say("out of memory: watchpoints have gone");
	drop_retired(a);
	memset(d->go, 0, sizeof(d->go));
	d->first = d->n;
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
		all = dp_watch_armed_count(&d->armed, i) - d->base[i];
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
		all = dp_watch_armed_count(&d->armed, i) - d->base[i];
		if (all <= count->hits)
			continue;
		count->missed += all - count->hits;
		count->hits = all;
	}
}
