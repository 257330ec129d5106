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
#include "sym/unwind/eh.h"

struct dp_elf;

struct dp_fdes {
	struct dp_fde *v; /* ascending */
	size_t n, room;
};

/* -ENOENT: the file has none. */
int dp_eh_load(struct dp_eh *f, const struct dp_elf *elf);
/* One FDE and its CIE only; @fde->at becomes its place among the two. */
int dp_eh_load_one(struct dp_eh *f, const struct dp_elf *elf,
		   struct dp_fde *fde);
void dp_eh_free(struct dp_eh *f);
int dp_fdes_load(struct dp_fdes *fdes, const struct dp_elf *elf);
const struct dp_fde *dp_fdes_find(const struct dp_fdes *fdes, u64 value);
void dp_fdes_free(struct dp_fdes *fdes);

#endif
