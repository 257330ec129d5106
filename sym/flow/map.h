/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * map: the contents of a code map, for the files that draw or read it.
 *
 * Addresses are those of the file. Context of every function: tool process; may allocate.
 */
#ifndef DP_SYM_FLOW_MAP_H
#define DP_SYM_FLOW_MAP_H

#include "port_types.h"

struct dp_diag;
struct dp_dynsym;
struct dp_elf;
struct dp_fdes;
struct dp_module;
struct dp_modules;
struct dp_symtab;
struct insn_facts;

#define DP_TEXT_MAX 16

/**
 * struct dp_text - one executable segment
 * @code: its bytes, present only while the map is drawn
 * @target: a bit for each byte: control may arrive here
 * @insn: a bit for each byte: an instruction begins here
 * @named: a bit for each byte: a call, a symbol or an address in code or data names
 *         it, not only a jump or a frame description
 */
struct dp_text {
	u64 start, end;
	u8 *code;
	u64 *target, *insn, *named;
};

/* What is known of a fragment's jumps and addresses. */
enum dp_fragment_flag {
	DP_FRAGMENT_FDE = 1, /* known by its frame description, not by a name */
	DP_FRAGMENT_COMPUTED = 2, /* jumps to an address that it computes */
	DP_FRAGMENT_UNKNOWN = 4, /* jumps to a register set out of sight */
	DP_FRAGMENT_INSIDE = 8, /* takes an address inside itself */
	DP_FRAGMENT_TABLE = 16, /* has a table of offsets from the table */
	DP_FRAGMENT_PAIR = 32, /* has a table of offsets from its inside */
	DP_FRAGMENT_JUMP = 64, /* the targets of a jump are not known */
	DP_FRAGMENT_LOST = 128, /* not understood for another reason */
};

/** struct dp_fragment - a range of code: a function, or the part of one description */
struct dp_fragment {
	u64 start;
	u32 len;
	u8 flags;
};

/** struct dp_flow_edge - a way from one fragment into another; @at is one end of it */
struct dp_flow_edge {
	u64 at, other;
};

/** struct dp_flow_edges - a list of edges, ascending by @at */
struct dp_flow_edges {
	struct dp_flow_edge *v;
	size_t n, room;
};

/**
 * struct dp_code_map
 * @jump: direct jumps out of fragments, and falls out of their ends, at their targets;
 *        the other end is somewhere in the fragment
 * @hidden: ways that no instruction shows: landing pads, entries of jump tables that
 *          lead out of the function; at the start of the fragment that they leave
 * @inner: indirect jumps by tables of whole addresses, ascending
 */
struct dp_code_map {
	u64 bias;
	struct dp_text text[DP_TEXT_MAX];
	size_t n_text;
	struct dp_fragment *fragment; /* ascending, without overlap */
	size_t n_fragment, room_fragment;
	struct dp_flow_edges jump, hidden;
	u64 *inner;
	size_t n_inner, room_inner;
};

/*
 * survey: the state of drawing a code map.
 *
 * Order of work: text (bytes, empty bitmaps) -> fragments (where functions are)
 * -> flow (decode them), padding (what lies between), tables, pointers, lsda
 * (further ways in).
 */

/** struct dp_ref - an address of data that a fragment takes */
struct dp_ref {
	u64 addr;
	u32 fragment;
};

/** struct dp_edge - a jump from one fragment into the middle of another */
struct dp_edge {
	u32 from, to;
};

/** struct dp_window - the part of the file that was read last */
struct dp_window {
	const struct dp_elf *elf;
	u64 start;
	size_t len;
	u8 bytes[16384];
};

/**
 * struct dp_survey - the state of drawing a code map
 * @absolute: the program is not relocated: code may hold addresses in 32 bits,
 *            and data holds them without a relocation that tells
 * @go: made by Go, whose functions are resumed at calls: recover() resumes at the
 *      call of runtime.deferreturn, and a new goroutine returns to the call in
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
 * Draw a map of @elf; the tables may be empty, and the caller closes the map. Knows
 * nothing of processes.
 */
int dp_survey_run(const struct dp_elf *elf, const struct dp_fdes *fdes,
		  const struct dp_symtab *symtab,
		  const struct dp_dynsym *dynsym, u64 bias,
		  struct dp_code_map **map);
/* Set @diag for an error of dp_code_map_open(). Return: @err */
int dp_code_map_say(const struct dp_modules *mods, const struct dp_module *m,
		    int err, struct dp_diag *diag);
int dp_flow_walk(struct dp_survey *s);
void dp_padding_scan(struct dp_survey *s);
/* Scan [start, end) as if an instruction began at every byte. */
void dp_padding_scan_bytes(struct dp_survey *s, const struct dp_text *t,
			   u64 start, u64 end);
bool dp_padding_is_nop(const u8 *code, const struct insn_facts *f);
bool dp_padding_is_nops(const u8 *code, u64 len);
/* Tables of offsets from @base, which lies in @fragment, among the refs from @ref on. */
void dp_tables_pair(struct dp_survey *s, struct dp_fragment *fragment, u64 base,
		    size_t ref);
int dp_tables_read(struct dp_survey *s);
int dp_pointers_mark(struct dp_survey *s);
int dp_lsda_mark(struct dp_survey *s);

/* text: the executable segments of a file, and three bits for each byte. */

int dp_text_load(struct dp_survey *s);
void dp_text_drop_code(struct dp_code_map *map);
struct dp_text *dp_text_find(const struct dp_code_map *map, u64 addr);
/* Mark @addr as a target: the first of a jump only, the second also as named. */
void dp_text_mark_jump(struct dp_code_map *map, u64 addr);
void dp_text_mark(struct dp_code_map *map, u64 addr);
void dp_text_mark_insn(struct dp_text *t, u64 addr);
bool dp_text_is_insn(const struct dp_text *t, u64 addr);
bool dp_text_is_named(const struct dp_code_map *map, u64 addr);
/* The first target in [start, end), or @end. */
u64 dp_text_next(const struct dp_text *t, u64 start, u64 end);
u64 dp_text_next_named(const struct dp_text *t, u64 start, u64 end);

/* window: data of a file by address, one window at a time. */

/* Return: up to @want <= 64 bytes at an address of the file; *got: how many. */
const u8 *dp_window_at(struct dp_window *w, u64 addr, size_t want, size_t *got);
/* Read all @size <= 64 bytes, or none. */
bool dp_window_read(struct dp_window *w, u64 addr, void *to, size_t size);

/* fragments: which bytes of a module belong to which function. */

int dp_fragments_load(struct dp_survey *s);
struct dp_fragment *dp_fragments_find(const struct dp_code_map *map, u64 addr);
static inline u64 dp_fragment_end(const struct dp_fragment *p)
{
	return p->start + p->len;
}

/* edges: how control gets from one fragment of code into another. */

int dp_edges_add(struct dp_flow_edges *edges, u64 at, u64 other);
/* Add an edge to a fragment that is known by nothing else. */
int dp_edges_hide(struct dp_code_map *map, const struct dp_fragment *from,
		  u64 to);
void dp_edges_sort(struct dp_flow_edges *edges);
/* The first edge at @at or behind it. */
size_t dp_edges_find(const struct dp_flow_edges *edges, u64 at);

#endif
