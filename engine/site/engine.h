/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine: the half that decides.
 *
 * One run, in this order, each step all or nothing:
 *
 *   create ─► add… ─► layout ─► place ─► build ─► arm ─► … ─► disarm ─► destroy
 *             sites   sizes     pool     copies   bytes
 *                               addresses tables
 *
 * Context of every function: control half, may sleep, one thread at a time per
 * engine. Errors are negative errnos; a @why is a static phrase.
 */
#ifndef DP_SITE_ENGINE_H
#define DP_SITE_ENGINE_H

#include "port_types.h"

struct dp_arena;
struct dp_engine;
struct dp_layout_need;
struct dp_mapping;
struct dp_target;

/** dp_engine_create() - an engine without sites. Return: 0 or -ENOMEM. */
int dp_engine_create(struct dp_engine **engine);

/** dp_engine_destroy() - free it; disarms nothing. NULL is fine. */
void dp_engine_destroy(struct dp_engine *engine);

/**
 * dp_engine_add() - put a probe on an instruction
 * @addr: address of the instruction in the target
 * @code: bytes found there
 * @size: how many of them, up to 15 are looked at
 * @probe: number of the new probe, from 0
 * @why: on failure, the reason, or NULL
 *
 * Several probes may share an address.
 * Return: 0; -EINVAL the instruction cannot run out of line; -EILSEQ it is
 * none; -EBUSY a breakpoint is there; -ENOMEM.
 */
int dp_engine_add(struct dp_engine *engine, u64 addr, const u8 *code,
		  size_t size, u32 *probe, const char **why);

/**
 * dp_engine_set_signal_free() - the hit half must not make system calls, nor raise
 * signals
 *
 * All probes are jumps then, written while nobody runs (DP_ARM_QUIESCE), and there
 * are no intercepts. Before any probe is added.
 */
void dp_engine_set_signal_free(struct dp_engine *engine);

/** dp_engine_drop() - take a probe away from its site, which stays */
void dp_engine_drop(struct dp_engine *engine, u32 probe);

/**
 * dp_engine_set_rseq() - every thread has a struct rseq registered
 * @offset: of it from the thread pointer
 * @signature: that it was registered with
 *
 * Then detours count by themselves. Before the build.
 */
void dp_engine_set_rseq(struct dp_engine *engine, s32 offset, u32 signature);

/** dp_engine_probed() - is there a probe among @len bytes at @addr, or may there be
 *  one later? */
bool dp_engine_probed(const struct dp_engine *engine, u64 addr, u64 len);

/** dp_engine_set_tid_offset() - how far behind a thread's pointer its id is;
 *  where that is not known, the kernel is asked. Before the build. */
void dp_engine_set_tid_offset(struct dp_engine *engine, u32 offset);

/**
 * dp_engine_attach_own() - the engine is for a process that probes itself
 * @max_sites: addresses that it will probe at most, in all
 *
 * Before the layout. It is built with its intercepts alone, and grows later: live.h.
 */
void dp_engine_attach_own(struct dp_engine *engine, u32 max_sites);

/**
 * dp_engine_upcall() - its probes' handlers run in the tool: DP_KIND_UPCALL
 * @n: threads that can wait for one at once; others wait for these
 *
 * After dp_engine_attach_own(), which then means another process than our own.
 */
void dp_engine_upcall(struct dp_engine *engine, u32 n);

/** dp_engine_caught() - how many signals the hit half has to catch: the first
 *  so many of dp_caught(). After the build. */
u32 dp_engine_caught(const struct dp_engine *engine);

/** dp_engine_arena() - the shared memory in the tool; NULL before the build */
struct dp_arena *dp_engine_arena(const struct dp_engine *engine);

/** dp_engine_set_gone() - the code of a probe that has been added is not there: it is
 *  known, and never armed. Before the build. */
void dp_engine_set_gone(struct dp_engine *engine, u32 probe);

/** dp_engine_site() - address of the i-th site, intercepts included; 0 past the end */
u64 dp_engine_site(const struct dp_engine *engine, size_t i);

/* build: its memory. */

/**
 * dp_engine_layout() - how much memory the sites need, and where about
 * @shards: counter shards wanted, a power of two; fewer are taken where there
 *          are very many probes
 * Return: the needs, owned by the engine; NULL when the sites lie so far apart
 * that DP_MAX_POOLS pools do not serve them.
 */
struct dp_layout_need *dp_engine_layout(struct dp_engine *engine, u32 shards);

/** dp_engine_need() - what dp_engine_layout() said, with the addresses */
const struct dp_layout_need *dp_engine_need(const struct dp_engine *engine);

/**
 * dp_engine_build() - make the copies and the tables
 *
 * Nothing in the target refers to them yet.
 * Return: 0; -ENOMEM a copy does not reach what it refers to.
 */
int dp_engine_build(struct dp_engine *engine, const struct dp_mapping *map);

/**
 * dp_engine_table() - what belongs at DP_TABLE_OFFSET
 * @words: addresses of the counters of each CPU in turn; DP_MAX_SHARDS at most
 * @n: how many
 * Return: false if detours do not count by themselves.
 */
bool dp_engine_table(const struct dp_engine *engine, u64 *words, u32 *n);

/* intercept: system calls of libc that pass through the agent. */

/**
 * dp_engine_add_intercept() - watch a system call of libc
 * @addr: address of the instruction that sets its number, which leads straight to it; or of a
 *        call or jump, if @nr goes through other functions
 * @code: DP_REGION_MAX bytes from there
 * @nr: number of the call
 * @observed: it is made where it stands, between two calls of the agent, because
 *           it may return twice on one stack; else the agent makes it
 *
 * The call then passes through the agent (port/user/signals/intercept.c, vm_child.c). Probes on any of
 * these instructions are told from the intercept's detour.
 * Return: 0, -ENOMEM.
 */
int dp_engine_add_intercept(struct dp_engine *engine, u64 addr, const u8 *code,
			    u32 nr, bool observed);
/** dp_engine_intercepted_call() - where the intercept at @addr has its last instruction made, which
 *  is the call, and told of before; or, @behind, where that returns to. Return: false if
 *  there is none. */
bool dp_engine_intercepted_call(const struct dp_engine *engine, u64 addr,
				bool behind, u64 *to);

/* linker: where libraries come and go, and specs that wait for one. */

/**
 * dp_engine_watch_linker() - a hidden probe where the dynamic linker tells
 * debuggers of libraries
 * @addr: of _dl_debug_state(); @code: bytes found there
 * @state: address of r_state in _r_debug
 *
 * The last probe that is added. Before the layout. Return: as dp_engine_add().
 */
int dp_engine_watch_linker(struct dp_engine *engine, u64 addr, const u8 *code,
			   size_t size, u64 state, const char **why);
/** dp_engine_arm_linker() - that probe alone, before dp_engine_arm(). Return: as that. */
int dp_engine_arm_linker(struct dp_engine *engine, struct dp_target *target,
			 u64 *bad);
/** dp_engine_set_pending() - name a spec that waits for its library, for those who
 *  list the probes. Before the build. */
void dp_engine_set_pending(struct dp_engine *engine, const char *spec);

/* fork: the engine of a process that a fork has made of a probed one. */

/**
 * dp_engine_fork() - the engine for a process that a fork has made of the target
 * @map: its own file, its parent's base
 * @was, @is: the id of the thread that forked, and what it is in the child
 *
 * Copies and tables are the same, byte for byte, and the sites are armed. What has
 * been counted and recorded is the parent's. For what the thread was in the middle of
 * see dp_engine_fork_contexts() and dp_engine_fork_instances().
 * Return: 0; -ENOMEM; -EOPNOTSUPP where probes come and go (dp_engine_attach_own()): those
 * of Kprobes and Uprobes are the process's for which they were registered, and no
 * child's.
 */
int dp_engine_fork(const struct dp_engine *engine, const struct dp_mapping *map,
		   u32 was, u32 is, struct dp_engine **child);

/* inherit: an engine that takes the place of another. */

/**
 * dp_engine_inherit() - go on counting where another engine has ended
 * @of: of the same process, disarmed; the first probes and programs of @engine are
 *      all of its
 *
 * Between dp_engine_build() and dp_engine_arm().
 */
void dp_engine_inherit(struct dp_engine *engine, const struct dp_engine *of);

#endif
