/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: what unwinders have to know of a thread in generated code.
 *
 * At each instruction of a detour or copy the thread stands for one instruction of the
 * program. The program's stack pointer is so many bytes above the thread's, and registers
 * that the code uses may be saved in between, below the red zone.
 *
 *   the program's sp ─► ┌──────────────────────┐
 *                       │ red zone             │ DP_RED_ZONE_SIZE
 *                       ├──────────────────────┤
 *                       │ slot 1               │ what was pushed first
 *                       │ slot 2               │
 *      the thread's ─► └──────────────────────┘ and so on
 */
#ifndef DP_UNWIND_H
#define DP_UNWIND_H

#include "arch/arch.h"

/* A state: the depth in the low bits, the instruction of the region in the high ones. */
#define DP_UNWIND_DEPTH 0x1f
#define DP_UNWIND_INSN 5
/* Other instructions than the region's: the one behind it, and the ret of a duplicate */
#define DP_UNWIND_BEHIND 6
#define DP_UNWIND_DUPLICATE 7
/* The jump of an island stands for the first instruction of where it leads. */
#define DP_UNWIND_ISLAND 0xff

/* Depths below this are words of a call's copy. From here on the red zone is skipped, and up to three
 * words are pushed that are no registers. */
#define DP_DEPTH_SKIPPED 3
/* From here on, slots have registers: as many as the depth is above. */
#define DP_DEPTH_SAVED 6

/* What calls a followed handler, for the first instruction, has a frame that is so deep. No region has
 * a sixth instruction. On the handlers' stack the frame's address is in the register of a call's second
 * argument, or in struct dp_stack, which is on top: a signal's handler may change that one until the
 * thread is busy, and again afterwards. In a frame that is unsaved, no slot has its register yet. */
#define DP_UNWIND_FRAME 29
#define DP_UNWIND_FRAMES 5
#define DP_UNWIND_IN_ARGUMENT (DP_UNWIND_FRAMES << DP_UNWIND_INSN)
#define DP_UNWIND_IN_STACK (DP_UNWIND_IN_ARGUMENT + 1)
#define DP_UNWIND_UNSAVED (DP_UNWIND_IN_ARGUMENT + 2)

/* A detour has no more notes. Registers, by their numbers */
#define DP_UNWIND_NOTES 224
#define DP_UNWIND_REGS 16

/** struct dp_unwind_note - the state from offset @at on; @more: words of depth that are not in @state,
 *  which only what programs keep needs */
struct dp_unwind_note {
	u16 at;
	u8 state, more;
};

/**
 * struct dp_unwind_states - the states of generated code
 * @slot: where the code ahead of the first instruction saves each register; 0: it does not
 * @nr: notes, in the order of offsets, in @v
 */
struct dp_unwind_states {
	u8 slot[DP_UNWIND_REGS];
	u8 nr;
	struct dp_unwind_note v[DP_UNWIND_NOTES];
};

/** dp_copy_unwind() - the states of the copy of an instruction of that class; @body: of its bytes, those
 *  ahead of the jump back */
void dp_copy_unwind(struct dp_unwind_states *states, u8 class, u8 body);

static inline u32 dp_unwind_depth(u8 state)
{
	return state >> DP_UNWIND_INSN == DP_UNWIND_FRAMES ?
		       DP_UNWIND_FRAME :
		       state & DP_UNWIND_DEPTH;
}

/** dp_unwind_insn() - the instruction, or one of DP_UNWIND_* */
static inline u8 dp_unwind_insn(u8 state)
{
	u8 insn = (u8)(state >> DP_UNWIND_INSN);

	return insn == DP_UNWIND_FRAMES ? 0 : insn;
}

/** dp_unwind_sp() - bytes from the thread's stack pointer, or from its frame if that is elsewhere, to
 *  the program's stack pointer in a state */
static inline u32 dp_unwind_sp(u8 state)
{
	u32 depth = dp_unwind_depth(state);

	if (state == DP_UNWIND_ISLAND)
		return 0;
	if (depth < DP_DEPTH_SKIPPED)
		return 8 * depth;
	if (depth <= DP_DEPTH_SAVED)
		return DP_RED_ZONE_SIZE + 8 * (depth - DP_DEPTH_SKIPPED);
	return DP_RED_ZONE_SIZE + 8 * (depth - DP_DEPTH_SAVED);
}

/** dp_unwind_saved() - slots that have registers in a state */
static inline u32 dp_unwind_saved(u8 state)
{
	u32 depth = dp_unwind_depth(state);

	if (state == DP_UNWIND_ISLAND || state == DP_UNWIND_UNSAVED ||
	    depth <= DP_DEPTH_SAVED)
		return 0;
	return depth - DP_DEPTH_SAVED;
}

/** dp_unwind_copy() - copy as many notes as there are */
static inline void dp_unwind_copy(struct dp_unwind_states *to,
				  const struct dp_unwind_states *from)
{
	u32 i;

	for (i = 0; i < DP_UNWIND_REGS; i++)
		to->slot[i] = from->slot[i];
	to->nr = from->nr;
	for (i = 0; i < from->nr; i++)
		to->v[i] = from->v[i];
}

/** dp_unwind_note_at() - the last of @nr notes that begins at an offset or before; NULL: there is none */
static inline const struct dp_unwind_note *
dp_unwind_note_at(const struct dp_unwind_note *v, u32 nr, u32 at)
{
	u32 i = 0;

	while (i < nr && v[i].at <= at)
		i++;
	return i ? &v[i - 1] : NULL;
}

#endif
