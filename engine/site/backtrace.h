/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* backtrace: what hits need to walk stacks, and what they have found. */
#ifndef DP_SITE_BACKTRACE_H
#define DP_SITE_BACKTRACE_H

#include "port_types.h"
#include "engine/layout/backtrace.h"

struct dp_charted;
struct dp_engine;
struct dp_arena_control;

/**
 * struct dp_backtrace_code - the rules of a module's code, of which a process may map several
 * @ranges: @nr of them, ascending: where each begins, from the module's first address on
 * @which: their rules, of @rules, of which there are @nr_rules
 */
struct dp_backtrace_code {
	const u32 *ranges, *which;
	u32 nr;
	const struct dp_rule *rules;
	u32 nr_rules;
};

/** struct dp_backtrace_place - [@start, @end) of the target has code @code: see
 *  dp_engine_add_code() */
struct dp_backtrace_place {
	u64 start, end;
	u32 code;
};

/* So many shapes are found again; others are there twice. */
#define DP_GENERATED_RECENT 1024

/**
 * struct dp_generated_room - for the pieces of generated code
 * @nr: pieces that there are; @shapes, @end: offsets in the arena of the room for shapes that is left
 * @recent: offsets of shapes by what is in them
 */
struct dp_generated_room {
	u32 nr, shapes, end;
	u32 recent[DP_GENERATED_RECENT];
};

/**
 * struct dp_backtraces - of an engine
 * @bytes: room for ranges; @nodes: of known stacks, a power of two; 0: there are no walks
 * @given: the port finds frames by itself: there is room for known stacks alone
 * @used: bytes of it; @code: of each code, its @ranges and @rules as in struct dp_backtrace_module
 * @rule: a copy of the rules that are there, @nr_rules of them
 */
struct dp_backtraces {
	u64 bytes, used;
	bool given;
	u32 nodes, head_off, room_off, own_off;
	struct dp_backtrace_module *code;
	u32 nr_code, cap_code;
	struct dp_rule *rule;
	u32 nr_rules, cap_rules;
	void (*begin)(void *arg);
	void *arg;
	struct dp_generated_room generated;
};

/**
 * dp_engine_walk_stacks() - hits will walk stacks
 * @bytes: room for the ranges of all code: six bytes each; only what is used takes memory
 * @nodes: frames of different stacks, at least
 * @begin: called with @arg by dp_engine_build(), to add code and to map it; or NULL
 * Context: before the first dp_engine_layout(). Return: 0; -EBUSY the tables are there.
 */
int dp_engine_walk_stacks(struct dp_engine *e, u64 bytes, u32 nodes,
			  void (*begin)(void *arg), void *arg);
/** dp_engine_keep_stacks() - the same where the port knows how its stacks are walked: hits keep what it finds. No code
 *  is added. Context, return: as dp_engine_walk_stacks() */
int dp_engine_keep_stacks(struct dp_engine *e, u32 nodes);
/** dp_engine_forget_stacks() - of dp_engine_keep_stacks(): their numbers are others' from here on. No hit walks. */
void dp_engine_forget_stacks(struct dp_engine *e);
/** dp_engine_agent() - address of the agent's text, whose rules are code like any other; 0: not known yet */
u64 dp_engine_agent(const struct dp_engine *e);
/** dp_engine_walks() - do hits walk stacks, and are the tables there? */
bool dp_engine_walks(const struct dp_engine *e);

/**
 * dp_engine_add_code() - put the rules of a module's code into the tables
 * @code: its number, for dp_engine_map_code()
 * Context: after dp_engine_build(). Return: 0; -ENOSPC; -ENOMEM; -EINVAL ranges do not ascend, or
 * name a rule that is not there.
 */
int dp_engine_add_code(struct dp_engine *e, const struct dp_backtrace_code *c,
		       u32 *code);

/**
 * dp_engine_map_code() - say where code is from now on
 * @v: ascending, and apart
 * Context: threads may walk meanwhile. Return: 0; -ENOSPC too many; -EINVAL.
 */
int dp_engine_map_code(struct dp_engine *e, const struct dp_backtrace_place *v,
		       u32 nr);

/**
 * dp_engine_backtrace() - the stack of a number
 * @frames: set to the pcs, the innermost first, with DP_BACKTRACE_EXACT
 * Return: how many there are, and in @end why there are no more; 0: there is no such stack. The target
 * may have written anything: that is what @frames gets then.
 */
u32 dp_engine_backtrace(const struct dp_engine *e, u32 number,
			u64 frames[DP_BACKTRACE_FRAMES],
			enum dp_backtrace_end *end);

/** dp_engine_backtraces_lost() - walks whose stacks had no room */
u64 dp_engine_backtraces_lost(const struct dp_engine *e);

/** dp_backtraces_bytes() - of the part that hits write, and dp_backtraces_tables() of the part that
 *  control writes; dp_backtraces_fill() - begin them, at these offsets */
u64 dp_backtraces_bytes(const struct dp_engine *e);
u64 dp_backtraces_tables(const struct dp_engine *e);
void dp_backtraces_fill(struct dp_engine *e, u32 own_off, u32 tables_off);
void dp_backtraces_free(struct dp_engine *e);
/** dp_generated_note() - let walks know code, if there are any, before anything leads there */
void dp_generated_note(struct dp_engine *e, const struct dp_charted *code);
/** dp_generated_bytes() - of the tables for that; dp_generated_fill() - begin them, at this offset */
u64 dp_generated_bytes(const struct dp_engine *e);
void dp_generated_fill(struct dp_engine *e, struct dp_backtrace_head *head,
		       u32 off);
/** dp_backtraces_copy() - have those of @of, whose fork child @e is of. Return: 0; -ENOMEM, and none
 *  are there. */
int dp_backtraces_copy(struct dp_engine *e, const struct dp_engine *of);

#endif
