/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jump: the detours of jumps. */
#ifndef DP_PLAN_JUMP_H
#define DP_PLAN_JUMP_H

#include "engine/layout/site.h"
#include "port_types.h"

struct dp_engine;
struct dp_jump;
struct dp_site;
struct dp_unwind_states;

/* Why a site is a breakpoint */
#define DP_WHY_RETURNS "a call returns into the bytes that a jump needs"
#define DP_WHY_FAULTS \
	"a handler of a fault can go on within the bytes that a jump needs"
#define DP_WHY_OVERLAP \
	"overlap: another probe or the agent needs the same bytes"
#define DP_WHY_CROWDED \
	"the program branches into the bytes that a jump needs more often than to here"
#define DP_WHY_DATA \
	"a debug register of each thread; what the kernel writes or reads there is not seen"
#define DP_WHY_LATE \
	"a task has been preempted within the bytes that a jump needs; it is tried again"
#define DP_WHY_NO_ISLAND \
	"no address is free to which a jump with breakpoints in it could lead"

/** dp_jump_note_traps() - note which bytes of the site's jump have to be breakpoints */
void dp_jump_note_traps(const struct dp_engine *e, struct dp_site *s);
/** dp_jump_room() - bytes that the site's detour takes at most */
u32 dp_jump_room(const struct dp_engine *e, const struct dp_site *s);
/** struct dp_jump_work - where a detour has to call out, and to count: see struct dp_jump */
struct dp_jump_work {
	u8 before, after, counted;
};
struct dp_jump_work dp_jump_work(const struct dp_engine *e,
				 const struct dp_site *s);
/**
 * dp_jump_plan() - make the detour of a site, for itself and for those that it covers
 * @j: filled in
 * @at, @out: address of the detour, and where to write it
 * @pad: see struct dp_detour_spec
 * @stubs: address of the stubs of its pool
 * @states: set to those of its code, or NULL
 */
int dp_jump_plan(const struct dp_engine *e, const struct dp_site *s,
		 struct dp_jump *j, u64 at, u32 pad, u8 *out, u64 stubs,
		 struct dp_unwind_states *states);
/** struct dp_jump_way - what a detour does before the first instruction: see struct dp_jump */
struct dp_jump_way {
	enum dp_jump_calls calls;
	u32 touches;
};
/** dp_jump_way() - what is best for the probes of a site */
struct dp_jump_way dp_jump_way(const struct dp_engine *e,
			       const struct dp_site *s);
/** dp_jump_is_tracked() - can calls that begin at the site go on through a stub? */
bool dp_jump_is_tracked(const struct dp_engine *e, const struct dp_site *s);
/** dp_jump_insn_at() - the instruction of the region of @site that begins at @addr, or -1 */
int dp_jump_insn_at(const struct dp_site *site, u64 addr);
/** dp_jump_branches() - one bit for each instruction of the region that branches to @site->branches_to */
u8 dp_jump_branches(const struct dp_site *site);
/** dp_jump_cover() - let the jump of @lead cover @site. Return: false: no instruction of the
 *  region begins there. */
bool dp_jump_cover(struct dp_site *lead, struct dp_site *site);
/** dp_jump_cover_none() - the jump of @site covers no other site */
void dp_jump_cover_none(struct dp_site *site);

#endif
