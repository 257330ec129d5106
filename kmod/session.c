// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * session: one engine on the kernel's text, from its first user to its last.
 *
 * Lock: dp_kmod's, which is held from dp_kmod_enter() to dp_kmod_leave().
 */
#include "kmod/shared.h"
#include "engine/layout/arena.h"
#include "engine/layout/instance.h"
#include "engine/plan/plan.h"
#include "engine/site/aggregate.h"
#include "engine/site/arm.h"
#include "engine/site/backtrace.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "kmod/arena.h"
#include "kmod/externals.h"
#include "kmod/later.h"
#include "kmod/pool.h"
#include "kmod/stacks.h"
#include "port.h"
#include "port/kernel/hit.h"
#include "port/kernel/readers.h"
#include "port/kernel/text.h"
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

/* Bytes of the code of all programs, and their variables */
#define CODE (128 << 10)
#define LOCALS 16384
/* CPUs that share counters and rings with no other; bytes of all rings */
#define SHARDS 16
#define RINGS (3u << 20)
/* Jiffies for which who has taken the last probe away waits until the engine has gone */
#define PATIENCE (2 * HZ)

struct dp_kmod dp_kmod = {
	.lock = __MUTEX_INITIALIZER(dp_kmod.lock),
	.knobs = { [DP_KMOD_ARMED] = true, [DP_KMOD_JUMPS] = true },
};

static u32 shards(void)
{
	return min_t(u32, roundup_pow_of_two(nr_cpu_ids), SHARDS);
}

static void prepare(enum dp_kmod_arming arming)
{
	static const struct dp_expected some = {
		.sites = DP_KMOD_PROBES,
		.probes = DP_KMOD_PROBES,
		.programs = DP_KMOD_PROGRAMS,
		.log = DP_KMOD_LOG + sizeof(struct dp_leaving),
		.heap = DP_KMOD_HEAP,
		.code = CODE,
		.locals = LOCALS,
		.tables = DP_AGGREGATE_TABLES
	};

	static const enum dp_arming how[] = {
		[DP_KMOD_TRAP] = DP_ARM_TRAP,
		[DP_KMOD_JUMP] = DP_ARM_QUIESCE,
		[DP_KMOD_INTERIOR] = DP_ARM_INTERIOR,
	};

	dp_kmod.arming = arming;
	dp_engine_set_arming(dp_kmod.engine, how[arming]);
	dp_engine_set_uncaught(dp_kmod.engine);
	dp_engine_set_percpu(dp_kmod.engine, dp_kernel_percpu());
	dp_engine_set_rings(dp_kmod.engine, RINGS / shards(), false);
	dp_engine_keep_stacks(dp_kmod.engine, DP_KMOD_STACKS);
	dp_engine_expect(dp_kmod.engine, &some);
}

static int build(void)
{
	static struct dp_growth_ops growth;
	const struct dp_layout_need *need =
		dp_engine_layout(dp_kmod.engine, shards());
	struct dp_mapping map = { .owner = 1, .tool = 1 };
	int err;

	if (need->arena_size > DP_KMOD_ARENA)
		return -ENOMEM;
	map.base = dp_kmod_arena_begin();
	map.file = (void *)map.base;
	map.entries.hit = (u64)dp_kernel_entry;
	map.entries.handler = (u64)dp_kernel_call_entry;
	map.near = true;
	growth = dp_kmod_pool_ops;
	growth.hold = dp_kmod_hold;
	err = dp_engine_build(dp_kmod.engine, &map, &growth, dp_kmod.engine);
	if (err)
		return err;
	dp_engine_arena(dp_kmod.engine)->control.externals =
		dp_externals_table();
	dp_live_set_knobs(dp_kmod.engine, dp_kmod.knobs[DP_KMOD_ARMED],
			  dp_kmod.knobs[DP_KMOD_JUMPS]);
	return 0;
}

int dp_kmod_make(enum dp_kmod_arming arming)
{
	int err = dp_engine_create(&dp_kmod.engine);

	if (err)
		return err;
	prepare(arming);
	err = build();
	if (!err)
		err = dp_kernel_trap_begin();
	if (!err) {
		/* The caller has a function of ours, so it cannot be going. */
		__module_get(THIS_MODULE);
		return 0;
	}
	dp_engine_destroy(dp_kmod.engine);
	dp_kmod.engine = NULL;
	return err;
}

bool dp_kmod_is_unused(void)
{
	return dp_kmod.engine && !dp_kmod.clients && !dp_kmod.handlers;
}

/* For those who wait, which look again */
bool dp_kmod_is_idle(void)
{
	return READ_ONCE(dp_kmod.engine) && !READ_ONCE(dp_kmod.clients) &&
	       !READ_ONCE(dp_kmod.handlers);
}

void dp_kmod_lock_for(enum dp_kmod_arming arming)
{
	mutex_lock(&dp_kmod.lock);
	if (dp_kmod_is_unused() && arming != dp_kmod.arming) {
		mutex_unlock(&dp_kmod.lock);
		dp_later_end(PATIENCE);
		mutex_lock(&dp_kmod.lock);
	}
	dp_kmod.uses++;
}

int dp_kmod_enter(bool makes)
{
	int err = 0;

	if (makes)
		dp_kmod_lock_for(DP_KMOD_JUMP);
	else
		mutex_lock(&dp_kmod.lock);
	if (!dp_kmod.engine)
		err = makes ? dp_kmod_make(DP_KMOD_JUMP) : -ENOENT;
	if (err)
		mutex_unlock(&dp_kmod.lock);
	return err;
}

struct dp_engine *dp_kmod_engine(void)
{
	return dp_kmod.engine;
}

int dp_kmod_disarm_idle(u64 *use)
{
	u64 bad = 0;
	int err = -ENOENT;

	mutex_lock(&dp_kmod.lock);
	*use = dp_kmod.uses;
	if (dp_kmod_is_unused())
		err = dp_engine_apply(dp_kmod.engine, dp_kernel_text(), &bad);
	mutex_unlock(&dp_kmod.lock);
	return err;
}

/*
 * A thread may be on its way: a trap has been raised, or it was preempted in a detour or copy. Traps
 * and detours are left when every CPU has scheduled, copies when each task has, by itself.
 */
void dp_kmod_free_idle(u64 use)
{
	bool goes;

	mutex_lock(&dp_kmod.lock);
	goes = dp_kmod_is_unused() && use == dp_kmod.uses;
	if (goes) {
		dp_kernel_trap_end();
		dp_engine_destroy(dp_kmod.engine);
		dp_kmod.engine = NULL;
		dp_kmod_pool_reset();
	}
	mutex_unlock(&dp_kmod.lock);
	/* Who takes this module out waits for this function: dp_later_stop(). */
	if (goes)
		module_put(THIS_MODULE);
}

void dp_kmod_leave(void)
{
	bool idle = dp_kmod_is_unused();

	mutex_unlock(&dp_kmod.lock);
	if (idle)
		dp_later_end(PATIENCE);
}
