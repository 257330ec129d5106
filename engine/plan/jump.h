/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jump: which sites are armed with a jump, and what it leads to. */
#ifndef DP_PLAN_JUMP_H
#define DP_PLAN_JUMP_H

#include "port_types.h"
#include "engine/insn/region.h"

struct dp_engine;
struct dp_site;
struct dp_site_entry;

/** dp_engine_may_jump() - is the probe not a breakpoint for certain?
 *  @why: if it is, a static phrase */
bool dp_engine_may_jump(const struct dp_engine *engine, u32 probe,
			const char **why);

/**
 * struct dp_ground - the function around a probe
 * @start: its address
 * @code: its bytes, and some behind it: @size in all, @function of them its own
 * @room: bytes from the probe's address on that a jump may displace: to the end
 *        of the function, and over padding behind it
 * @entries: where its branches go
 */
struct dp_ground {
	u64 start;
	const u8 *code;
	size_t size, function;
	size_t room;
	struct dp_entries entries;
};

/**
 * dp_engine_allow_jump() - the probe may be a jump, if its ground allows it
 *
 * Without it the probe is a breakpoint. Before the layout.
 */
void dp_engine_allow_jump(struct dp_engine *engine, u32 probe,
			  const struct dp_ground *ground);

/**
 * dp_engine_lead() - have the jump of a probe begin before it
 * @addr: of an instruction from which on everybody comes to the probe's, whose
 *        end is DP_JUMP_SIZE bytes behind it
 * @code: bytes found there; @size: how many
 *
 * For the end of a function, behind which others arrive: each of them would be
 * sent on by a breakpoint. Where it cannot be, nothing changes. Before the layout.
 */
void dp_engine_lead(struct dp_engine *engine, u64 addr, const u8 *code,
		    size_t size);

/** dp_engine_forbid_jump() - a probe shall be a breakpoint, because of @why */
void dp_engine_forbid_jump(struct dp_engine *engine, u32 probe,
			   const char *why);

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

#endif
