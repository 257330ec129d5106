/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live: an engine whose probes come and go while it is armed.
 *
 * For a process that probes itself, or one that another process probes with Uprobes. A
 * tracer has mapped the arena and armed its intercepts while all threads were stopped.
 * From then on:
 *
 *     adopt ─► add… ─► commit ─► … ─► remove ─► forget
 *                        │ enable, knobs
 *
 * Nothing in the arena is ever moved or freed: a site whose last probe has gone keeps its
 * place and its copies for the next one.
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
struct dp_unwind_states;

/**
 * struct dp_charted - generated code, as unwinders have to know it
 * @at, @len: where it is
 * @states: of the code, or NULL: it is an island, or without @addr a stub that is called
 * @addr: the first instruction of the program for which it stands
 * @offset: by the instruction in a state: where that is, from @addr
 * @duplicate: where a duplicate's ret is in the program
 */
struct dp_charted {
	u64 at;
	u32 len;
	const struct dp_unwind_states *states;
	u64 addr, duplicate;
	u8 offset[8];
};

/* Code with states of its own begins at such an address. */
#define DP_CHARTED_ALIGN 16

/**
 * struct dp_growth_ops - memory of the process
 * @map: map @size bytes at @addr, where nothing is mapped, for execution and never for
 *   writing. Return: 0; -EEXIST another mapping is there; -ENOMEM.
 * @put: write code to memory from @map, before anything leads there. Return: 0 or an
 *   errno.
 * @holes: the unmapped ranges; freed with dp_port_free(). Return: 0 or an errno. There
 *   must be room for 2 * DP_MAX_POOLS more.
 * @stopped: while no thread runs, and none is inside a region: write the jumps of these sites
 *   by dp_strategy_quiesce, or, if not @in, take out those that are not wanted, by
 *   dp_sites_restore(). @which: in the order of addresses
 * @hold: call @work, which writes text, while no library can be unloaded. Probes of
 *   libraries unloaded earlier have been abandoned. @unowned: some of the text may be
 *   unmapped at any time. @work allocates nothing. Return: what @work does, or an errno
 * @chart: let unwinders know code, before anything leads there; or NULL
 * @traps_first: threads inside a region are not moved. So @stopped is called when the sites are breakpoints, whose
 *   hits go on in their detours; it may call dp_engine_unwritten() for those that it leaves
 */
struct dp_growth_ops {
	int (*map)(void *arg, u64 addr, u64 size);
	int (*put)(void *arg, u64 addr, const void *code, size_t len);
	int (*holes)(void *arg, struct dp_hole **holes, size_t *n);
	int (*stopped)(void *arg, const u32 *which, u32 n, bool in);
	int (*hold)(void *arg, bool unowned, int (*work)(void *what),
		    void *what);
	void (*chart)(void *arg, const struct dp_charted *code);
	bool traps_first;
};

/* The smallest pool where probes come one by one */
#define DP_LIVE_POOL (1ull << 20)

/**
 * struct dp_live_setup - addresses and limits of an adopted arena
 * @entries: of the agent
 * @size: size of the arena in bytes; @max_sites: sites for which it was laid out
 * @least_pool: bytes of the smallest pool, whole pages
 */
struct dp_live_setup {
	const struct dp_growth_ops *ops;
	void *arg;
	struct dp_agent_entries entries;
	u64 size, least_pool;
	u32 max_sites;
};

/**
 * dp_engine_adopt() - take over an arena with intercepts
 * @arena: of this process, or another's as mapped here; it stays mapped
 * Return: 0; -EBADMSG; -ENOMEM.
 */
int dp_engine_adopt(struct dp_engine *engine, struct dp_arena *arena,
		    const struct dp_live_setup *setup);

/**
 * struct dp_handlers - what a probe calls: see struct dp_probe_entry
 * @single: it has to be a breakpoint on one instruction, for example for an
 *   after-handler; @why is the reason
 * @first: it is called before the probes already at its site
 * @last: it may send the thread elsewhere, so that others would not be called: it is called behind all
 *   that come before or after it, as is one of DP_KIND_JPROBE. A site has one such probe
 * @deadline: of DP_KIND_UPCALL, in ms
 * @way: of an exit: DP_WAY_*
 * @spares: registers that @pre leaves alone, as its code has shown: ~@touches of struct
 *   dp_probe_entry; 0: it is not known
 */
struct dp_handlers {
	u8 kind, pre_needs, post_needs;
	u32 deadline, way, spares;
	bool single, first, last;
	const char *why;
	u64 user, pre, post, fault, nmissed, instance_pool;
};

/**
 * struct dp_found - the code at an address
 * @code, @size: bytes as they are without probes
 * @x87: may the code around it be using x87 or MMX registers?
 * @unowned: its mapping is unowned
 */
struct dp_found {
	const u8 *code;
	size_t size;
	bool x87, unowned;
};

/**
 * dp_live_add() - add a probe, not armed yet
 * Return: as dp_engine_add(); -EINVAL also inside an intercepted call; -ENOMEM also if
 * there are too many.
 */
int dp_live_add(struct dp_engine *engine, u64 addr,
		const struct dp_found *found,
		const struct dp_handlers *handlers, bool enabled, u32 *probe,
		const char **why);

/** dp_live_add_watch() - add a probe on data, see dp_engine_add_watch(); it is committed, removed and
 *  forgotten like any other. Return: 0; -ENOMEM. */
int dp_live_add_watch(struct dp_engine *engine, u64 addr, u8 len, u8 watch,
		      const struct dp_handlers *handlers, u32 *probe);

/**
 * dp_live_add_absent() - add a probe whose code is not there yet: as if it had gone, for dp_engine_move()
 * Return: 0; -ENOMEM also if there are too many.
 */
int dp_live_add_absent(struct dp_engine *engine, bool enabled, u32 *probe);

/** dp_live_stub() - a probe that has just been added is one of DP_KIND_STUB; @logs: its calls make records
 *  dp_live_stub_pool() - where the port has its instances; before it is armed */
void dp_live_stub(struct dp_engine *engine, u32 probe, bool logs);
void dp_live_stub_pool(struct dp_engine *engine, u32 probe, u64 pool);

/** dp_live_upcalls() - the @n places where threads of the process wait in upcalls; NULL:
 *  the process probes itself. It can write there at any time. */
struct dp_upcalls *dp_live_upcalls(const struct dp_engine *engine, u32 *n);

/** dp_live_own() - declare code added to the process: a thread there counts as inside ours.
 *  Return: 0; -ENOMEM. */
int dp_live_own(struct dp_engine *engine, u64 addr, u64 size);

/** dp_live_is_new() - has the probe's site no plan yet, so that dp_engine_allow_jump() is
 *  still to be called? */
bool dp_live_is_new(const struct dp_engine *engine, u32 probe);

/**
 * dp_live_plan() - as dp_engine_plan(), for some probes: make copies, and let the tables have all programs
 *
 * Probes whose code is not there are passed over.
 * Return: as that; a probe without plan is no obstacle to others.
 */
int dp_live_plan(struct dp_engine *engine, const u32 *probes, u32 n);
/** dp_live_choose() - decide what all sites would be that have a plan, and make their jumps. Return: 0; an error of
 *  writing */
int dp_live_choose(struct dp_engine *engine);
/** dp_live_want() - is a probe that is not armed yet to be on? @waits: its site is to be armed, and it is on from
 *  dp_exchange_swap() on */
void dp_live_want(struct dp_engine *engine, u32 probe, bool on, bool waits);

/**
 * dp_live_commit() - plan and arm added probes
 * @bad: index in @probes of the one that failed
 *
 * On failure none of them is armed, and they are still to be removed.
 * Return: 0; -ENOMEM no memory in range; -EBUSY the text is not what it was; -EFAULT the
 * text has gone; a write error.
 */
int dp_live_commit(struct dp_engine *engine, struct dp_target *target,
		   const u32 *probes, u32 n, u32 *bad);

/** dp_live_remove() - disarm; handlers that already run may still do so.
 *  Return: 0; -EBUSY the text has been changed by another writer: it stays as it is. */
int dp_live_remove(struct dp_engine *engine, struct dp_target *target,
		   const u32 *probes, u32 n);

/** dp_live_handlers() - the handlers given to dp_live_add(); until dp_live_forget() */
const struct dp_handlers *dp_live_handlers(const struct dp_engine *engine,
					   u32 probe);

/** dp_live_entry() - address of a probe's struct dp_probe_entry, in the process */
u64 dp_live_entry(const struct dp_engine *engine, u32 probe);

/**
 * dp_live_switch_off() - stop calling the handlers of a probe
 * @user: what its handlers get; it must match the probe's
 *
 * The probe is still to be removed.
 * Context: any, also while another thread is in a function of this file.
 * Return: false: @user does not match, or the probe is off already.
 */
bool dp_live_switch_off(struct dp_engine *engine, u32 probe, u64 user);
bool dp_live_is_off(const struct dp_engine *engine, u32 probe);

/** dp_live_forget() - free a removed probe, once none of its handlers runs */
void dp_live_forget(struct dp_engine *engine, u32 probe);

/** dp_live_enable() - enable or disable probes. Return: as dp_live_commit(). */
int dp_live_enable(struct dp_engine *engine, struct dp_target *target,
		   const u32 *probes, u32 n, bool enabled);

/** dp_live_knobs() - for all probes at once: armed at all, and as jumps */
int dp_live_knobs(struct dp_engine *engine, struct dp_target *target,
		  bool armed, bool jumps);

/** dp_live_late() - is there a site whose jump could not be written in time?
 *  dp_live_retry() - write those jumps. Return: as dp_live_commit(); some may be late again. */
bool dp_live_late(const struct dp_engine *engine);
int dp_live_retry(struct dp_engine *engine, struct dp_target *target);

/** dp_live_runs_programs() - is a thread running a program? In one's own process. A program that
 *  no enabled probe has is not begun any more. */
bool dp_live_runs_programs(const struct dp_engine *engine);
/** dp_live_settle() - discard waiting records, in one's own process
 *  @over: does the thread @tid wait no more for a record of @probe? */
void dp_live_settle(struct dp_engine *engine, bool (*over)(u32 tid, u32 probe));

/** dp_live_hits() - hits of a probe, without the missed */
u64 dp_live_hits(struct dp_engine *engine, u32 probe);
/** dp_live_faulted() - has a handler of the probe faulted? */
bool dp_live_faulted(const struct dp_engine *engine, u32 probe);
/** dp_live_intact() - is a probe's code still as this engine has left it? */
bool dp_live_intact(const struct dp_engine *engine, struct dp_target *target,
		    u32 probe);
/** dp_live_abandon() - a probe's code has gone: other code at its address is not touched.
 *  The probe is still to be removed. */
void dp_live_abandon(struct dp_engine *engine, u32 probe);
/** dp_live_check() - abandon a probe of an unowned mapping if its code has gone */
void dp_live_check(struct dp_engine *engine, struct dp_target *target,
		   u32 probe);
/**
 * dp_live_leave_code() - code is about to go: its sites are released, their probes are gone
 * @goes: is an address of that code?
 *
 * Bytes that were not restored by dp_live_remove() stay.
 * Context: no thread is in that code, nor in copies of it.
 * Return: how many sites
 */
u32 dp_live_leave_code(struct dp_engine *engine,
		       bool (*goes)(void *arg, u64 addr), void *arg);
/** dp_live_gone() - has the probe been abandoned? Functions of this file that write text
 *  abandon gone probes that they meet. */
bool dp_live_gone(const struct dp_engine *engine, u32 probe);
/** dp_live_lost() - has any probe been abandoned since the last call? */
bool dp_live_lost(struct dp_engine *engine);

/** dp_live_leave() - in a fork child: take every patch out of its text. The tables are its
 *  parent's, and stay as they are. */
void dp_live_leave(const struct dp_engine *engine, struct dp_target *target);

/** dp_live_touched() - the probes at sites that the last call looked at */
void dp_live_touched(const struct dp_engine *engine,
		     void (*tell)(void *arg, u32 probe), void *arg);
/** dp_live_first() - the first probe at an address. Return: false: no probe. */
bool dp_live_first(const struct dp_engine *engine, u64 addr, u32 *probe);
/** dp_live_next() - the next probe at that address. Return: false: no more. */
bool dp_live_next(const struct dp_engine *engine, u32 *probe);
/** dp_live_set_knobs() - set what dp_live_knobs() does, while there are no probes */
void dp_live_set_knobs(struct dp_engine *engine, bool armed, bool jumps);

/** dp_live_optimized() - is the probe armed with a jump now? */
bool dp_live_optimized(const struct dp_engine *engine, u32 probe);
/** dp_live_addr() - address of a probe; 0: there is no such probe */
u64 dp_live_addr(const struct dp_engine *engine, u32 probe);

#endif
