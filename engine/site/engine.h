/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine: the control half.
 *
 *     create ─► add… ─► layout ─► build ─► plan ─► commit ─► … ─► destroy
 *                 ▲     sizes     tables   code    bytes │
 *                 └───────── later: add… ─► (plan) ──────┘
 *
 * Context of every function: control half, may sleep, one thread at a time per engine.
 * Errors are negative errnos; a @why is a static phrase.
 */
#ifndef DP_SITE_ENGINE_H
#define DP_SITE_ENGINE_H

#include "port_types.h"

struct dp_arena;
struct dp_engine;
struct dp_growth_ops;
struct dp_hole;
struct dp_layout_need;
struct dp_mapping;
struct dp_target;

/**
 * struct dp_expected - what may come later; the tables get room for it
 * @sites, @probes: how many
 * @programs: how many; 0: no probe that comes runs one
 * @log: bytes of their longest record; @traces, @heap: as struct dp_program_spec has them
 * @code, @locals: bytes of their code, and local variables, beyond what is usual
 * @tables: of values, at most, which programs have; their memory is the port's, where hits reach it by any address
 * @calls: some of the probes track calls
 */
struct dp_expected {
	u32 sites, probes, programs, log, traces, heap, code, locals, tables;
	bool calls;
};

/** dp_engine_create() - an engine without sites. Return: 0 or -ENOMEM. */
int dp_engine_create(struct dp_engine **engine);

/** dp_engine_destroy() - free an engine; disarms nothing. NULL is fine. */
void dp_engine_destroy(struct dp_engine *engine);

/**
 * dp_engine_add() - put a probe on an instruction
 * @addr: address of the instruction in the target
 * @code: bytes found there
 * @size: how many bytes; at most 15 are looked at
 * @probe: number of the new probe, from 0
 * @why: on failure, the reason, or NULL
 *
 * Several probes may share an address.
 * Return: 0; -EINVAL the instruction cannot run out of line; -EILSEQ it is none; -EBUSY a
 * breakpoint is there; -ENOMEM.
 */
int dp_engine_add(struct dp_engine *engine, u64 addr, const u8 *code,
		  size_t size, u32 *probe, const char **why);

/**
 * dp_engine_add_watch() - put a probe on data
 * @addr, @len: 1, 2, 4 or 8 bytes, aligned
 * @watch: DP_SITE_WRITTEN, DP_SITE_ACCESSED
 *
 * Nothing is armed there: a hit is a trap that the caller has the kernel raise, with
 * dp_engine_watch_tag(). Each call makes a site of its own. Before the layout.
 * Return: 0; -ENOMEM.
 */
int dp_engine_add_watch(struct dp_engine *engine, u64 addr, u8 len, u8 watch,
			u32 *probe);
/** dp_engine_set_watch_number() - what the traps bear, so that the hit half knows them; not 0.
 *  Before the build. */
void dp_engine_set_watch_number(struct dp_engine *engine, u32 number);
/** dp_engine_watch_begin() - what is there now is the value last seen. Before the traps come. */
void dp_engine_watch_begin(struct dp_engine *engine, u32 probe, u64 now);
/** dp_engine_watch_tag() - what the traps of a probe on data bear. After the build. */
u64 dp_engine_watch_tag(const struct dp_engine *engine, u32 probe);

/**
 * dp_engine_set_signal_free() - the hit half must neither make system calls nor raise signals
 *
 * All probes are then jumps, written while all threads are stopped (DP_ARM_QUIESCE), and
 * there are no intercepts. Before any probe is added.
 */
void dp_engine_set_signal_free(struct dp_engine *engine);

/**
 * dp_engine_set_uncaught() - the target is a kernel: no fault is caught by a handler that goes on
 * in probed code, and only a breakpoint is sure to trap. Before the build.
 */
void dp_engine_set_uncaught(struct dp_engine *engine);

/** dp_engine_drop() - take a probe away from its site, which stays */
void dp_engine_drop(struct dp_engine *engine, u32 probe);

/**
 * dp_engine_set_rseq() - every thread has a struct rseq registered
 * @offset: of the struct rseq from the thread pointer
 * @signature: with which it was registered
 *
 * Detours then count without the agent. Before the build.
 */
void dp_engine_set_rseq(struct dp_engine *engine, s32 offset, u32 signature);

/**
 * dp_engine_set_percpu() - detours may run programs where threads have no restartable sequences
 * @percpu: stays as long as the engine
 *
 * Context: before the engine is built.
 */
struct dp_percpu;
void dp_engine_set_percpu(struct dp_engine *engine,
			  const struct dp_percpu *percpu);
/**
 * dp_engine_set_native() - may detours run programs themselves? They may by default.
 * @leave: leave each program at its @leave-th instruction, for tests; 0: never
 *
 * Before the build.
 */
void dp_engine_set_native(struct dp_engine *engine, bool native, u32 leave);

/**
 * dp_engine_set_rings() - how much room there is for records, and what if there is none
 * @bytes: of the ring of each CPU, at most DP_RING_MOST, and less where the rings would have
 *         more than DP_RINGS_MOST together; rounded up to a power of two of records; 0: as usual
 * @block: hits wait until the reader has made room; else their records are lost
 *
 * Before the build.
 */
void dp_engine_set_rings(struct dp_engine *engine, u32 bytes, bool block);
/** dp_engine_set_holds() - are threads held while their core dump is made? See hold.c */
void dp_engine_set_holds(struct dp_engine *engine, bool holds);

/** dp_engine_set_tight() - take little room for calls in progress. Before the build. */
void dp_engine_set_tight(struct dp_engine *engine, bool tight);

/** dp_engine_set_coarse() - records that detours make have the time at which they are read, because
 *  to read the clock costs more than all the rest. Before the build. */
void dp_engine_set_coarse(struct dp_engine *engine, bool coarse);

/** dp_engine_jumps_over() - is the byte at @addr one of a jump that begins before it? */
bool dp_engine_jumps_over(const struct dp_engine *engine, u64 addr);

/** dp_engine_probed() - is there a probe among @len bytes at @addr, or may one come later? */
bool dp_engine_probed(const struct dp_engine *engine, u64 addr, u64 len);

/** dp_engine_set_tid_offset() - offset of a thread's id from its thread pointer. Where the
 *  offset is not known, the hit half asks the kernel. Before the build. */
void dp_engine_set_tid_offset(struct dp_engine *engine, u32 offset);

/**
 * dp_engine_attach_own() - the engine is for a process that probes itself
 * @max_sites: addresses that it will probe at most, in all
 *
 * Before the layout. It is built with its intercepts alone, and grows later: live.h.
 */
void dp_engine_attach_own(struct dp_engine *engine, u32 max_sites);

/**
 * dp_engine_upcall() - the handlers of its probes run in the tool: DP_KIND_UPCALL
 * @n: threads that can be in an upcall at once; further threads wait
 *
 * After dp_engine_attach_own(), whose engine is then for another process.
 */
void dp_engine_upcall(struct dp_engine *engine, u32 n);

/** dp_engine_caught() - how many signals the hit half has to catch: the first so many of
 *  dp_caught(). After the build. */
u32 dp_engine_caught(const struct dp_engine *engine);

/** dp_engine_arena() - the arena as mapped in the tool; NULL before the build */
struct dp_arena *dp_engine_arena(const struct dp_engine *engine);

/** dp_engine_probes() - how many probes it has, of whatever kind; numbers begin with 0 */
u32 dp_engine_probes(const struct dp_engine *engine);

/** dp_engine_originals() - put the original bytes into code that was read at @addr */
void dp_engine_originals(const struct dp_engine *engine, u64 addr, u8 *code,
			 size_t size);

/* later: */

/** dp_engine_expect() - make room for what comes later. Before the layout. */
void dp_engine_expect(struct dp_engine *engine,
		      const struct dp_expected *expected);
/** dp_engine_release_gone() - from now on the addresses of gone sites are free for others */
void dp_engine_release_gone(struct dp_engine *engine);
/** dp_engine_retract() - what was added could not be planned or armed: it is gone, and
 *  numbers that no table has yet are free. @pools: so many of them are mapped */
void dp_engine_retract(struct dp_engine *engine, struct dp_target *target,
		       u32 pools);
/** dp_engine_move() - put a gone probe on another instruction; it goes on counting
 *  Return: as dp_engine_add(). */
int dp_engine_move(struct dp_engine *engine, u32 probe, u64 addr,
		   const u8 *code, size_t size, const char **why);

/** dp_engine_site() - address of the i-th site, intercepts included; 0 where it is gone, and of data.
 *  Return: false past the end. */
bool dp_engine_site(const struct dp_engine *engine, size_t i, u64 *addr);
/** dp_engine_site_comes() - has the i-th site none of its bytes in the text, and is to have some? For growth ops: hold() */
bool dp_engine_site_comes(const struct dp_engine *engine, size_t i);

/* build: the engine's memory. */

/**
 * dp_engine_layout() - how much memory the tables need
 * @shards: counter shards wanted, a power of two; very many probes get fewer
 * Return: the needs, owned by the engine
 */
struct dp_layout_need *dp_engine_layout(struct dp_engine *engine, u32 shards);
/** dp_engine_need() - the needs, and all pools so far */
const struct dp_layout_need *dp_engine_need(const struct dp_engine *engine);
/** dp_engine_preview() - decide what the sites would be, in an engine that is never built */
void dp_engine_preview(struct dp_engine *engine);

/**
 * dp_engine_build() - begin the tables
 * @ops, @arg: memory of the process; they are called until the engine is destroyed
 *
 * Nothing in the target refers to them yet.
 * Return: 0; -ENOMEM.
 */
int dp_engine_build(struct dp_engine *engine, const struct dp_mapping *map,
		    const struct dp_growth_ops *ops, void *arg);

/** dp_engine_unbuild() - forget the tables, the plan, and what rseq is, before the first commit;
 *  for another build */
void dp_engine_unbuild(struct dp_engine *engine);

/**
 * dp_engine_table() - the contents of the table at DP_TABLE_OFFSET
 * @words: addresses of each CPU's counters in turn; DP_MAX_SHARDS at most
 * @n: how many
 * Return: false if detours do not count without the agent.
 */
bool dp_engine_table(const struct dp_engine *engine, u64 *words, u32 *n);

/* intercept: system calls of libc that pass through the agent. */

/**
 * dp_engine_add_intercept() - intercept a system call of libc
 * @addr: address of the instruction that sets the call's number and leads straight to the
 *   call; if @nr goes through other functions, of a call or jump
 * @code: DP_REGION_MAX bytes from there
 * @nr: number of the call
 * @observed: the call is made in the detour, between two calls of the agent, because it
 *   may return twice on one stack; otherwise the agent makes it
 *
 * The call then passes through the agent (port/user/signals/intercept.c, vm_child.c). The
 * intercept's detour serves probes on any of these instructions.
 * Return: 0, -ENOMEM.
 */
int dp_engine_add_intercept(struct dp_engine *engine, u64 addr, const u8 *code,
			    u32 nr, bool observed);
/** dp_engine_intercepted_call() - where the intercept at @addr calls out before its system
 *  call; @behind: where that call returns to instead. Return: false if there is no
 *  intercept. */
bool dp_engine_intercepted_call(const struct dp_engine *engine, u64 addr,
				bool behind, u64 *to);

/* linker: loader events, and specs that wait for a library. */

/**
 * dp_engine_watch_linker() - put a hidden probe on the loader event
 * @addr: of _dl_debug_state(); @code: bytes found there
 * @state: address of r_state in _r_debug
 *
 * The last probe that is added. Before the layout. Return: as dp_engine_add().
 */
int dp_engine_watch_linker(struct dp_engine *engine, u64 addr, const u8 *code,
			   size_t size, u64 state, const char **why);
/** dp_engine_arm_linker() - arm the loader event's probe alone, before dp_engine_commit().
 *  Return: as that. */
int dp_engine_arm_linker(struct dp_engine *engine, struct dp_target *target,
			 u64 *bad);
/** dp_engine_set_pending() - name a spec that waits for its library, for listings of the
 *  probes; NULL: forget all. For the next build. */
void dp_engine_set_pending(struct dp_engine *engine, const char *spec);

/* fork: the engine of a fork child. */

/**
 * dp_engine_fork() - the engine for a fork child of the target
 * @map: the child's own file, its parent's base
 * @arg: of the child's growth ops
 *
 * Copies and tables are the same, byte for byte, and the sites are armed. Earlier counts
 * and records are the parent's. For the thread's hit and calls in progress see
 * dp_engine_fork_contexts() and dp_engine_fork_instances().
 * Return: 0; -ENOMEM; -EOPNOTSUPP where probes come and go (dp_engine_attach_own()):
 * probes of Kprobes and Uprobes belong to the process for which they were registered, not
 * to its children.
 */
int dp_engine_fork(const struct dp_engine *engine, const struct dp_mapping *map,
		   void *arg, struct dp_engine **child);
/** dp_engine_catch_up() - arm in the child, which has not run yet, what its parent got
 *  since the fork. Return: 0 or an error of writing. */
int dp_engine_catch_up(struct dp_engine *child, struct dp_target *target);

#endif
