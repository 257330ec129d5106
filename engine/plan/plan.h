/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan: the copies and tables of an engine, computed before text changes. */
#ifndef DP_PLAN_PLAN_H
#define DP_PLAN_PLAN_H

#include "port_types.h"

struct dp_engine;
struct dp_arena;
struct dp_arena_control;
struct dp_site;
struct dp_site_entry;

/** struct dp_mapping - where things are, in the tool and in the target */
struct dp_mapping {
	void *file; /* as the region is laid out, in the tool: arena, pools' code */
	u64 base; /* address of the agent's text in the target */
	u64 hook_entry; /* address of dp_hook_entry in the target */
	u64 detour_entry; /* and of dp_detour_entry */
	u32 owner; /* the target's pid, in its own namespace */
	u32 tool;
	bool fsgsbase; /* rdfsbase can be used */
	bool small_stacks; /* there is hardly any room where calls are made */
	u32 forbidden; /* calls that must not be made: bits of port_calls.h */
	u64 tool_start;
};

/**
 * dp_engine_build() - make the copies and the tables
 *
 * Nothing in the target refers to them yet.
 * Return: 0; -ENOMEM a copy does not reach what it refers to.
 */
int dp_engine_build(struct dp_engine *engine, const struct dp_mapping *map);

/**
 * dp_engine_table() - what belongs at DP_TABLE_OFFSET
 * @words: addresses of the counters of each CPU in turn; DP_MAX_SHARDS at most
 * @n: how many
 * Return: false if detours do not count by themselves.
 */
bool dp_engine_table(const struct dp_engine *engine, u64 *words, u32 *n);

/** dp_site_needs_post() - has a record to wait for the instruction? */
bool dp_site_needs_post(const struct dp_site *s);

/** dp_hash_find() - where the table is that the hit half looks in. Not asked again:
 *  another process may write there. Return: 0; -EBADMSG. */
int dp_hash_find(struct dp_engine *e, u64 arena_size);
/** dp_hash_enter() - the hit half finds entry @index at @addr */
void dp_hash_enter(const struct dp_engine *e, u64 addr, u32 index);
/** dp_entry_why() - note in an entry why it is a breakpoint; NULL: it is none */
void dp_entry_why(struct dp_arena *arena, struct dp_site_entry *entry,
		  const char *why);
/** dp_entry_begin() - what an entry says of its instruction */
void dp_entry_begin(const struct dp_site *s, struct dp_site_entry *entry);
/** dp_entry_post() - write its copy that ends in a breakpoint, at @entry->post */
int dp_entry_post(const struct dp_site *s, struct dp_site_entry *entry,
		  u8 *out);
/** dp_hash_traps() - and at the breakpoints in the middle of its jump */
void dp_hash_traps(const struct dp_engine *e, const struct dp_site_entry *entry,
		   u32 index);

/* tables.c: where everything in the arena is; the same sum for the layout and
 * for the plan */
u64 dp_tables_lay_out(const struct dp_engine *engine,
		      struct dp_arena_control *control);

#endif
