/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reside: a process that probes itself, as far as another one has to help it.
 *
 * Context of every function: helper of the process, or the process itself; may sleep.
 */
#ifndef DP_PROC_RESIDE_H
#define DP_PROC_RESIDE_H

#include <sys/types.h>
#include "port_types.h"

struct dp_arena_control;
struct dp_diag;

/**
 * dp_process_reside() - prepare a process to probe itself
 * @max_sites: addresses that it will probe at most, in all
 * @base: address of the agent in it
 *
 * Maps the agent and an arena with room, and arms its hooks. All of it stays, and
 * is the process's own from then on: engine/site/live.h.
 * Return: as dp_process_attach() and dp_process_install().
 */
int dp_process_reside(pid_t pid, u32 max_sites, u64 *base,
		      struct dp_diag *diag);

/**
 * dp_texts_add() - code at @addr is about to be probed
 * @pid: 0: in our own process
 *
 * A fork child gives what is noted back to the page cache; where that would take
 * somebody else's changes along, it has to live with the probes.
 */
void dp_texts_add(struct dp_arena_control *control, pid_t pid, u64 addr);

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
		       u32 n, u64 *bad,
		       struct dp_diag *diag);

#endif
