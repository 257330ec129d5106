// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * engine: make the engine, at the first probe of a process.
 *
 * A helper stops all threads for a moment, maps the agent, and intercepts libc's system
 * calls for signals. Afterwards the process needs no helper.
 */
#include "lib/self.h"
#include "lib/chart.h"
#include "lib/frames.h"
#include "lib/modules.h"
#include "agent/image.h"
#include "lib/helper/helper.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/text/target.h"
#include "proc/attach_other.h"
#include "proc/facts.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <sys/auxv.h>

/* Free parts of charts that are looked at */
#define CHART_HOLES (2 * DP_MAX_POOLS)

static s32 from_thread_pointer(const void *variable)
{
	u64 pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return (s32)((s64)((u64)variable - pointer));
}

/* Fill in what only the process itself knows. */
static void set_up(struct dp_arena *arena)
{
	struct dp_arena_control *c = &arena->control;

	c->stack_size = sizeof(struct dp_stack);
	c->self_offset = from_thread_pointer(&dp_self_stack_addr);
	c->errno_offset = from_thread_pointer(&errno);
	c->vectors = dp_self_vectors();
	c->task = (u64)dp_task_known;
	c->frames = (u64)dp_frames();
	c->pair.sites = c->base + DP_ARENA_OFFSET + c->site_off;
	c->frame_pad = (u64)dp_frame_pad;
	c->first_stack = getauxval(AT_EXECFN);
	c->handler_before = (u64)dp_handler_before;
	c->handler_after = (u64)dp_handler_after;
	if (c->counts_alone && c->rseq_signature == DP_RSEQ_SIGNATURE) {
		dp_agent_describe_handler(c->base, c->handler_sequence);
		dp_agent_describe_pair(c->base, c->pair_sequence);
	}
}

static int grow_map(void *arg, u64 addr, u64 size)
{
	return dp_code_map(addr, size);
}

static int grow_put(void *arg, u64 addr, const void *code, size_t len)
{
	struct dp_target *target = &dp_self.text.target;

	return target->ops->write(target, addr, code, len);
}

static int grow_holes(void *arg, struct dp_hole **holes, size_t *n)
{
	int err = dp_holes_find(0, 2 * DP_MAX_POOLS + CHART_HOLES, holes, n);

	if (!err)
		err = dp_charts_holes(*holes, n, CHART_HOLES);
	return err;
}

static void grow_chart(void *arg, const struct dp_charted *code)
{
	dp_chart_note(code);
}

static int grow_stopped(void *arg, const u32 *which, u32 n, bool in)
{
	const struct dp_helper_order order = { .pid = getpid(),
					       .verb = DP_HELPER_QUIESCE,
					       .n = n,
					       .arena = (u64)dp_self.arena };
	struct dp_helper_answer answer = { 0 };

	return dp_helper_run(&order, which, &answer, dp_last());
}

/* Before @work, notice all libraries that came or went before they were held. */
static int grow_hold(void *arg, bool unowned, int (*work)(void *what),
		     void *what)
{
	int changed, ret;

	while (!dp_symbol_map_hold(dp_self.symbols, work, what, &ret)) {
		changed = dp_symbol_map_refresh(dp_self.symbols, dp_last());
		if (changed < 0)
			return changed;
		dp_self.changed = true;
		dp_probes_notice_gone();
	}
	return ret;
}

static const struct dp_growth_ops growth_ops = { grow_map,   grow_put,
						 grow_holes, grow_stopped,
						 grow_hold,  grow_chart,
						 false };

static int no_memory(int err)
{
	return dp_fail(
		err, "this process has no memory for probes%s",
		err == -EFBIG ?
			": it may have no file large enough, not even in memory (RLIMIT_FSIZE)" :
			"");
}

static int adopt(u64 base)
{
	struct dp_arena *arena = (void *)(base + DP_ARENA_OFFSET);
	struct dp_live_setup setup = {
		.ops = &growth_ops,
		.arg = &dp_self,
		.entries = dp_agent_entries(base),
		.size = arena->control.arena_size,
		.least_pool = DP_LIVE_POOL,
		.max_sites = arena->control.max_sites,
	};
	struct dp_engine *engine;
	int err = dp_engine_create(&engine);

	if (err)
		return no_memory(err);
	dp_self.arming = dp_self_arming();
	dp_engine_set_arming(engine, dp_self.arming);
	err = dp_engine_adopt(engine, arena, &setup);
	if (err) {
		dp_engine_destroy(engine);
		return no_memory(err);
	}
	set_up(arena);
	dp_live_set_knobs(engine, !dp_self.disarmed, !dp_self.unoptimized);
	dp_self.arena = arena;
	__atomic_store_n(&dp_self.engine, engine, __ATOMIC_RELEASE);
	dp_self_say(true);
	return 0;
}

static int no_stacks(int err, u32 n)
{
	char why[DP_LIMITS_TEXT];

	return dp_fail(-ENOMEM, "this process has no memory for probes: %s",
		       dp_limits_why(getpid(), err, (u64)n * DP_STACK_SIZE, 0,
				     why));
}

/* The stacks are most of the address space that probes take. A process without room for them
 * is left as it was. */
static int attach(void)
{
	const struct dp_helper_order order = { .pid = getpid(),
					       .verb = DP_HELPER_ATTACH_OWN,
					       .n = DP_SELF_SITES };
	struct dp_helper_answer answer = { 0 };
	u32 n = dp_stacks_wanted();
	u64 stacks = dp_stacks_reserve(n);
	struct dp_arena *arena;
	int err;

	if (!stacks)
		return no_stacks(-errno, n);
	err = dp_helper_run(&order, NULL, &answer, dp_last());
	if (err) {
		munmap((void *)stacks, (u64)n * DP_STACK_SIZE);
		return err;
	}
	arena = (void *)(answer.base + DP_ARENA_OFFSET);
	arena->control.stack_base = stacks;
	arena->control.nr_stacks = n;
	__atomic_store_n(&dp_self.base, answer.base, __ATOMIC_RELEASE);
	return 0;
}

/* The agent stays if the rest fails. */
int dp_self_make(void)
{
	int err = dp_self.base ? 0 : attach();

	return err ? err : adopt(dp_self.base);
}
