/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan: where copies go and what they contain, computed before text changes. */
#ifndef DP_PLAN_PLAN_H
#define DP_PLAN_PLAN_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/arena.h"

struct dp_engine;
struct dp_hole;
struct dp_islands;
struct dp_site;
struct dp_site_entry;

/* The largest distance of a copy and what it refers to: 2 GB less the length of a pool's
 * worst neighbour. */
#define DP_REACH (DP_JUMP_REACH - (64ull << 20))

/** dp_addr_below() - is an address below another? They are compared with their signs: code of a
 *  kernel, at the top of the address space, refers to what is at its bottom. */
static inline bool dp_addr_below(u64 a, u64 b)
{
	return (s64)a < (s64)b;
}

/** struct dp_pool_need - a pool that has to be placed */
struct dp_pool_need {
	u64 low, high; /* all that it must address lies in between */
	u64 size; /* bytes, whole pages */
	u64 addr;
};

/** struct dp_layout_need - memory that has to be mapped */
struct dp_layout_need {
	u64 arena_size; /* bytes, whole pages */
	/* parts: see struct dp_arena_control */
	u32 own_off, private_off, tables_off;
	/* streams: see struct dp_arena_control; @nr_streams may be 0 */
	u32 stream_off, stream_stride, nr_streams;
	u32 nr_pools;
	struct dp_pool_need pools[DP_MAX_POOLS];
};

/** dp_site_span() - the addresses that the copies of a site have to be near */
void dp_site_span(const struct dp_site *s, u64 *low, u64 *high);

/* place: addresses for memory that has to be mapped. */

/* Mapped by us, and only for islands; unwinders know code there, so it is better than others */
#define DP_HOLE_OURS 1
#define DP_HOLE_CHARTED 2

/** struct dp_hole - unmapped addresses [start, end); @is: DP_HOLE_* */
struct dp_hole {
	u64 start, end;
	u8 is;
};

/** dp_place_one() - choose an address for a pool
 *  @holes: ascending
 *  Source: user-space rules: within 2 GB of all that a copy refers to.
 *  Return: 0; -ENOMEM no hole is in range. */
int dp_place_one(struct dp_pool_need *need, const struct dp_hole *holes,
		 size_t n);
/** dp_holes_carve() - take a mapped range out of the holes. There is room for one more.
 *  Return: how many holes there are now. */
size_t dp_holes_carve(struct dp_hole *holes, size_t n, u64 addr, u64 size);

/** struct dp_mapping - addresses of the memory, in the tool and in the target */
struct dp_mapping {
	void *file; /* as the region is laid out, in the tool */
	u64 base; /* address of the agent's text in the target */
	u64 intercept_entry; /* address of dp_intercept_entry in the target */
	struct dp_agent_entries entries; /* in the target */
	bool near; /* … within reach of all pools: of these, @hit and @handler are called without a stub */
	u32 owner; /* the target's pid, in its own namespace */
	u32 tool;
	bool fsgsbase; /* rdfsbase can be used */
	bool small_stacks; /* calls are made with hardly any stack left */
	u32 forbidden; /* calls that must not be made: bits of port_calls.h */
	u64 tool_start;
};

/* island: addresses for jumps that contain breakpoints. */

/** struct dp_island_room - what is to be where a jump leads: bytes before that address, and from
 *  there on; DP_JUMP_SIZE and no more for an island, at most a page for a detour */
struct dp_island_room {
	u32 before, after;
};

/** dp_island_find() - find an address for one site's jump: @s->island, @s->last.
 *  @l: begins as NULL; @holes: at present. It is not claimed yet.
 *  Return: 0; -ENOMEM; 1 there is none. */
int dp_island_find(struct dp_islands **l, struct dp_engine *e,
		   struct dp_site *s, const struct dp_island_room *room,
		   const struct dp_hole *holes, size_t n);
/** dp_island_claim() - [@addr, @addr + @len) is used from now on. Once for each dp_island_find().
 *  dp_island_drop() - it is not used any more */
void dp_island_claim(struct dp_islands *l, u64 addr, u32 len);
void dp_island_drop(struct dp_islands *l, u64 addr, u32 len);
void dp_islands_free(struct dp_islands *l);
/** dp_islands_copy() - the same islands, for a fork child. Return: NULL: out of memory, or none. */
struct dp_islands *dp_islands_copy(const struct dp_islands *of);
#endif
