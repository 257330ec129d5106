/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * text: the executable segments of a file, and some bits for each byte.
 *
 * Addresses are those of the file. Context of every function: tool process; may allocate.
 */
#ifndef DP_SYM_FLOW_TEXT_H
#define DP_SYM_FLOW_TEXT_H

#include "port_types.h"

struct dp_code_map;
struct dp_survey;
struct dp_text;
struct dp_window;

int dp_text_load(struct dp_survey *s);
void dp_text_drop_code(struct dp_code_map *map);
struct dp_text *dp_text_find(const struct dp_code_map *map, u64 addr);
/* Control may arrive at @addr by a jump within a function, or by any way. */
void dp_text_mark_jump(struct dp_code_map *map, u64 addr);
void dp_text_mark(struct dp_code_map *map, u64 addr);
void dp_text_mark_insn(struct dp_text *t, u64 addr);
bool dp_text_is_insn(const struct dp_text *t, u64 addr);
bool dp_text_is_named(const struct dp_code_map *map, u64 addr);
/* The first target in [start, end), or @end. */
u64 dp_text_next(const struct dp_text *t, u64 start, u64 end);
u64 dp_text_next_named(const struct dp_text *t, u64 start, u64 end);

/* window: data of a file by address, a piece at a time. */

/* Up to @want <= 64 bytes at an address of the file; *got: how many. */
const u8 *dp_window_at(struct dp_window *w, u64 addr, size_t want, size_t *got);
/* All @size <= 64 of them, or none. */
bool dp_window_read(struct dp_window *w, u64 addr, void *to, size_t size);

#endif
