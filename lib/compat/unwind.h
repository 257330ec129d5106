/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind: from a frame to the one that called it.
 *
 * By the unwind information in the objects' files (.eh_frame, through its sorted
 * table), and where there is none, by frame pointers. Everything that the program
 * can have spoilt, its stack, is read through the kernel; the files are bounds-
 * checked.
 */
#ifndef DP_LIB_COMPAT_UNWIND_H
#define DP_LIB_COMPAT_UNWIND_H

#include <linux/types.h>
#include "lib/compat/image.h"
#include "sym/unwind/cfi.h"

/* The numbers that unwind information has for registers. */
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
 * struct dp_unwind - a frame, and what was found out on the way
 * @reg: registers, as they are in the frame
 * @exact: reg[DP_UNW_IP] is where it stands, not where a call returns to
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

/** dp_unwind_step() - Return: false: this is the outermost frame, or nobody can
 *  tell. Context: any. */
bool dp_unwind_step(struct dp_unwind *unwind);

#endif
