/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* build: tables in which the hit half looks up sites. */
#ifndef DP_SITE_BUILD_H
#define DP_SITE_BUILD_H

#include "port_types.h"

struct dp_arena;
struct dp_arena_control;
struct dp_engine;
struct dp_site_entry;

/** dp_hash_find() - read from the arena where the hit half's hash table is. The address is
 *  kept, because another process may write to the arena. Return: 0; -EBADMSG. */
int dp_hash_find(struct dp_engine *e, u64 arena_size);
/** dp_hash_enter() - let the hit half find entry @index at @addr */
void dp_hash_enter(const struct dp_engine *e, u64 addr, u32 index);
/** dp_hash_leave() - entry @index is at @addr no more; of an engine whose probes come and
 *  go. All addresses of an entry leave together. */
void dp_hash_leave(const struct dp_engine *e, u64 addr, u32 index);
/** dp_entry_why() - note why a site is a breakpoint; NULL: it is a jump */
void dp_entry_why(struct dp_arena *arena, struct dp_site_entry *entry,
		  const char *why);
/** dp_hash_traps() - enter the breakpoints in the middle of an entry's jump */
void dp_hash_traps(const struct dp_engine *e, const struct dp_site_entry *entry,
		   u32 index);

/** dp_programs_fill() - let hits find the programs that were added; and tell readers which specs
 *  wait */
void dp_programs_fill(struct dp_engine *e);
/** dp_upcalls_find() - read from the arena where threads wait in upcalls. Return: 0; -EBADMSG. */
int dp_upcalls_find(struct dp_engine *e, u64 arena_size);
/** dp_reader_open() - note where the rings are */
void dp_reader_open(struct dp_engine *e);

/* tables.c: where each table is in the arena; the layout and the build compute the same */
/** dp_tables_counters() - counters of a shard: of sites, and of probes that track calls */
u32 dp_tables_counters(const struct dp_engine *engine);
u64 dp_tables_lay_out(const struct dp_engine *engine,
		      struct dp_arena_control *control);

#endif
