/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * host: the engine of a process that probes itself, as a tool sees it.
 *
 * Its tables are private memory of the process, and are copied. Where records are to come,
 * the part with rings, tracked calls and variables becomes memory that the two share.
 *
 * Context of every function: tool process, one thread at a time per object; may sleep.
 */
#ifndef DP_PROC_HOST_H
#define DP_PROC_HOST_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/layout/base.h"
#include "engine/insn/region.h"

struct dp_diag;
struct dp_engine;
struct dp_host;
struct dp_process;

/** dp_host_find() - does the process probe itself?
 *  Return: 1 it does; 0; -EBUSY with words, by another version or build. */
int dp_host_find(pid_t pid, struct dp_diag *diag);

/**
 * dp_host_open() - look at the engine of a process
 * @proc: of dp_process_open(); stays the caller's
 * @engine: filled by dp_host_look(); stays the caller's
 * Return: 0; -ENOENT it has none; -EBUSY; -EBADMSG; -ENOMEM; with words.
 */
int dp_host_open(struct dp_process *proc, struct dp_engine *engine,
		 struct dp_host **host, struct dp_diag *diag);
/** dp_host_look() - copy what has changed. Return: 0; -EBADMSG; the process may have ended. */
int dp_host_look(struct dp_host *host);
/**
 * dp_host_share() - give the process new memory for records, tracked calls and variables
 *
 * All of it is zeros. The process keeps it when the tool has ended. Records can be read
 * from then on: dp_engine_records().
 * Return: 0 or a negative errno with words.
 */
int dp_host_share(struct dp_host *host, struct dp_diag *diag);
void dp_host_close(struct dp_host *host);

/** dp_host_base() - where its agent begins, for dp_semaphores_set() */
u64 dp_host_base(const struct dp_host *host);
/** dp_host_lower() - lower the semaphores that a tool has raised in a process that probes itself */
void dp_host_lower(struct dp_process *proc);

/** struct dp_host_patch - bytes that the engine has written over: @len from @addr on */
struct dp_host_patch {
	u64 addr;
	u8 orig[DP_JUMP_SIZE], len;
};

/** dp_host_patches() - all of them as of the last look, ascending; @list is free()d by the
 *  caller. Return: 0 or -ENOMEM. */
int dp_host_patches(const struct dp_host *host, struct dp_host_patch **list,
		    size_t *n);

#endif
