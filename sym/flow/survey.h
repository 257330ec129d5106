/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * survey: what is gathered while a code map is drawn.
 *
 * Addresses are those of the file. Order of work: text (bytes, empty bitmaps)
 * -> pieces (where functions are) -> flow (decode them), gaps (what lies
 * between), tables, pointers, lsda (further ways in) -> gaps again (padding).
 *
 * Context of every function: tool process; may allocate.
 */
#ifndef DP_SYM_FLOW_SURVEY_H
#define DP_SYM_FLOW_SURVEY_H

#include "port_types.h"

struct dp_code_map;
struct dp_dynsym;
struct dp_elf;
struct dp_fdes;
struct dp_piece;
struct dp_symtab;
struct dp_text;
struct insn_facts;

/** struct dp_ref - a piece takes the address of something that is not code */
struct dp_ref {
	u64 addr;
	u32 piece;
};

/** struct dp_edge - a piece jumps into the middle of another */
struct dp_edge {
	u32 from, to;
};

/** struct dp_window - the part of the file's image that was last looked at */
struct dp_window {
	const struct dp_elf *elf;
	u64 start;
	size_t len;
	u8 bytes[16384];
};

/**
 * struct dp_survey - what is gathered while a map is drawn
 * @absolute: the program is not relocated: code may hold addresses in 32 bits,
 *            and data holds them without a relocation that tells
 * @go: made by Go, whose functions are resumed at calls: recover() goes on at
 *      that of runtime.deferreturn, a new goroutine returns to the one in
 *      runtime.goexit
 */
struct dp_survey {
	struct dp_code_map *map;
	const struct dp_elf *elf;
	const struct dp_fdes *fdes;
	const struct dp_symtab *symtab;
	const struct dp_dynsym *dynsym;
	bool absolute, go;
	u64 data_start, data_end;
	struct dp_ref *ref;
	size_t n_ref, room_ref;
	struct dp_edge *edge;
	size_t n_edge, room_edge;
	u64 budget; /* entries that may still be read from tables */
	struct dp_window window;
};

/*
 * Draw a map of @elf; the tables may be empty, the map is the caller's. Knows
 * nothing of processes.
 */
int dp_survey_run(const struct dp_elf *elf, const struct dp_fdes *fdes,
		  const struct dp_symtab *symtab,
		  const struct dp_dynsym *dynsym, u64 bias,
		  struct dp_code_map **map);
int dp_flow_follow(struct dp_survey *s);
void dp_gaps_scan(struct dp_survey *s);
/* Every byte of [start, end) is taken for the start of an instruction. */
void dp_gaps_scan_bytes(struct dp_survey *s, const struct dp_text *t, u64 start,
			u64 end);
int dp_gaps_find_padding(struct dp_survey *s);
bool dp_gaps_is_nop(const u8 *code, const struct insn_facts *f);
bool dp_gaps_is_nops(const u8 *code, u64 len);
/* Tables of offsets from @base, which lies in @piece: its refs from @ref on. */
void dp_tables_pair(struct dp_survey *s, struct dp_piece *piece, u64 base,
		    size_t ref);
int dp_tables_read(struct dp_survey *s);
int dp_pointers_mark(struct dp_survey *s);
int dp_lsda_mark(struct dp_survey *s);

#endif
