/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * layout: the memory that the control half and the hit half share.
 *
 *   base ──► ┌──────────────────────┐
 *            │ agent text      r-x  │ DP_AGENT_TEXT bytes, from the memfd
 *            ├──────────────────────┤
 *            │ wipe page       rw-p │ struct dp_wipe; zero in a fork child
 *            ├──────────────────────┤
 *            │ private page    rw-p │ struct dp_private; a child has its own
 *            ├──────────────────────┤
 *            │ arena           rw-s │ struct dp_arena, then the tables, from
 *            │                      │ the memfd: the tool maps it too
 *            └──────────────────────┘
 *   near each group of probed modules, from the same memfd:
 *            ┌──────────────────────┐
 *            │ pool            r-x  │ copies of displaced instructions
 *            └──────────────────────┘
 *
 * Offsets are 32 bits and count from the start of the arena; addresses are
 * those of the target. No C pointer is stored. What control owns and what hit
 * owns are separate structures. All of it is hostile input to whoever reads it
 * from outside: see engine/control/view.h.
 */
#ifndef DP_LAYOUT_H
#define DP_LAYOUT_H

#include "port_types.h"

#define DP_LAYOUT_MAGIC 0x3165626f72507044ull
#define DP_LAYOUT_VERSION 2

#define DP_PAGE 4096u
#define DP_AGENT_TEXT (4 * DP_PAGE)
#define DP_WIPE_OFFSET DP_AGENT_TEXT
#define DP_PRIVATE_OFFSET (DP_WIPE_OFFSET + DP_PAGE)
#define DP_ARENA_OFFSET (DP_PRIVATE_OFFSET + DP_PAGE)
/* The memfd is laid out as the region is; it has a hole for the private pages. */
#define DP_FILE_ARENA_OFFSET DP_ARENA_OFFSET

#define DP_MAX_POOLS 16
#define DP_MAX_TEXTS 64
#define DP_MAX_SHARDS 64

/** enum dp_missed - why a hit was not handled */
enum dp_missed {
	DP_MISSED_FORK, /* by a child process: not ours to count */
	DP_MISSED_NR,
};

/** enum dp_mode - how a site is armed */
enum dp_mode {
	DP_MODE_TRAP,
	DP_MODE_JUMP,
};

/** struct dp_kernel_sigaction - what rt_sigaction(2) takes on x86-64 */
struct dp_kernel_sigaction {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

/**
 * struct dp_site_entry - one probed address; control owns it
 * @addr: of the original instruction
 * @copy: of its copy (or of the code that a hook runs instead)
 * @first_probe: 1 + index of its first probe, 0 for none
 * @orig: the bytes that arming replaced
 * @patch: the bytes that it put there
 * @patch_len: how many
 * @insn_len: length of the original instruction
 * @copy_len, @body_len: of the copy (see struct dp_copy)
 * @atomic: pc inside the copy is at its start or at its end, nowhere else
 * @mode: enum dp_mode
 * @armed: set before the first byte is written, cleared after the last one is
 *         back: whoever finds the process later knows what to look at
 * @returned: it was armed and is not any more. A debugger that met our
 *            breakpoint may put it back when it goes.
 */
struct dp_site_entry {
	u64 addr;
	u64 copy;
	u32 first_probe;
	u8 orig[5];
	u8 patch[5];
	u8 patch_len;
	u8 insn_len;
	u8 copy_len;
	u8 body_len;
	u8 atomic;
	u8 mode;
	u8 armed;
	u8 returned;
	u8 pad[2];
};

/** struct dp_probe_entry - one probe of a site; control owns it */
struct dp_probe_entry {
	u32 next; /* 1 + index of the next probe at the site */
	u32 site;
	u32 enabled;
	u32 pad;
};

/** struct dp_span - [start, start + size) in the target; control owns it */
struct dp_span {
	u64 start;
	u64 size;
};

/** struct dp_arena_control - what control says and hit obeys */
struct dp_arena_control {
	u64 magic;
	u32 version;
	u32 head_size; /* sizeof(struct dp_arena) */
	u64 arena_size;
	u64 base; /* address of the agent's text */
	u32 owner; /* process id, in the target's namespace */
	u32 tool; /* process id of the tool, in its own */
	u64 tool_start; /* its start time: tells a recycled id */
	u32 hash_off, hash_mask; /* u32 slots: 1 + site index, 0 free */
	u32 site_off, nr_sites;
	u32 probe_off, nr_probes;
	u32 counter_off, shard_stride, shard_mask;
	u32 nr_pools;
	u32 nr_texts;
	u32 revertible; /* @texts held only page-cache pages before us */
	struct dp_span pools[DP_MAX_POOLS];
	struct dp_span texts[DP_MAX_TEXTS];
};

/** struct dp_arena_hit - what hit says and control reads */
struct dp_arena_hit {
	u64 missed[DP_MISSED_NR];
	u64 foreign; /* traps passed on to the program */
	u32 own_death; /* the program is dying of a SIGTRAP of its own */
	u32 exec_pending; /* in execve: @exec_path is being started */
	char exec_path[256];
};

struct dp_arena {
	struct dp_arena_control control;
	struct dp_arena_hit hit;
};

/** struct dp_wipe - zero in whatever process fork(2) made */
struct dp_wipe {
	u32 owner;
};

/* Actions are published by index and never change once published, until the
 * ring comes round. */
#define DP_ACTION_RING 32

/**
 * struct dp_private - state that a fork child takes along and then owns
 * @current: stamp of the program's SIGTRAP action, at ring[stamp % RING]
 * @next: the last stamp that was taken
 */
struct dp_private {
	u32 current;
	u32 next;
	struct dp_action_slot {
		u32 stamp;
		u32 pad;
		struct dp_kernel_sigaction action;
	} ring[DP_ACTION_RING];
};

/** dp_site_hash() - where the search for an address begins */
static inline u32 dp_site_hash(u64 addr)
{
	return (u32)((addr * 0x9e3779b97f4a7c15ull) >> 32);
}

#endif
