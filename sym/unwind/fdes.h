/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fdes: the code ranges that .eh_frame describes.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every
 * function: tool process; may sleep and allocate.
 */
#ifndef DP_SYM_UNWIND_FDES_H
#define DP_SYM_UNWIND_FDES_H

#include "port_types.h"
#include "sym/unwind/eh.h"

struct dp_fdes {
	struct dp_fde *v; /* ascending */
	size_t n, room;
};

/* -ENOENT: the file has no .eh_frame. */
int dp_eh_load(struct dp_eh *f, const struct dp_elf *elf);
/* Load one FDE and its CIE only; @fde->at becomes its offset in the two. */
int dp_eh_load_one(struct dp_eh *f, const struct dp_elf *elf,
		   struct dp_fde *fde);
void dp_eh_free(struct dp_eh *f);
int dp_fdes_load(struct dp_fdes *fdes, const struct dp_elf *elf);
int dp_fdes_of(struct dp_fdes *fdes, struct dp_eh *f);
const struct dp_fde *dp_fdes_find(const struct dp_fdes *fdes, u64 value);
void dp_fdes_free(struct dp_fdes *fdes);

/*
 * rows: where the return address is, at each instruction of a piece of code.
 *
 * Told by .eh_frame, or derived from the code where no description is.
 */

#define DP_ROW_NO_REG 0xff
#define DP_ROW_LOST 0xfe

/**
 * struct dp_row - where the CFA is, from an address on
 * @start: in addresses of the file
 * @cfa: the CFA is register @reg plus this
 * @reg: by DWARF's numbers, or DP_ROW_NO_REG: the CFA is found in another way, or
 *       DP_ROW_LOST: the CFA is not known
 * @ra: the return address is right below the CFA
 */
struct dp_row {
	u64 start;
	s64 cfa;
	u8 reg;
	bool ra;
};

/** struct dp_rows - rows of one frame description, ascending */
struct dp_rows {
	struct dp_row *v;
	size_t n, room;
};

/* -EILSEQ: the description is not understood. */
int dp_rows_read(struct dp_rows *rows, struct dp_eh *frames,
		 const struct dp_fde *fde);
/* The same without a description. @first: distance from the stack pointer to the CFA
 * where the code begins. */
int dp_rows_derive(struct dp_rows *rows, const u8 *code, u32 len, u64 start,
		   s32 first);
/* The row of @addr. NULL: @addr is before the first row. */
const struct dp_row *dp_rows_at(const struct dp_rows *rows, u64 addr);
void dp_rows_free(struct dp_rows *rows);

#endif
