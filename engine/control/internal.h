/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* internal: what the files of the control half share. */
#ifndef DP_CONTROL_INTERNAL_H
#define DP_CONTROL_INTERNAL_H

#include "port.h"
#include "engine/control/control.h"
#include "engine/control/view.h"
#include "engine/insn/detour.h"
#include "engine/insn/region.h"

/* A copy and what it refers to are never farther apart than this: 2 GB less
 * the length of a pool's worst neighbour. */
#define DP_REACH ((1ull << 31) - (64ull << 20))

/**
 * struct dp_site - one probed address
 * @code: original bytes, @facts.len of them
 * @hook: number of the system call that is hooked here, or -1
 * @pool: index of the pool that holds its copy
 * @region: what a jump here would replace; @region.nr is 0 if it cannot be
 * @why: then, and whenever @mode is DP_MODE_TRAP, the reason
 * @leader: 1 + place in the order of the site whose jump covers this one
 * @traps: a bit a byte of the jump that has to be a breakpoint
 * @last: which one the fifth byte is, if it has to be one
 * @landing: address where the jump goes first, 0: straight to the detour
 * @first_probe, @last_probe: 1 + index, 0 for none
 */
struct dp_site {
	u64 addr;
	u8 code[DP_REGION_MAX + 1];
	struct insn_facts facts;
	s64 hook;
	u32 pool;
	u32 first_probe, last_probe;
	bool records; /* a probe here runs a program */
	bool watched; /* the hooked call is made where it stands */
	u8 mode, traps, last, size;
	u32 leader;
	u64 landing;
	const char *why;
	struct dp_region region;
};

struct dp_probe {
	u32 next;
	u32 site;
	bool bound;
	struct dp_binding binding;
};

/** struct dp_program - a verified program; @code is the engine's own */
struct dp_program {
	struct dp_program_spec spec;
	char name[DP_PROGRAM_NAME];
	u8 *code;
};

/* A reader's place in one ring, and the geometry of all, which it does not
 * take from memory that the target can write. */
struct dp_reader {
	u32 ring_off, ring_stride, slot_size, slot_mask, rings;
	u64 next[DP_MAX_SHARDS];
	u64 torn;
};

struct dp_engine {
	struct dp_site *sites;
	u32 nr_sites, cap_sites;
	struct dp_probe *probes;
	u32 nr_probes, cap_probes;
	u32 *hash; /* 1 + site index */
	u32 hash_mask;
	u32 *order; /* sites by address, from the layout on */
	u32 shards;
	struct dp_program *programs;
	u32 nr_programs, cap_programs;
	struct dp_reader reader;
	u32 tid_offset;
	enum dp_arming arming;
	struct dp_rseq rseq;
	bool rseq_usable;
	u32 nr_caught; /* see dp_caught() */
	u32 nr_code_pools; /* the first ones; the others hold landings */
	struct dp_layout_need need;
	struct dp_arena *arena;
	struct dp_view view;
};

/** dp_engine_reserve() - room for one more element of an array */
int dp_engine_reserve(void **array, u32 used, u32 *cap, size_t each);

/** dp_order_site() - the @i-th site in the order of addresses */
static inline struct dp_site *dp_order_site(const struct dp_engine *e, u32 i)
{
	return &e->sites[e->order[i]];
}

/* jump.c */
/** dp_jumps_choose() - decide the mode of each site; they are in order */
void dp_jumps_choose(struct dp_engine *e);
/** dp_jump_give_up() - the @i-th site in order, and those that its jump covers,
 *  become trap sites */
void dp_jump_give_up(struct dp_engine *e, u32 i, const char *why);
/** dp_jump_room() - bytes that its detour takes at most */
u32 dp_jump_room(const struct dp_engine *e, const struct dp_site *s);
/**
 * dp_jump_plan() - make the detour of the @i-th site in order
 * @entry: of the site; those it covers follow
 * @at, @out: address of the detour, and where to write it
 * @stub: address of the stub that leads to the agent; @hook_entry of what makes
 *        hooked calls
 */
int dp_jump_plan(const struct dp_engine *e, u32 i, struct dp_site_entry *entry,
		 u64 at, u8 *out, u64 stub, u64 hook_entry);

/* plan.c */
/** dp_site_needs_post() - has a record to wait for the instruction? */
bool dp_site_needs_post(const struct dp_site *s);

/* landing.c */
/** dp_landings_place() - find addresses for jumps that contain breakpoints */
int dp_landings_place(struct dp_engine *e, const struct dp_hole *holes,
		      size_t n);

/* program.c */
void dp_programs_free(struct dp_engine *engine);

/* tables.c: where everything in the arena is; the same sum for the layout and
 * for the plan */
u64 dp_tables_lay_out(const struct dp_engine *engine,
		      struct dp_arena_control *control);

/** dp_engine_find() - the site at @addr, or NULL */
struct dp_site *dp_engine_find(const struct dp_engine *engine, u64 addr);

#endif
