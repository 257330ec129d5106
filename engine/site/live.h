/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live: an engine whose probes come and go while it is armed.
 *
 * For a process that probes itself, or one that the Uprobes of another are in. The
 * arena has been mapped, with the intercepts in it armed, by somebody who could stop its
 * threads. From then on:
 *
 *   adopt ─► add… ─► commit ─► … ─► remove ─► forget
 *                      │ enable, knobs
 *
 * Nothing is ever moved or freed in the arena: a site whose last probe has gone
 * keeps its place and its copies for the next one.
 *
 * Context of every function: control half, may sleep, one thread at a time.
 */
#ifndef DP_SITE_LIVE_H
#define DP_SITE_LIVE_H

#include "port_types.h"
#include "engine/layout/arena.h"
#include "engine/layout/handler.h"
#include "engine/plan/plan.h"
#include "engine/text/target.h"

struct dp_engine;

/**
 * struct dp_growth_ops - memory of the process
 * @map: map @size bytes at @addr for execution, where nothing is, and never for
 *       writing. Return: 0; -EEXIST something is there; -ENOMEM.
 * @put: write code to what was mapped so; nothing leads there yet. Return: 0 or an errno.
 * @holes: where nothing is mapped; freed with dp_port_free(). Return: 0 or an
 *         errno. There must be room for DP_MAX_POOLS more.
 * @stopped: write the jumps of these sites, by dp_strategy_quiesce, while no thread
 *           runs and none is in the middle. @which: in the order of addresses
 * @hold: call @work, which writes text, while no library can be unloaded; of those
 *        that were unloaded before, the probes have been abandoned. @unowned: some of
 *        it may go at any time. @work allocates nothing. Return: what @work does, or
 *        an errno
 */
struct dp_growth_ops {
	int (*map)(void *arg, u64 addr, u64 size);
	int (*put)(void *arg, u64 addr, const void *code, size_t len);
	int (*holes)(void *arg, struct dp_hole **holes, size_t *n);
	int (*stopped)(void *arg, const u32 *which, u32 n);
	int (*hold)(void *arg, bool unowned, int (*work)(void *what),
		    void *what);
};

/**
 * struct dp_live_setup - what control has to know
 * @call_entry, @detour_entry, @tracked_entry: addresses of the agent's entries
 * @size: bytes that the arena has; @max_sites: that it was laid out for
 */
struct dp_live_setup {
	const struct dp_growth_ops *ops;
	void *arg;
	u64 call_entry, detour_entry, tracked_entry;
	u64 size;
	u32 max_sites;
};

/**
 * dp_engine_adopt() - take over an arena with intercepts
 * @arena: of the process itself, or another's as it is mapped here; stays there
 * Return: 0; -EBADMSG; -ENOMEM.
 */
int dp_engine_adopt(struct dp_engine *engine, struct dp_arena *arena,
		    const struct dp_live_setup *setup);

/**
 * struct dp_handlers - what a probe calls: see struct dp_probe_entry
 * @single: it has to be a breakpoint on one instruction, as an after-handler
 *          needs it; @why says so
 * @first: it is called before those that are there already
 * @deadline: of DP_KIND_UPCALL, in ms; @way: of DP_KIND_EXIT
 */
struct dp_handlers {
	u8 kind, pre_needs, post_needs;
	u32 deadline, way;
	bool single, first;
	const char *why;
	u64 user, pre, post, fault, nmissed, instance_pool;
};

/**
 * struct dp_found - what is at an address
 * @code, @size: bytes as they are without probes
 * @x87: may the code around it be using x87 or MMX registers?
 * @unowned: nobody says so when it is unmapped
 */
struct dp_found {
	const u8 *code;
	size_t size;
	bool x87, unowned;
};

/**
 * dp_live_add() - a probe, not armed yet
 * Return: as dp_engine_add(); -EINVAL also inside an intercepted call; -ENOMEM also if
 * there are too many.
 */
int dp_live_add(struct dp_engine *engine, u64 addr,
		const struct dp_found *found,
		const struct dp_handlers *handlers, bool enabled, u32 *probe,
		const char **why);

/** dp_live_upcalls() - where threads of the process wait for handlers; @n of them.
 *  NULL: it probes itself. The process can write there at any time. */
struct dp_upcalls *dp_live_upcalls(const struct dp_engine *engine, u32 *n);

/** dp_live_own() - code that has been put into the process besides: who is there is
 *  with us. Return: 0; -ENOMEM. */
int dp_live_own(struct dp_engine *engine, u64 addr, u64 size);

/** dp_live_is_new() - has the probe's site no plan yet, so that
 *  dp_engine_allow_jump() is still to be called? */
bool dp_live_is_new(const struct dp_engine *engine, u32 probe);

/**
 * dp_live_commit() - plan and arm probes that were added
 * @bad: index in @probes of the one that failed
 *
 * On failure none of them is armed, and they are still to be removed.
 * Return: 0; -ENOMEM no room in reach; -EBUSY the text is not what it was; -EFAULT
 * it has gone; a write error.
 */
int dp_live_commit(struct dp_engine *engine, struct dp_target *target,
		   const u32 *probes, u32 n, u32 *bad);

/** dp_live_remove() - disarm; handlers that run already may still do so.
 *  Return: 0; -EBUSY somebody else has changed the text: it stays as it is. */
int dp_live_remove(struct dp_engine *engine, struct dp_target *target,
		   const u32 *probes, u32 n);

/** dp_live_handlers() - what dp_live_add() was told; until dp_live_forget() */
const struct dp_handlers *dp_live_handlers(const struct dp_engine *engine,
					   u32 probe);

/**
 * dp_live_switch_off() - its handlers are not called any more
 * @user: what its handlers get, to make sure that it is meant
 *
 * It is still to be removed.
 * Context: any, also while another thread is in one of these functions.
 * Return: false: it is another's, or off already.
 */
bool dp_live_switch_off(struct dp_engine *engine, u32 probe, u64 user);
bool dp_live_is_off(const struct dp_engine *engine, u32 probe);

/** dp_live_forget() - when no handler of it runs any more */
void dp_live_forget(struct dp_engine *engine, u32 probe);

/** dp_live_enable() - Return: as dp_live_commit(). */
int dp_live_enable(struct dp_engine *engine, struct dp_target *target,
		   const u32 *probes, u32 n, bool enabled);

/** dp_live_knobs() - all probes at once: armed at all, and as jumps */
int dp_live_knobs(struct dp_engine *engine, struct dp_target *target,
		  bool armed, bool jumps);

/** dp_live_hits() - hits of a probe, missed ones not among them */
u64 dp_live_hits(struct dp_engine *engine, u32 probe);
/** dp_live_faulted() - has one of its handlers? */
bool dp_live_faulted(const struct dp_engine *engine, u32 probe);
/** dp_live_intact() - is a probe's code there as this engine has left it? */
bool dp_live_intact(const struct dp_engine *engine, struct dp_target *target,
		    u32 probe);
/** dp_live_abandon() - a probe's code is no longer there: whatever is, is not
 *  touched. The probe is still to be removed. */
void dp_live_abandon(struct dp_engine *engine, u32 probe);
/** dp_live_check() - abandon a probe if its code has gone. Its mapping is unowned. */
void dp_live_check(struct dp_engine *engine, struct dp_target *target,
		   u32 probe);
/** dp_live_gone() - has it been abandoned? Every function here that writes text
 *  finds that out of probes that it meets. */
bool dp_live_gone(const struct dp_engine *engine, u32 probe);
/** dp_live_lost() - has any, since this was last asked? */
bool dp_live_lost(struct dp_engine *engine);

/** dp_live_leave() - in a fork child: take every patch out of its text. The tables
 *  are its parent's, and stay as they are. */
void dp_live_leave(const struct dp_engine *engine, struct dp_target *target);

/** dp_live_touched() - the probes at sites that the last call looked at */
void dp_live_touched(const struct dp_engine *engine,
		     void (*tell)(void *arg, u32 probe), void *arg);
/** dp_live_first() - the first probe at an address. Return: false: there is none. */
bool dp_live_first(const struct dp_engine *engine, u64 addr, u32 *probe);
/** dp_live_next() - and those after it */
bool dp_live_next(const struct dp_engine *engine, u32 *probe);
/** dp_live_originals() - put the original bytes into code that was read at @addr */
void dp_live_originals(const struct dp_engine *engine, u64 addr, u8 *code,
		       size_t size);
/** dp_live_set_knobs() - the same, while there are no probes */
void dp_live_set_knobs(struct dp_engine *engine, bool armed, bool jumps);

/** dp_live_optimized() - is it a jump now? */
bool dp_live_optimized(const struct dp_engine *engine, u32 probe);
/** dp_live_addr() - of a probe; 0: there is none */
u64 dp_live_addr(const struct dp_engine *engine, u32 probe);

#endif
