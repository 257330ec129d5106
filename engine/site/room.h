/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* room: memory for code, near the sites that it serves. */
#ifndef DP_SITE_ROOM_H
#define DP_SITE_ROOM_H

#include "engine/plan/plan.h"
#include "engine/site/live.h"

struct dp_engine;
struct dp_jump;
struct dp_site;

/** struct dp_pool - one area: of copies, or an island arena; @full: nothing more goes there;
 *  @charted: as of the hole that it was in */
struct dp_pool {
	u32 used;
	bool island_arena, full, charted;
};

/** struct dp_stage - code for [@from, @to) of a pool, not written to the process yet */
#define DP_STAGE_SIZE 65536
struct dp_stage {
	u32 pool, from, to;
	u8 *code; /* DP_STAGE_SIZE bytes */
};

/**
 * struct dp_switch - a probe, as dp_live_switch_off() finds it; never moves
 * @user: what its handlers get; 0: not in use
 * @instance_pool: address of its struct dp_instance_pool, or 0
 * @site: index of its site
 * @off: its handlers are not called any more
 */
struct dp_switch {
	u64 user, instance_pool;
	u32 site, off;
};

/** struct dp_guess - bytes of the last detour where a jump leads: before its entry, without padding,
 *  and from there on; the next one is likely to be as large */
struct dp_guess {
	u32 start, after;
};

/* Control decides from this memory only: a probed process can write to the arena that it
 * shares. */
struct dp_growth {
	struct dp_live_setup setup;
	struct dp_switch *switches; /* one for each possible probe */
	/* parallel to dp_layout_need.pools */
	struct dp_pool pools[DP_MAX_POOLS];
	struct dp_stage stage;
	struct dp_hole *holes;
	size_t nr_holes;
	struct dp_islands *islands;
	/* by enum dp_jump_calls; the last one: of those that run a program */
	struct dp_guess guess[DP_CALLS_WAYS + 1];
	u32 nr_arenas; /* pools that are island arenas */
	u64 coming; /* bytes that sites without a plan will need, at most */
	u32 free_probe; /* 1 + index, linked by next */
	bool disarmed, unoptimized; /* the knobs */
	u32 *touched, nr_touched; /* sites of the last batch; */
	u32 nr_changed; /* the first so many have other bytes since */
	u32 cap_touched; /* room for two of the largest possible batch */
	u64 changes; /* probes taken off their sites, so far */
	bool lost; /* some probe's code is gone */
	bool unseen; /* CPUs may not have seen what a batch that failed wrote last */
};

/** dp_room_begin() - begin without any. Return: 0 or -ENOMEM. dp_room_free() - free all of it. */
int dp_room_begin(struct dp_engine *engine, const struct dp_live_setup *setup);
void dp_room_free(struct dp_growth *growth);
/** dp_room_copy() - for a fork child of the engine's process. Return: NULL: out of memory. */
struct dp_growth *dp_room_copy(const struct dp_engine *of);
/** dp_room_forget_holes() - the process may have mapped something since */
void dp_room_forget_holes(struct dp_engine *engine);

/**
 * dp_room_take() - make room on the stage for code of a site, in reach of what that refers to
 * @bytes: the most that is needed; at most a tenth of the stage
 * Return: 0, and @site->pool is set; -ENOMEM there is no room; an error of writing.
 */
int dp_room_take(struct dp_engine *engine, struct dp_site *site, u32 bytes);
/** dp_room_cursor() - address of that room; @out: where to make the code */
u64 dp_room_cursor(struct dp_engine *engine, const struct dp_site *site,
		   u8 **out);
/** dp_room_consume() - the code takes so many bytes; what follows is aligned */
void dp_room_consume(struct dp_engine *engine, const struct dp_site *site,
		     u32 bytes, u32 align);
/** dp_room_write() - write the code made since the last call, before anything leads to it.
 *  Return: 0 or an errno. */
int dp_room_write(struct dp_engine *engine);
/** dp_room_put() - write code to room that was taken earlier. Return: 0 or an errno. */
int dp_room_put(const struct dp_engine *engine, u64 at, const u8 *code,
		u32 len);
/** dp_room_chart() - tell unwinders of the process of code that is put there, or is going to be.
 *  dp_room_charts() - would that do anything? */
void dp_room_chart(struct dp_engine *engine, const struct dp_charted *code);
bool dp_room_charts(const struct dp_engine *engine);
/** dp_room_near() - the pool that has @at, if it is in reach of what the site refers to; else
 *  -1 */
int dp_room_near(const struct dp_engine *engine, const struct dp_site *site,
		 u64 at);
/** dp_room_island() - find an island for the site's jump to @detour, and put it there.
 *  Return: 0; 1 no island is free; an errno. */
int dp_room_island(struct dp_engine *engine, struct dp_site *site, u64 detour);

/**
 * dp_room_meet() - find room for a detour where the site's jump can lead itself
 * @before, @after: bytes before @at, and from there on
 * @at: set to the address that the jump leads to
 *
 * The room is not taken before dp_room_settle() writes the code.
 * Return: 0; 1 there is none; an errno.
 */
int dp_room_meet(struct dp_engine *engine, struct dp_site *site, u32 before,
		 u32 after, u64 *at);
/** dp_room_settle() - write a detour into room that was found. Return: 0 or an errno. */
int dp_room_settle(struct dp_engine *engine, u64 at, const u8 *code, u32 len);
/** dp_room_leave() - a jump gives back its island, and the room of its detour if that is where the
 *  jump leads; else the detour keeps its room */
void dp_room_leave(struct dp_engine *engine, struct dp_jump *jump);

#endif
