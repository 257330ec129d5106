/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* frame: where the frame of a function is at an address of its code, by .eh_frame. */
#ifndef DP_TYPES_FRAME_H
#define DP_TYPES_FRAME_H

#include "sym/unwind/fdes.h"

struct dp_elf;

/** struct dp_frame - @pc: the address, in the file; @rows: of the code around it, none if nothing
 *  is known */
struct dp_frame {
	u64 pc;
	struct dp_rows rows;
};

/** dp_frame_load() - find the frame of @pc, an address in the file @elf
 *  Return: 0, also if nothing is known; -ENOMEM and others of reading. */
int dp_frame_load(struct dp_frame *f, const struct dp_elf *elf, u64 pc);
void dp_frame_free(struct dp_frame *f);

/** dp_frame_cfa() - the caller's stack pointer at @pc is *@reg + *@offset. Return: false: that is
 *  not known */
bool dp_frame_cfa(const struct dp_frame *f, u8 *reg, s64 *offset);
/**
 * dp_frame_is_built() - does register @reg have at the address what it has all through the
 * function's body?
 * @built: where the body begins, in the file; 0: it is not known
 */
bool dp_frame_is_built(const struct dp_frame *f, u8 reg, u64 built);

#endif
