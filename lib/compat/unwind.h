/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: step from a frame to its caller's.
 *
 * Unwind information comes from the objects' files (.eh_frame, through its sorted table).
 * Code without it is unwound by frame pointers. The stack, which the program can have
 * corrupted, is read through the kernel. Reads of the files are bounds-checked.
 */
#ifndef DP_LIB_COMPAT_UNWIND_H
#define DP_LIB_COMPAT_UNWIND_H

#include <linux/types.h>
#include "lib/compat/image.h"
#include "sym/unwind/cfi.h"

/* Register numbers of unwind information. */
enum {
	DP_UNW_BX = 3,
	DP_UNW_BP = 6,
	DP_UNW_SP = 7,
	DP_UNW_IP = 16,
	DP_UNW_N = DP_CFI_REGS
};

struct dp_unwind_place {
	unsigned long start, end, bias;
	const struct dp_image *image;
};

/**
 * struct dp_unwind - a frame, and caches of places and stack
 * @reg: registers, as they are in the frame
 * @exact: reg[DP_UNW_IP] is the frame's instruction, not a return address
 */
struct dp_unwind {
	unsigned long reg[DP_UNW_N];
	bool exact;
	unsigned int place_next;
	struct dp_unwind_place places[4];
	unsigned long window_at;
	size_t window_size;
	u8 window[512];
};

/** dp_unwind_step() - step to the caller's frame. Return: false: this is the outermost
 *  frame, or the caller is not known. Context: any. */
bool dp_unwind_step(struct dp_unwind *unwind);

#endif
