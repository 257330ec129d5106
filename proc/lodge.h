/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lodge: an agent in another process, whose probes come and go.
 *
 * Context of every function: process with libdprobes, one thread at a time per object.
 */
#ifndef DP_PROC_LODGE_H
#define DP_PROC_LODGE_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/text/arm.h"

struct dp_diag;
struct dp_engine;
struct dp_process;
struct dp_target;

/**
 * struct dp_lodging - how an agent is to be in another process
 * @tool: process whose it is: ours, from which a child of it does this
 * @max_sites: addresses that will be probed at most, in all
 * @asks: threads that can wait for a handler at once
 */
struct dp_lodging {
	pid_t tool;
	u32 max_sites, asks;
	enum dp_arming arming;
};

/**
 * dp_process_lodge() - prepare a process for probes that come and go, whose handlers
 * run in the tool
 *
 * As dp_process_reside(), but what is there stays the tool's until
 * dp_process_detach(), or until the next one finds that the tool has gone.
 * Return: as dp_process_attach() and dp_process_install().
 */
int dp_process_lodge(pid_t pid, const struct dp_lodging *how,
		     struct dp_process **proc, struct dp_diag *diag);

/** dp_lodge_engine() - its live engine; the object's own */
struct dp_engine *dp_lodge_engine(const struct dp_process *proc);
/** dp_lodge_base() - address of the agent in it */
u64 dp_lodge_base(const struct dp_process *proc);
/** dp_lodge_pidfd() - the object's own */
int dp_lodge_pidfd(const struct dp_process *proc);

/**
 * dp_lodge_map() - memory that both sides have, between dp_lodge_begin() and
 * dp_lodge_end()
 * @ours: where it is mapped here; the object's own
 * @there: and in the process; for reading and writing, until dp_lodge_protect(). Its fork
 *         children do not have it.
 * Return: 0 or a negative errno.
 */
int dp_lodge_map(struct dp_process *proc, u64 size, u8 **ours, u64 *there);

/**
 * dp_lodge_protect() - mprotect(2) in the process, of a part of that which it shall not write
 * @bytes: what is there. Where @prot has PROT_EXEC the process gets a private copy of them
 *         instead, which is not shared with anybody.
 * Return: 0 or a negative errno.
 */
int dp_lodge_protect(struct dp_process *proc, u64 addr, u64 size, int prot,
		     const void *bytes);

/** dp_process_threads() - the ids of its threads; @tids is free()d by the caller */
int dp_process_threads(pid_t pid, pid_t **tids, size_t *n);
/** dp_lodge_ns_pid() - its process id in its own namespace */
u32 dp_lodge_ns_pid(const struct dp_process *proc);

/**
 * dp_lodge_begin() - text is about to be changed by functions of live.h
 * @target: for them
 * Return: 0 or a negative errno with words. To be followed by dp_lodge_end().
 */
int dp_lodge_begin(struct dp_process *proc, struct dp_target **target,
		   struct dp_diag *diag);
void dp_lodge_end(struct dp_process *proc);

#endif
