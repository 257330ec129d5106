/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slot: where the return address is, at each instruction of a fragment of code.
 *
 * Told by .eh_frame, or derived from the code where no description is. Addresses are
 * those of the file.
 */
#ifndef DP_SYM_FLOW_SLOT_H
#define DP_SYM_FLOW_SLOT_H

#include "port_types.h"
#include "sym/elf/relocs.h"
#include "sym/flow/map.h"
#include "sym/unwind/fdes.h"

/** struct dp_exits - what is read of a module to look at its functions */
struct dp_exits {
	const struct dp_code_map *map;
	u8 *code[DP_TEXT_MAX]; /* of each segment of the map */
	struct dp_fdes fdes;
	struct dp_eh frames;
	struct dp_relocs stubs; /* of these, the PLTs only */
	struct dp_rows rows, other; /* of the fragment; of a second one */
};

/* The same as dp_exits_open(), for a file. */
int dp_exits_load(const struct dp_elf *elf, const struct dp_code_map *map,
		  struct dp_exits **exits);

/* The same as dp_entry_reads_return_address(), for a file. *at: the instruction. */
int dp_fdes_read_return_address(const struct dp_fdes *fdes,
				const struct dp_elf *elf, u64 entry, u64 *at);

/* Fills in @rows. -EILSEQ: they are not known; -ENOMEM. */
int dp_exits_rows(struct dp_exits *ex, const struct dp_fragment *p,
		  struct dp_rows *rows);
/* Is the stack pointer at the return address? */
bool dp_row_is_home(const struct dp_row *row);

const u8 *dp_exits_code(const struct dp_exits *ex, const struct dp_fragment *p);
/* Do calls arrive at @addr? True if @addr is named and the stack there is as at a call. */
bool dp_is_entry(struct dp_exits *ex, u64 addr);
/* The first entry in [start, end), or @end. */
u64 dp_next_entry(struct dp_exits *ex, u64 start, u64 end);
/* Is the stack at @addr as behind a call? True where no description tells. */
bool dp_starts_home(struct dp_exits *ex, u64 addr);
/* Does [start, end) hold nothing but nops? */
bool dp_exits_nops(const struct dp_exits *ex, u64 start, u64 end);
/* Is @addr in a procedure linkage table? */
bool dp_is_stub(const struct dp_exits *ex, u64 addr);

#endif
