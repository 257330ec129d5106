/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* attach: take hold of a running process, looking only. */
#ifndef DP_PROC_ATTACH_ATTACH_H
#define DP_PROC_ATTACH_ATTACH_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/layout/arena.h"
#include "engine/plan/plan.h"

struct dp_diag;
struct dp_engine;
struct dp_maps;
struct dp_process;
struct dp_remote;
struct dp_target;
struct dp_thread;
struct dp_view;

/** dp_process_attach_as() - in the name of another process, which is the tool */
int dp_process_attach_as(pid_t pid, pid_t tool, struct dp_process **proc,
			 struct dp_diag *diag);
/** dp_process_look() - what an attach looks at before it touches anything. Return:
 *  as dp_process_attach(). */
int dp_process_look(struct dp_process *proc, pid_t pid, struct dp_diag *diag);
int dp_process_open_mem(struct dp_process *proc, struct dp_diag *diag);

/* check: what cannot be handled is refused before it is touched. */

/** dp_check_linker() - the dynamic linker of program or script @path, as it names it.
 *  Return: 0; -ENOENT it has none that can be read. */
int dp_check_linker(const char *path, char *linker, size_t size);
int dp_check_program(const char *path, const char *shown, struct dp_diag *diag);
int dp_check_process(struct dp_process *proc, struct dp_diag *diag);

/* launch: a program from its start. */

/** dp_launch_again() - the same of one that is stopped since it executed a program.
 *  Return: as dp_process_attach(). */
int dp_launch_again(struct dp_process *proc, struct dp_diag *diag);

/* install: an agent in a process. */

/** dp_mapping_of() - where what an engine is built from is, in it and here */
struct dp_mapping dp_mapping_of(const struct dp_process *proc);

/* live: the agent has the signals and calls that it needs. */

/** dp_live_go() - as dp_process_install(), whose step it is */
int dp_live_go(struct dp_process *proc, struct dp_diag *diag);

/* arm: probes written into text, and taken out of it. */

/** dp_arm_fn - dp_engine_arm() or dp_engine_apply() */
typedef int dp_arm_fn(struct dp_engine *engine, struct dp_target *target,
		      u64 *bad);
/** dp_arm_write() - have that done while it may be. Return: 0 or a negative errno with words. */
int dp_arm_write(struct dp_process *proc, dp_arm_fn *write,
		 struct dp_diag *diag);

/* leave: take an agent out, the tool's own or one that a dead tool left. */

int dp_leave(struct dp_process *proc, struct dp_view *view,
	     struct dp_diag *diag);
/** dp_unmap() - the agent and all its pools, whatever there is of them */
int dp_unmap(struct dp_process *proc, struct dp_remote *remote);

/** dp_process_let_go() - one that is held runs */
void dp_process_let_go(struct dp_process *proc);

/* recover: what a tool that was ended left in a process. Context: tool process; may sleep. */

/** dp_recover_needed() - is anything of ours in one that has just been looked at? */
bool dp_recover_needed(const struct dp_process *proc);
int dp_recover(struct dp_process *proc, struct dp_diag *diag);
/** dp_arena_load() - copy of the arena found in a process. Return: 0; -ENOENT. */
int dp_arena_load(const struct dp_process *proc, void **arena, size_t *size,
		  u64 *addr);
/** dp_recover_taken() - does a tool that lives probe it, with what is in there?
 *  Return: true, with words. */
bool dp_recover_taken(const struct dp_process *proc, struct dp_diag *diag);

/* alive: how a target finds out that the tool has ended. Context: the tool's thread. */

/** dp_alive_enter() - from now on this arena says when the tool has ended */
void dp_alive_enter(struct dp_arena_control *control);
/** dp_alive_leave() - before it is unmapped here */
void dp_alive_leave(struct dp_arena_control *control);

/* linker: the thread for which the tool looks at libraries. Context: tool process. */

/** dp_linker_waits() - is it this one, and does it wait, or is it about to? */
bool dp_linker_waits(const struct dp_process *proc, const struct dp_thread *t);
/** dp_linker_home() - send it to where it has told of them, and will again. Return: 0;
 *  -ESRCH */
int dp_linker_home(struct dp_process *proc);

/**
 * dp_linker_hold() - from now on no library is unmapped before dp_linker_release(), if the
 * linker's probe is armed; but see there for how long
 */
void dp_linker_hold(struct dp_process *proc);

/** dp_linker_release() - who waits goes on when it is answered: see dp_process_asked() */
void dp_linker_release(const struct dp_process *proc);

/* attach_other: what a process has when the agent in it is a library's: proc/attach_other.h. */

/** struct dp_attached_other - what there is besides the agent
 *  @ours, @size: memory of dp_attach_other_map() */
struct dp_attached_other {
	struct dp_engine *engine;
	struct dp_diag *diag; /* of the call that is being made */
	void *ours[DP_MAX_POOLS];
	u64 size[DP_MAX_POOLS];
	u32 nr;
	bool quiesces; /* jumps are written while nobody runs */
};

#endif
