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
struct dp_hole;
struct dp_process;

/* attach_own: what a process that probes itself needs another process for. Context: helper of
 * the process, or the process itself; may sleep. */

/**
 * dp_process_attach_own() - prepare a process to probe itself
 * @max_sites: addresses that the process will probe at most, in all
 * @base: address of the agent in the process
 *
 * Maps the agent and an arena with room for later probes, and arms the intercepts.
 * The process owns all of it from then on: engine/site/live.h.
 * Return: as dp_process_attach() and dp_process_install().
 */
int dp_process_attach_own(pid_t pid, u32 max_sites, u64 *base,
			  struct dp_diag *diag);

/**
 * dp_patched_add() - note the mapping around @addr, which is about to be probed
 * @pid: 0: our own process
 *
 * A fork child drops its private copies of the noted mappings. Where that would drop
 * changes of others, too, fork children keep the probes.
 */
void dp_patched_add(struct dp_arena_control *control, pid_t pid, u64 addr);

/**
 * dp_process_quiesce() - write jumps while no thread of the process runs
 * @arena: address of the process's arena
 * @ours: the arena of another process, where the caller has it mapped; or NULL
 * @which: numbers of the @n sites, in the order of their addresses
 * @bad: on failure the address concerned, or 0
 * Return: 0 or a negative errno with words; -EAGAIN some thread was always in the way.
 */
int dp_process_quiesce(pid_t pid, u64 arena, void *ours, const u32 *which,
		       u32 n, u64 *bad, struct dp_diag *diag);

/**
 * struct dp_attach_other - how to attach to another process
 * @tool: the process that owns the agent; a child of it may be the caller
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
 * As dp_process_attach_own(), but the tool owns it until dp_process_detach(). If the tool
 * ends before that, the next tool takes it out.
 * Return: as dp_process_attach() and dp_process_install().
 */
int dp_process_attach_other(pid_t pid, const struct dp_attach_other *how,
			    struct dp_process **proc, struct dp_diag *diag);

/** dp_attach_other_base() - address of the agent in the process */
u64 dp_attach_other_base(const struct dp_process *proc);
/** dp_attach_other_pidfd() - pidfd of the process; the object's own */
int dp_attach_other_pidfd(const struct dp_process *proc);

/**
 * dp_attach_other_map() - share memory with the process, between dp_attach_other_begin()
 * and dp_attach_other_end()
 * @ours: where the caller has it; the object's own
 * @there: where the process has it, readable and writable until dp_attach_other_protect();
 *         fork children do not have it
 * Return: 0 or a negative errno.
 */
int dp_attach_other_map(struct dp_process *proc, u64 size, u8 **ours,
			u64 *there);

/**
 * dp_attach_other_protect() - mprotect(2) in the process, of memory it shall not write
 * @bytes: the contents. Where @prot has PROT_EXEC they become a private mapping of the
 *         process, which is not shared with the tool.
 * Return: 0 or a negative errno.
 */
int dp_attach_other_protect(struct dp_process *proc, u64 addr, u64 size,
			    int prot, const void *bytes);

/**
 * dp_attach_other_begin() - text is about to be changed by functions of live.h
 * @target: to be passed to them
 * Return: 0 or a negative errno with words. dp_attach_other_end() has to follow.
 */
int dp_attach_other_begin(struct dp_process *proc, struct dp_target **target,
			  struct dp_diag *diag);
void dp_attach_other_end(struct dp_process *proc);

/* lock: one tool at a time at one process. Context: any process, may sleep for some seconds. */

/** enum dp_lock - what only one tool at a time may do with a process; see lock.c */
enum dp_lock {
	DP_LOCK_AGENT, /* an agent is mapped, in use, or taken out */
	DP_LOCK_ORDER, /* the process is asked to do something: lib/service.h */
	DP_LOCK_GUEST, /* a tool has probes in the engine of a process that probes itself */
};

/**
 * dp_process_lock() - keep other tools out, as long as @proc is open
 *
 * Waits some seconds for another tool, but not for one whose probes are already there.
 * Return: 0; -EBUSY another tool has it; with words.
 */
int dp_process_lock(const struct dp_process *proc, enum dp_lock which,
		    struct dp_diag *diag);

/** dp_process_unlock() - release the lock while @proc stays open */
void dp_process_unlock(const struct dp_process *proc, enum dp_lock which);

/* holes: where nothing is mapped in a process. Context: tool process, or one with libdprobes;
 * may sleep. */

/**
 * dp_holes_find() - list the unmapped parts of an address space
 * @pid: 0: our own process
 * @more: room that the array has for further entries
 * @holes: ascending; freed with dp_port_free()
 * Return: 0; as dp_maps_read(); -ENOMEM.
 */
int dp_holes_find(pid_t pid, size_t more, struct dp_hole **holes, size_t *n);

#endif
