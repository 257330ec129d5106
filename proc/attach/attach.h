/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* attach: open a running process, only reading it. */
#ifndef DP_PROC_ATTACH_ATTACH_H
#define DP_PROC_ATTACH_ATTACH_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/layout/arena.h"
#include "engine/plan/plan.h"

struct dp_diag;
struct dp_growth_ops;
struct dp_process;
struct dp_target;
struct dp_view;

/** dp_process_attach_as() - dp_process_attach() on behalf of @tool, which owns the agent */
int dp_process_attach_as(pid_t pid, pid_t tool, struct dp_process **proc,
			 struct dp_diag *diag);
/** dp_process_look() - only the checks of dp_process_attach(). Return: as that. */
int dp_process_look(struct dp_process *proc, pid_t pid, struct dp_diag *diag);
int dp_process_open_mem(struct dp_process *proc, struct dp_diag *diag);

/* check: refuse a process that cannot be handled before it is touched. */

/** dp_check_linker() - the dynamic linker that program or script @path names.
 *  Return: 0; -ENOENT it has none that can be read. */
int dp_check_linker(const char *path, char *linker, size_t size);
int dp_check_program(const char *path, const char *shown, struct dp_diag *diag);
int dp_check_process(struct dp_process *proc, struct dp_diag *diag);

/* launch: a program from its start. */

/** dp_launch_again() - as dp_process_launch(), for a process that is stopped since it
 *  executed a program. Return: as dp_process_attach(). */
int dp_launch_again(struct dp_process *proc, struct dp_diag *diag);

/* install: an agent in a process. */

/** dp_mapping_of() - where the agent and the arena are mapped, in the process and here */
struct dp_mapping dp_mapping_of(const struct dp_process *proc);

/* live: the agent has the signals and calls that it needs. */

/** dp_live_go() - step of dp_process_install(). Return: as that. */
int dp_live_go(struct dp_process *proc, struct dp_diag *diag);
/** dp_live_trap_again() - set the agent's action of SIGTRAP again, which the kernel has taken away
 *  Return: 0; as dp_borrowed_begin(). */
int dp_live_trap_again(struct dp_process *proc);

/* arm: probes written into text, and taken out of it. */

/** dp_arm_fn - dp_engine_commit() or dp_engine_apply() */
typedef int dp_arm_fn(struct dp_engine *engine, struct dp_target *target,
		      u64 *bad);
/** dp_arm_write() - call @write when text may be written. Return: as dp_process_apply(). */
int dp_arm_write(struct dp_process *proc, dp_arm_fn *write,
		 struct dp_diag *diag);

/** dp_arm_retract() - take out what was added and could not be armed; @pools: how many of the
 *  engine's are mapped */
void dp_arm_retract(struct dp_process *proc, u32 pools);
/* See struct dp_growth_ops; @arg: struct dp_process, whose text dp_arm_write() writes. */
int dp_arm_stopped(void *arg, const u32 *which, u32 n, bool in);
int dp_arm_hold(void *arg, bool unowned, int (*work)(void *what), void *what);

/** dp_quiesce_write() - write the jumps of sites of the tool's engine, by dp_strategy_quiesce,
 *  while no thread runs and none is inside. @which: in the order of addresses
 *  Return: 0; -EAGAIN a thread is inside; as the strategy. */
int dp_quiesce_write(struct dp_process *proc, const u32 *which, u32 n,
		     struct dp_diag *diag);

/* attach_other: */
extern const struct dp_growth_ops dp_attach_other_ops;

/* leave: take out an agent, the tool's own or that of a killed tool. */

int dp_leave(struct dp_process *proc, struct dp_view *view,
	     struct dp_diag *diag);
/** dp_unmap() - unmap the agent and its pools, as far as they are mapped */
int dp_unmap(struct dp_process *proc);

/* recover: what a killed tool left in a process. Context: tool process; may sleep. */

/** dp_recover_needed() - is anything of ours in a process that has just been looked at? */
bool dp_recover_needed(const struct dp_process *proc);
int dp_recover(struct dp_process *proc, struct dp_diag *diag);
/** dp_arena_find() - the arena in a process, and its size. Return: 0; -ENOENT; -EBUSY, with words,
 *  it is in use, and of another version or build: its agent must not be touched. */
int dp_arena_find(const struct dp_process *proc, size_t *size, u64 *addr,
		  struct dp_diag *diag);
/** dp_arena_read() - copy its parts that are in use. @arena: zeros, or an earlier copy
 *  Return: 0; -EBADMSG. */
int dp_arena_read(const struct dp_process *proc, u64 addr,
		  struct dp_arena *arena, size_t size);
/** dp_arena_cannot() - words for a process whose arena cannot be read. Return: @err. */
int dp_arena_cannot(const struct dp_process *proc, int err,
		    struct dp_diag *diag);
/** dp_arena_load() - both. @arena: free()d by the caller. Return: as both. */
int dp_arena_load(const struct dp_process *proc, void **arena, size_t *size,
		  u64 *addr, struct dp_diag *diag);
/** dp_recover_own() - has the process an engine of its own? Return: 1; 0; -EBUSY with words, one
 *  of another version or build */
int dp_recover_own(const struct dp_process *proc, struct dp_diag *diag);
/** dp_recover_taken() - does another tool, which still runs, probe the process?
 *  Return: true, with words. */
bool dp_recover_taken(const struct dp_process *proc, struct dp_diag *diag);

/* alive: how a target finds out that the tool has ended. Context: the tool's thread. */

/** dp_alive_enter() - from now on the arena tells when the tool has ended */
void dp_alive_enter(struct dp_arena_control *control);
/** dp_alive_end() - the arena tells that the tool has ended, and may then be unmapped here:
 *  the process may still have it, if probes could not be taken out */
void dp_alive_end(struct dp_arena_control *control);

/* linker: threads that wait at a loader event. Context: tool process. */

/** dp_linker_hold() - keep libraries mapped until dp_linker_release(), if the linker's
 *  probe is armed. An unmapping that has begun gets HOLD_NS to end. */
void dp_linker_hold(struct dp_process *proc);

/** dp_linker_release() - end the hold; waiting threads still need dp_process_answer() */
void dp_linker_release(const struct dp_process *proc);

#endif
