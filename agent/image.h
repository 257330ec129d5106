/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* image: the agent's image in the tool, and its entry points. */
#ifndef DP_AGENT_IMAGE_H
#define DP_AGENT_IMAGE_H

#include "port_types.h"
#include "arch/arch.h"

/* The text: position independent, at most DP_AGENT_TEXT bytes. */
extern const u8 dp_agent_image[];
extern const u32 dp_agent_image_size;

/* Offsets of the entry points from the text's start. */
extern const u32 dp_agent_trap_entry;
extern const u32 dp_agent_trap_restorer;
extern const u32 dp_agent_intercept_entry;
extern const u32 dp_agent_intercept_linger;
extern const u32 dp_agent_observe_entry;
extern const u32 dp_agent_hit_entry;
extern const u32 dp_agent_tracked_entry;
extern const u32 dp_agent_jprobe_return;
extern const u32 dp_agent_return_entry;
extern const u32 dp_agent_unwound_entry;
extern const u32 dp_agent_return_passed;
extern const u32 dp_agent_waits_home;
extern const u32 dp_agent_stack_mine;

/** dp_agent_entries() - where detours enter an agent that is at @base */
static inline struct dp_agent_entries dp_agent_entries(u64 base)
{
	return (struct dp_agent_entries){
		.hit = base + dp_agent_hit_entry,
		.tracked = base + dp_agent_tracked_entry,
		.observe = base + dp_agent_observe_entry,
	};
}

#endif
