/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * points: where musl makes the calls in which a thread can be cancelled.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_ATTACH_POINTS_H
#define DP_PROC_ATTACH_POINTS_H

#include "port_types.h"

struct dp_hooked;
struct dp_process;
struct dp_span;

/** dp_points_add() - at @addr the number @nr is put where musl's function expects it */
void dp_points_add(struct dp_process *proc, const struct dp_span *span,
		   const u8 *text, u64 addr, u32 nr);
/** dp_points_touched() - are there probes between hook @h and the next one behind it? */
bool dp_points_touched(const struct dp_process *proc,
		       const struct dp_hooked *h);

/**
 * dp_points_at() - the hook that a call went through
 * @pc, @sp: of a thread at such a call or back from it; @below: what @sp was there
 * Return: NULL if it is at none that was hooked.
 */
const struct dp_hooked *dp_points_at(const struct dp_process *proc, u64 pc,
				     u64 sp, u64 *below);

/** dp_points_between() - is a thread on the way to such a call, or back? */
bool dp_points_between(const struct dp_process *proc, u64 pc, u64 sp);

#endif
