// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * client: whoever has probes in the kernel, from its begin to its end, and its commits.
 *
 *     what came ─► instances, copies ─► armed ┬─ nothing goes, no variables are shared ─► on
 *                                             └─ waits ─► all CPUs are stopped: the ones are on, the others off ─► …
 *     what goes ─► off ─► bytes restored ─► no CPU is in a hit (RCU) ─► records, numbers and programs are let go
 *
 * Probes on returns are on, or off, at the same moment; calls that have begun go on to their returns as they are.
 *
 * Lock: dp_kmod's.
 */
#include "kmod/client.h"
#include "engine/layout/instance.h"
#include "engine/site/arm.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/enable.h"
#include "engine/site/exchange.h"
#include "engine/site/live.h"
#include "engine/site/program.h"
#include "kmod/later.h"
#include "kmod/mapped.h"
#include "kmod/returns.h"
#include "kmod/safe.h"
#include "kmod/shared.h"
#include "kmod/tables.h"
#include "kmod/tasks.h"
#include "port/kernel/text.h"
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <asm/barrier.h>
#include <asm/processor.h>

/** struct list - numbers of probes */
struct list {
	u32 v[DP_KMOD_PROBES], n;
};

/* Of the commit that is carried out, with the lock held: what comes, and of that what is there; what goes, and of that
 * what is on; what is turned on and off; what stays and has to look at variables that others come to share */
static struct list come, there, go, leaves, on, off, stay;

static void put(struct list *l, u32 probe)
{
	l->v[l->n++] = probe;
}

int dp_client_begin(struct dp_client *c, enum dp_kmod_arming arming, u32 most)
{
	int err = 0;

	dp_kmod_lock_for(arming);
	if (c->begun || (dp_kmod.engine && arming != dp_kmod.arming))
		err = -EBUSY;
	if (!err && !dp_kmod.engine)
		err = dp_kmod_make(arming);
	if (!err) {
		if (!dp_kmod.clients)
			dp_engine_set_native(dp_kmod.engine, true, 0);
		if (!dp_kmod.clients)
			dp_kmod.interpret = 0;
		dp_kmod.clients++;
		c->begun = true;
		c->most = most;
		c->within = dp_engine_of_children(dp_kmod.engine);
		c->arrivals = dp_engine_interior_arrivals(dp_kmod.engine);
	}
	mutex_unlock(&dp_kmod.lock);
	return err;
}

static int interpret(const struct dp_client *c, u32 from)
{
	if (from == dp_kmod.interpret)
		return 0;
	if (!c->begun || dp_kmod.programs)
		return -EBUSY;
	dp_engine_set_native(dp_kmod.engine, from != 1, from);
	dp_kmod.interpret = from;
	return 0;
}

int dp_client_interpret(struct dp_client *c, u32 from)
{
	return DP_KMOD_ASK(-ENOENT, interpret(c, from));
}

/* --- a commit --- */

static void sort(u32 probe, const struct dp_kmod_probe *p)
{
	bool is_there = p->state == DP_KMOD_THERE;

	if (p->goes)
		put(&go, probe);
	else if (!p->armed)
		put(&come, probe);
	else if (p->on != p->was && is_there)
		put(p->on ? &on : &off, probe);
	if (!p->goes && !p->armed && is_there)
		put(&there, probe);
}

static bool is_own(const struct dp_client *c, u32 probe)
{
	return dp_kmod.probes[probe].used && dp_kmod.probes[probe].client == c;
}

static void sort_all(const struct dp_client *c)
{
	u32 i;

	come.n = there.n = go.n = on.n = off.n = stay.n = 0;
	for (i = 0; i < DP_KMOD_PROBES; i++)
		if (is_own(c, i))
			sort(i, &dp_kmod.probes[i]);
}

static int enable(const struct list *l, bool is_on)
{
	return l->n ? dp_live_enable(dp_kmod.engine, dp_kernel_text(), l->v,
				     l->n, is_on) :
		      0;
}

/* Of those that are armed now: others have no bytes. */
static void find_live(struct list *l, const struct list *from)
{
	const struct dp_kmod_probe *p;
	u32 i;

	l->n = 0;
	for (i = 0; i < from->n; i++) {
		p = &dp_kmod.probes[from->v[i]];
		if (p->armed && p->was && p->state == DP_KMOD_THERE)
			put(l, from->v[i]);
	}
}

/* Of programs whose variables a program that comes is to share */
static void find_stay(const struct dp_client *c)
{
	DECLARE_BITMAP(shared, DP_KMOD_PROGRAMS) = { 0 };
	const struct dp_kmod_probe *p;
	u32 i, from;

	for_each_set_bit(i, c->fresh, DP_KMOD_PROGRAMS)
	{
		from = dp_engine_program(dp_kmod.engine, i).shares;
		if (from)
			set_bit(from - 1, shared);
	}
	for (i = 0; i < DP_KMOD_PROBES; i++) {
		p = &dp_kmod.probes[i];
		if (is_own(c, i) && p->armed && p->was && !p->goes &&
		    p->state == DP_KMOD_THERE && p->program &&
		    test_bit(p->program - 1, shared))
			put(&stay, i);
	}
}

/* Each CPU comes here; the last one that goes on sees what the first one has done. */
struct moment {
	atomic_t cpus;
	bool done;
};

static int change_places(void *arg)
{
	struct moment *m = arg;

	if (atomic_inc_return(&m->cpus) == 1) {
		dp_exchange_join(dp_kmod.engine);
		dp_exchange_swap(dp_kmod.engine, there.v, there.n, leaves.v,
				 leaves.n);
		smp_store_release(&m->done, true);
	}
	while (!smp_load_acquire(&m->done))
		cpu_relax();
	return 0;
}

/* Hits have preemption off, so a CPU that has stopped is in none. What a detour counts by itself is left to tasks that
 * were preempted there. */
static int meet_moment(void)
{
	struct moment m = { .cpus = ATOMIC_INIT(0) };
	int err;

	if (dp_exchange_joins(dp_kmod.engine))
		dp_tasks_wait();
	dp_safe_hold();
	err = dp_safe_stop(change_places, &m);
	dp_safe_release();
	return err;
}

static void begin_exchange(void)
{
	u32 i;

	dp_exchange_begin(dp_kmod.engine);
	for (i = 0; i < go.n; i++)
		if (dp_kmod.probes[go.v[i]].program)
			dp_exchange_program(dp_kmod.engine,
					    dp_kmod.probes[go.v[i]].program -
						    1);
}

/* Detours that are about to change call out first; those that came wait. */
static int exchange(void)
{
	return enable(&leaves, true) ?: enable(&stay, true) ?: meet_moment();
}

static void want_all(bool is_on, bool waits)
{
	u32 i;

	for (i = 0; i < come.n; i++)
		dp_live_want(dp_kmod.engine, come.v[i],
			     is_on && dp_kmod.probes[come.v[i]].on,
			     waits && dp_kmod.probes[come.v[i]].state ==
					      DP_KMOD_THERE);
}

static void note_all(bool is_armed)
{
	struct dp_kmod_probe *p;
	u32 i;

	for (i = 0; i < come.n; i++) {
		p = &dp_kmod.probes[come.v[i]];
		p->armed = is_armed;
		p->was = is_armed && p->on;
		p->plan = NULL;
	}
}

/* @exchanges: what came waits. */
static int arm(const struct dp_client *c, bool exchanges, u64 *bad)
{
	int err = dp_returns_make(come.v, come.n, c->most, bad);
	u32 which = 0;

	if (err)
		return err;
	want_all(true, exchanges);
	err = dp_live_plan(dp_kmod.engine, come.v, come.n);
	if (!err && there.n)
		err = dp_live_commit(dp_kmod.engine, dp_kernel_text(), there.v,
				     there.n, &which);
	if (err && there.n)
		*bad = dp_kmod.probes[there.v[which]].addr;
	if (err)
		return err;
	note_all(true);
	return 0;
}

/* Those that are turned on */
static void note_on(bool is_on)
{
	u32 i;

	for (i = 0; i < on.n; i++)
		dp_kmod.probes[on.v[i]].was = is_on;
}

/* What came is armed, and what was turned on is about to be. */
static int enter_files(const struct dp_client *c)
{
	note_on(true);
	return come.n || on.n ?
		       dp_mapped_apply(c, dp_kmod.knobs[DP_KMOD_ARMED]) :
		       0;
}

static int drop(const struct list *l)
{
	u32 i;

	for (i = 0; i < l->n; i++)
		dp_kmod.probes[l->v[i]].was = false;
	dp_mapped_apply(NULL, dp_kmod.knobs[DP_KMOD_ARMED]);
	dp_returns_silence(l->v, l->n);
	/* Where others have written over one its bytes stay until dp_later_restore() succeeds; it calls nothing. */
	return l->n ? dp_kmod_remove(l->v, l->n) : 0;
}

/* What came since the last commit is gone, also if it was to go with the next one, and nothing else is asked for. */
static void undo(struct dp_client *c)
{
	struct dp_kmod_probe *p;
	u32 i;

	note_all(false);
	come.n = 0;
	for (i = 0; i < DP_KMOD_PROBES; i++) {
		p = &dp_kmod.probes[i];
		if (!is_own(c, i))
			continue;
		if (!p->armed)
			put(&come, i);
		p->on = p->was;
		p->goes = false;
	}
	drop(&come);
	dp_kmod_forget_programs(c, false, true);
	dp_kmod_set_watches();
}

/* From here on programs go with their last probes, also with those that go now. */
static void note_committed(struct dp_client *c)
{
	struct dp_kmod_probe *p;
	u32 i;

	for (i = 0; i < DP_KMOD_PROBES; i++) {
		p = &dp_kmod.probes[i];
		if (!is_own(c, i))
			continue;
		if (p->armed && !p->goes)
			p->was = p->on;
		if (p->program)
			set_bit(p->program - 1, c->bound);
	}
	bitmap_zero(c->fresh, DP_KMOD_PROGRAMS);
}

/* Absent ones are as they are wanted when they come. */
static void finish(struct dp_client *c)
{
	note_committed(c);
	drop(&go);
	dp_kmod_forget_programs(c, false, false);
	dp_kmod_set_watches();
}

/* Some may have been written: all as they were. */
static void turn_back(void)
{
	note_on(false);
	enable(&leaves, true);
	enable(&stay, true);
	enable(&off, true);
	enable(&on, false);
}

static int change(struct dp_client *c, u64 *bad)
{
	bool exchanges;
	int err;

	find_live(&leaves, &go);
	find_stay(c);
	exchanges = come.n && (leaves.n || stay.n);
	if (exchanges)
		begin_exchange();
	err = come.n ? arm(c, exchanges, bad) : 0;
	err = err ?: enable(&on, true) ?: enter_files(c) ?: enable(&off, false);
	if (!err)
		err = exchanges ? exchange() : enable(&leaves, false);
	if (exchanges)
		dp_exchange_end(dp_kmod.engine);
	if (err)
		turn_back();
	return err;
}

/* Detours that called out meanwhile run their programs again. */
static void resume(void)
{
	find_live(&leaves, &there);
	enable(&leaves, true);
	enable(&stay, true);
}

static int commit(struct dp_client *c, u64 *bad)
{
	int err;

	if (!c->begun)
		return -ENOENT;
	dp_kmod_over();
	sort_all(c);
	err = change(c, bad);
	if (err) {
		*bad = dp_kmod_over() ?: *bad;
		undo(c);
		return err;
	}
	if (come.n && (leaves.n || stay.n))
		resume();
	finish(c);
	return 0;
}

int dp_client_commit(struct dp_client *c, u64 *bad)
{
	*bad = 0;
	return DP_KMOD_ASK(-ENOENT, commit(c, bad));
}

/* What they would be, they are for a moment, in which no byte is written. */
static int plan(struct dp_client *c)
{
	struct dp_kmod_probe *p;
	int err, later;
	u32 i;

	sort_all(c);
	want_all(true, false);
	err = dp_live_plan(dp_kmod.engine, come.v, come.n) ?:
		      dp_live_choose(dp_kmod.engine);
	for (i = 0; i < come.n; i++) {
		p = &dp_kmod.probes[come.v[i]];
		p->plan = err ? NULL :
				dp_engine_mode(dp_kmod.engine, come.v[i]);
		p->plan_reason =
			err ? NULL :
			      dp_engine_reason(dp_kmod.engine, come.v[i]);
	}
	want_all(false, false);
	later = dp_live_choose(dp_kmod.engine);
	return err ?: later;
}

int dp_client_plan(struct dp_client *c)
{
	return DP_KMOD_ASK(-ENOENT, c->begun ? plan(c) : -ENOENT);
}

void dp_client_undo(struct dp_client *c)
{
	mutex_lock(&dp_kmod.lock);
	if (c->begun) {
		sort_all(c);
		undo(c);
	}
	mutex_unlock(&dp_kmod.lock);
}

/* --- the end --- */

/* Others may have written over a probe: then the client stays as it is, unless others have probes. */
static int turn_off(const struct list *l)
{
	u64 bad = 0;
	u32 i;

	if (dp_kmod.handlers || dp_kmod.clients > 1)
		return 0;
	for (i = 0; i < l->n; i++)
		if (dp_kmod.probes[l->v[i]].state == DP_KMOD_THERE)
			dp_engine_turn(dp_kmod.engine, l->v[i], false);
	return dp_engine_apply(dp_kmod.engine, dp_kernel_text(), &bad);
}

/* Calls that are inside return without a program from here on. */
static int end(struct dp_client *c, bool *idle)
{
	int err;
	u32 i;

	*idle = false;
	if (!c->begun)
		return -ENOENT;
	go.n = 0;
	for (i = 0; i < DP_KMOD_PROBES; i++)
		if (is_own(c, i))
			put(&go, i);
	err = turn_off(&go) ?: drop(&go);
	if (err)
		return err;
	dp_kmod_forget_programs(c, true, false);
	dp_tables_forget(c);
	c->begun = false;
	dp_kmod.clients--;
	*idle = dp_kmod_is_unused();
	return 0;
}

int dp_client_end(struct dp_client *c)
{
	bool idle;
	int err;

	mutex_lock(&dp_kmod.lock);
	err = end(c, &idle);
	mutex_unlock(&dp_kmod.lock);
	/* A task may be in a copy for long. No lock is held meanwhile. */
	if (idle)
		dp_later_end(0);
	return err;
}
