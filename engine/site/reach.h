/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* reach: how far the jump of a site may reach, by the function around it. */
#ifndef DP_SITE_REACH_H
#define DP_SITE_REACH_H

#include "port_types.h"
#include "engine/insn/region.h"

struct dp_engine;

/** dp_engine_may_jump() - is the probe not a breakpoint for certain?
 *  @why: if it is, a static phrase */
bool dp_engine_may_jump(const struct dp_engine *engine, u32 probe,
			const char **why);

/**
 * struct dp_reach - the function around a probe
 * @start: its address
 * @code: its bytes, and some behind it: @size in all, @function of them its own
 * @room: bytes from the probe's address on that a jump may displace: to the end
 *        of the function, and over padding behind it
 * @entries: where its branches go
 */
struct dp_reach {
	u64 start;
	const u8 *code;
	size_t size, function;
	size_t room;
	struct dp_entries entries;
};

/**
 * dp_engine_allow_jump() - the probe may be a jump, if its reach allows it
 *
 * Without it the probe is a breakpoint. Before the layout.
 */
void dp_engine_allow_jump(struct dp_engine *engine, u32 probe,
			  const struct dp_reach *reach);

/**
 * dp_engine_start_early() - have the jump of a probe begin before it
 * @addr: of an instruction from which on everybody comes to the probe's, whose
 *        end is DP_JUMP_SIZE bytes behind it
 * @code: bytes found there; @size: how many
 *
 * For the end of a function, behind which others arrive: each of them would be
 * sent on by a breakpoint. Where it cannot be, nothing changes. Before the layout.
 */
void dp_engine_start_early(struct dp_engine *engine, u64 addr, const u8 *code,
			   size_t size);

/** dp_engine_forbid_jump() - a probe shall be a breakpoint, because of @why */
void dp_engine_forbid_jump(struct dp_engine *engine, u32 probe,
			   const char *why);

#endif
