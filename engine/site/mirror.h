/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mirror: an engine whose tables are another process's, for a tool that reads them.
 *
 * The process owns the tables and may write anything there: they are copied, and checked at
 * each look. Of the part that the two share the mirror keeps the geometry.
 *
 * Context of every function: tool process, may sleep.
 */
#ifndef DP_SITE_MIRROR_H
#define DP_SITE_MIRROR_H

#include "port_types.h"

struct dp_arena;
struct dp_engine;
struct dp_view;

/** dp_mirror_look() - check a copy of the arena; until the next look, counts are those of it
 *  Return: 0; -EBADMSG; -ENOMEM; then the engine has no tables. */
int dp_mirror_look(struct dp_engine *engine, struct dp_arena *arena, u64 size);
/** dp_mirror_part() - the part of the arena that can be shared: whole pages, from @from up to
 *  @to. Return: false: the tables make no sense. */
bool dp_mirror_part(const struct dp_engine *engine, u64 *from, u64 *to);
/** dp_mirror_open() - records, tracked calls and variables are now where the last look was, and
 *  stay there. After dp_mirror_part(), of the same geometry. */
void dp_mirror_open(struct dp_engine *engine);
/** dp_mirror_view() - the tables as of the last look */
const struct dp_view *dp_mirror_view(const struct dp_engine *engine);
/** dp_mirror_probe() - note what the caller knows of a probe itself. @probe: a number that the last
 *  look has found */
void dp_mirror_probe(struct dp_engine *engine, u32 probe, u8 kind, u32 way,
		     u32 group);
/** dp_mirror_doubt() - a record made no sense to the caller: it counts as torn */
void dp_mirror_doubt(struct dp_engine *engine);
/** dp_mirror_programs() - the process has the same programs, by the same numbers: find their
 *  variables. Return: false: there is no room for so many. */
bool dp_mirror_programs(struct dp_engine *engine);

#endif
