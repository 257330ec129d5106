/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hit: what the hit half says and control reads. */
#ifndef DP_LAYOUT_HIT_H
#define DP_LAYOUT_HIT_H

#include "port_types.h"

/** enum dp_missed - why a hit was not handled */
enum dp_missed {
	DP_MISSED_FORK, /* by a child process: not ours to count */
	DP_MISSED_NR,
};

/** struct dp_arena_hit - what hit says and control reads */
struct dp_arena_hit {
	u64 missed[DP_MISSED_NR];
	u64 pending; /* contexts that are DP_CONTEXT_PENDING */
	u64 strays; /* arrivals in the middle of a region: of all sites */
	u64 foreign; /* traps passed on to the program */
	u32 news; /* something has happened that wants to be told */
	u32 sharers; /* others may be running in our memory: ask */
	u32 unmasked; /* one had to be blocked for want of room */
	u32 own_death; /* the program is dying of a SIGTRAP of its own */
	u32 exec_pending; /* in execve: @exec_path is being started */
	char exec_path[256];
	u32 linker_asked; /* calls of the linker that want an answer */
	u32 linker_late; /* those that got none in time */
	u64 linker_regs; /* address of the registers of who waits */
	u32 stacks; /* of DP_STACKS, one more than the last that anybody had */
	u32 pad;
	u64 full; /* entries that are not followed for want of room */
	u64 filter_ask; /* the last thread that was about to install a filter */
	u32 filter_late; /* those that had to go on without an answer */
	u32 text_left; /* one of them has given the text back to the page cache */
};

#endif
