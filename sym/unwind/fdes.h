/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fdes: the code ranges that .eh_frame describes.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every function:
 * tool process; may sleep and allocate.
 */
#ifndef DP_SYM_UNWIND_FDES_H
#define DP_SYM_UNWIND_FDES_H

#include "port_types.h"
#include "sym/unwind/cursor.h"

struct dp_elf;

#define DP_LSDA_BAD (~0ull)

/**
 * struct dp_fde - code that one frame description covers, as in the file
 * @at: where the description is in .eh_frame
 * @lsda: its exception table, 0 if it has none, DP_LSDA_BAD if it has one that
 *        cannot be found
 * @signal: of a signal's return code: begins one byte before it, so that an
 *          unwinder which looks up the address of a call finds it
 */
struct dp_fde {
	u64 start, end;
	u64 lsda;
	u64 at : 63;
	u64 signal : 1;
};

struct dp_fdes {
	struct dp_fde *v; /* ascending */
	size_t n, room;
};

/**
 * struct dp_eh - .eh_frame, and the CIE in it that was read last
 * @vaddr: address of @data[0]
 * @enc, @lsda_enc: how its FDEs write pointers, and where their landing pads are
 *                  told
 * @sized: they have augmentation data
 * @initial: its rules, which each of its FDEs begins with
 */
struct dp_eh {
	const u8 *data;
	u64 len;
	u64 vaddr;
	u64 cie;
	struct dp_cursor initial;
	u64 code_align;
	s64 data_align;
	u64 ra;
	u8 enc, lsda_enc;
	bool sized, signal, have_cie;
};

/* -ENOENT: the file has none. */
int dp_eh_load(struct dp_eh *f, const struct dp_elf *elf);
/* One FDE and its CIE only; @fde->at becomes its place among the two. */
int dp_eh_load_one(struct dp_eh *f, const struct dp_elf *elf,
		   struct dp_fde *fde);
void dp_eh_free(struct dp_eh *f);
/* The rules of an FDE in the same file; its CIE becomes the one read last. */
bool dp_eh_rules(struct dp_eh *f, const struct dp_fde *fde,
		 struct dp_cursor *rules);
int dp_fdes_load(struct dp_fdes *fdes, const struct dp_elf *elf);
const struct dp_fde *dp_fdes_find(const struct dp_fdes *fdes, u64 value);
void dp_fdes_free(struct dp_fdes *fdes);

#endif
