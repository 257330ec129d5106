/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attach_other: an agent in another process, whose probes come and go.
 *
 * Context of every function: process with libdprobes, one thread at a time per object.
 */
#ifndef DP_PROC_ATTACH_OTHER_H
#define DP_PROC_ATTACH_OTHER_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/site/arm.h"

struct dp_arena_control;
struct dp_diag;
struct dp_engine;
struct dp_hole;
struct dp_process;
struct dp_target;

/*
 * attach_own: a process that probes itself, as far as another one has to help it.
 *
 * Context of every function: helper of the process, or the process itself; may sleep.
 */

/**
 * dp_process_attach_own() - prepare a process to probe itself
 * @max_sites: addresses that it will probe at most, in all
 * @base: address of the agent in it
 *
 * Maps the agent and an arena with room, and arms its intercepts. All of it stays, and
 * is the process's own from then on: engine/site/live.h.
 * Return: as dp_process_attach() and dp_process_install().
 */
int dp_process_attach_own(pid_t pid, u32 max_sites, u64 *base,
			  struct dp_diag *diag);

/**
 * dp_patched_add() - code at @addr is about to be probed
 * @pid: 0: in our own process
 *
 * A fork child gives what is noted back to the page cache; where that would take
 * somebody else's changes along, it has to live with the probes.
 */
void dp_patched_add(struct dp_arena_control *control, pid_t pid, u64 addr);

/**
 * dp_process_quiesce() - write jumps into a process that probes itself, while
 * nobody runs
 * @arena: address of its arena; @ours: and here, where it is another process's; or NULL
 * @which: numbers of the @n sites, in the order of their addresses
 * @bad: on failure the address concerned, or 0
 * Return: 0 or a negative errno with words; -EAGAIN somebody was always in the
 * way.
 */
int dp_process_quiesce(pid_t pid, u64 arena, void *ours, const u32 *which,
		       u32 n, u64 *bad, struct dp_diag *diag);

/**
 * struct dp_attach_other - how an agent is to be in another process
 * @tool: process whose it is: ours, from which a child of it does this
 * @max_sites: addresses that will be probed at most, in all
 * @upcalls: threads that can wait for a handler at once
 */
struct dp_attach_other {
	pid_t tool;
	u32 max_sites, upcalls;
	enum dp_arming arming;
};

/**
 * dp_process_attach_other() - prepare a process for probes that come and go, whose handlers
 * run in the tool
 *
 * As dp_process_attach_own(), but what is there stays the tool's until
 * dp_process_detach(), or until the next one finds that the tool has gone.
 * Return: as dp_process_attach() and dp_process_install().
 */
int dp_process_attach_other(pid_t pid, const struct dp_attach_other *how,
			    struct dp_process **proc, struct dp_diag *diag);

/** dp_attach_other_engine() - its live engine; the object's own */
struct dp_engine *dp_attach_other_engine(const struct dp_process *proc);
/** dp_attach_other_base() - address of the agent in it */
u64 dp_attach_other_base(const struct dp_process *proc);
/** dp_attach_other_pidfd() - the object's own */
int dp_attach_other_pidfd(const struct dp_process *proc);

/**
 * dp_attach_other_map() - memory that both sides have, between dp_attach_other_begin() and
 * dp_attach_other_end()
 * @ours: where it is mapped here; the object's own
 * @there: and in the process; for reading and writing, until dp_attach_other_protect(). Its fork
 *         children do not have it.
 * Return: 0 or a negative errno.
 */
int dp_attach_other_map(struct dp_process *proc, u64 size, u8 **ours,
			u64 *there);

/**
 * dp_attach_other_protect() - mprotect(2) in the process, of a part of that which it shall not write
 * @bytes: what is there. Where @prot has PROT_EXEC the process gets a private copy of them
 *         instead, which is not shared with anybody.
 * Return: 0 or a negative errno.
 */
int dp_attach_other_protect(struct dp_process *proc, u64 addr, u64 size,
			    int prot, const void *bytes);

/** dp_process_threads() - the ids of its threads; @tids is free()d by the caller */
int dp_process_threads(pid_t pid, pid_t **tids, size_t *n);
/** dp_attach_other_ns_pid() - its process id in its own namespace */
u32 dp_attach_other_ns_pid(const struct dp_process *proc);

/**
 * dp_attach_other_begin() - text is about to be changed by functions of live.h
 * @target: for them
 * Return: 0 or a negative errno with words. To be followed by dp_attach_other_end().
 */
int dp_attach_other_begin(struct dp_process *proc, struct dp_target **target,
			  struct dp_diag *diag);
void dp_attach_other_end(struct dp_process *proc);

/*
 * lock: one tool at a time at one process.
 *
 * Context of every function: any process, may sleep for some seconds.
 */

/** enum dp_lock - work at a process that one tool does at a time; see lock.c */
enum dp_lock {
	DP_LOCK_AGENT, /* an agent is put in, is there, or is taken out */
	DP_LOCK_ORDER, /* the process is asked to do something: lib/service.h */
};

/**
 * dp_process_lock() - keep other tools out, as long as @proc is open
 *
 * It waits for some seconds; not for a tool whose probes are there already.
 * Return: 0; -EBUSY another tool has it; with words.
 */
int dp_process_lock(const struct dp_process *proc, enum dp_lock which,
		    struct dp_diag *diag);

/** dp_process_unlock() - before that */
void dp_process_unlock(const struct dp_process *proc, enum dp_lock which);

/*
 * holes: where nothing is mapped in a process.
 *
 * Context of every function: tool process, or one with libdprobes; may sleep.
 */

/**
 * dp_holes_find() - where nothing is mapped
 * @pid: 0: in our own process
 * @more: there is to be room for so many besides
 * @holes: ascending; freed with dp_port_free()
 * Return: 0; as dp_maps_read(); -ENOMEM.
 */
int dp_holes_find(pid_t pid, size_t more, struct dp_hole **holes, size_t *n);

/** dp_nowhere() - an address where nothing is, and nothing will be soon, near @addr; @addr
 *  itself if there is none */
u64 dp_nowhere(pid_t pid, u64 addr);

#endif
