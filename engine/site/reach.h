/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* reach: how many bytes a site's jump may displace, by the function around the site. */
#ifndef DP_SITE_REACH_H
#define DP_SITE_REACH_H

#include "port_types.h"
#include "engine/insn/region.h"

struct dp_engine;

/** dp_engine_may_jump() - may the probe be armed with a jump?
 *  @why: if not, a static phrase */
bool dp_engine_may_jump(const struct dp_engine *engine, u32 probe,
			const char **why);

/**
 * struct dp_reach - the function around a probe
 * @start: its address
 * @code: the function's bytes and some behind them: @size in all, @function its own
 * @room: bytes from the probe's address on that a jump may displace: to the end of the
 *   function, and over padding behind it
 * @entries: where its branches go
 * @arrivals: threads may come to the middle of the jump. Where jumps are written while all threads are
 *   stopped, this one is written as interior does, with breakpoints inside. Not in a signal-free process
 */
struct dp_reach {
	u64 start;
	const u8 *code;
	size_t size, function;
	size_t room;
	struct dp_entries entries;
	bool arrivals;
};

/**
 * dp_engine_allow_jump() - the probe may be a jump, if its reach allows it
 *
 * Without this call the probe is a breakpoint. Before the layout.
 */
void dp_engine_allow_jump(struct dp_engine *engine, u32 probe,
			  const struct dp_reach *reach);

/**
 * dp_engine_start_early() - begin the jump of a probe at an earlier instruction
 * @addr: of an instruction from which threads come to the probe's instruction
 * @code: bytes found there; @size: up to the end of the probe's instruction, DP_JUMP_SIZE at
 *   least
 * @arrivals: see struct dp_reach
 *
 * For the end of a function, behind which other code is entered: each entry would be an
 * interior arrival. Where the probe's instruction is behind the jump's five bytes, it stays a
 * breakpoint for threads that branch to it. Before the layout.
 * Return: false: it is not possible, and nothing has changed.
 */
bool dp_engine_start_early(struct dp_engine *engine, u64 addr, const u8 *code,
			   size_t size, bool arrivals);

/**
 * dp_engine_duplicate() - let a branch's jump have a duplicate of a probe's ret
 * @probe: of a ret; nothing is done if it can be a jump
 * @addr: of an instruction that branches there
 * @code: bytes found there; @size: how many, all within its function, and only the first of them
 *   branched to
 *
 * Without a site at the branch, one without a probe is made. Before the layout.
 */
void dp_engine_duplicate(struct dp_engine *engine, u32 probe, u64 addr,
			 const u8 *code, size_t size);

/** dp_engine_forbid_jump() - make a probe a breakpoint, for the reason @why. Before the layout. */
void dp_engine_forbid_jump(struct dp_engine *engine, u32 probe,
			   const char *why);

#endif
