/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* build: tables that the hit half looks things up in. */
#ifndef DP_SITE_BUILD_H
#define DP_SITE_BUILD_H

#include "port_types.h"

struct dp_arena;
struct dp_arena_control;
struct dp_engine;
struct dp_site_entry;

/** dp_hash_find() - where the table is that the hit half looks in. Not asked again:
 *  another process may write there. Return: 0; -EBADMSG. */
int dp_hash_find(struct dp_engine *e, u64 arena_size);
/** dp_hash_enter() - the hit half finds entry @index at @addr */
void dp_hash_enter(const struct dp_engine *e, u64 addr, u32 index);
/** dp_entry_why() - note in an entry why it is a breakpoint; NULL: it is none */
void dp_entry_why(struct dp_arena *arena, struct dp_site_entry *entry,
		  const char *why);
/** dp_hash_traps() - and at the breakpoints in the middle of its jump */
void dp_hash_traps(const struct dp_engine *e, const struct dp_site_entry *entry,
		   u32 index);

/* tables.c: where everything in the arena is; the same sum for the layout and
 * for the plan */
u64 dp_tables_lay_out(const struct dp_engine *engine,
		      struct dp_arena_control *control);

#endif
