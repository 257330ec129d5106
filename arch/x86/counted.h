/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counted: the beginning, or the end, of a call, counted by the detour itself.
 *
 *     save; block ─► instance ─► counters of this CPU ─► what is to be done at the site
 *          ─► in doubt ─► count: committed ─► it is live (or free); restore
 *     …
 *     behind all else: where it leaves the call to that code, where an interruption leads, its
 *     descriptor, and its literals
 *
 * It does what arch/x86/exits.S does, in the same order, and without its branches: what is there
 * looked up is here a constant.
 */
#ifndef DP_X86_COUNTED_H
#define DP_X86_COUNTED_H

#include "arch/x86/emit.h"
#include "engine/insn/detour.h"

/* Ways to the shared code */
#define DP_COUNTED_WAYS 7

/**
 * struct dp_counted - one of them, while the detour is encoded. Offsets
 * @other: of displacements, @others
 * @descriptor, @wipe, @table, @blocks, @entry, @value: of the displacements of what is in its literals
 * @again: where it starts; @first, @committed: what the kernel restarts
 * @end: where the instruction comes
 */
struct dp_counted {
	unsigned int other[DP_COUNTED_WAYS], others;
	unsigned int descriptor, wipe, table, blocks, entry, value;
	unsigned int again, first, committed, end;
};

/** dp_counted_put() - encode one, ahead of instruction @i
 *  dp_counted_cold() - and what stands behind all else */
void dp_counted_put(struct dp_out *o, const struct dp_detour_spec *spec, int i,
		    struct dp_counted *counted);
void dp_counted_cold(struct dp_out *o, const struct dp_detour_spec *spec, int i,
		     const struct dp_counted *counted);

#endif
