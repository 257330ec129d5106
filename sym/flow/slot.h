/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slot: where the return address is, at each instruction of a fragment of code.
 *
 * Told by .eh_frame, or found out from the code where nothing is told. Addresses are
 * those of the file.
 */
#ifndef DP_SYM_FLOW_SLOT_H
#define DP_SYM_FLOW_SLOT_H

#include "port_types.h"
#include "sym/elf/relocs.h"
#include "sym/flow/map.h"
#include "sym/unwind/fdes.h"

/** struct dp_exits - what it takes to look at the functions of a module */
struct dp_exits {
	const struct dp_code_map *map;
	u8 *code[DP_TEXT_MAX]; /* of each segment of the map */
	struct dp_fdes fdes;
	struct dp_eh frames;
	struct dp_relocs stubs; /* of these, the PLTs only */
	struct dp_rows rows,
		other; /* of the fragment, of one asked for besides */
};

/* The same as dp_exits_open(), of a file. */
int dp_exits_load(const struct dp_elf *elf, const struct dp_code_map *map,
		  struct dp_exits **exits);

/* Fills in @ex->rows. -EILSEQ: not known; -ENOMEM. */
int dp_exits_rows(struct dp_exits *ex, const struct dp_fragment *p);
/* The stack pointer is at the return address. */
bool dp_row_is_home(const struct dp_row *row);

#define DP_PARTS_MAX 64

/* The fragments of the function at @entry, its own first; those that were found where
 * its exits are not known. -ENOENT, -ENOMEM. */
int dp_exits_parts(struct dp_exits *ex, u64 entry, u32 part[DP_PARTS_MAX],
		   u32 *n);
const u8 *dp_exits_code(const struct dp_exits *ex, const struct dp_fragment *p);
/* Do calls arrive at @addr? It is known by name, or as an address. */
bool dp_is_entry(struct dp_exits *ex, u64 addr);
/* The first such address in [start, end), or @end. */
u64 dp_next_entry(struct dp_exits *ex, u64 start, u64 end);
/* Is the stack there as behind a call? Where nothing is told, it may be. */
bool dp_starts_home(struct dp_exits *ex, u64 addr);
/* Does control fall through all of [start, end)? */
bool dp_exits_nops(const struct dp_exits *ex, u64 start, u64 end);
/* In a procedure linkage table? */
bool dp_is_stub(const struct dp_exits *ex, u64 addr);

#endif
