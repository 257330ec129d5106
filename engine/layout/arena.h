/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arena: the memory that the control half and the hit half share.
 *
 *   base ──► ┌──────────────────────┐
 *            │ agent text      r-xp │ DP_AGENT_TEXT bytes
 *            ├──────────────────────┤
 *            │ wipe page       rw-p │ struct dp_wipe; zero in a fork child
 *            │ table           rw-p │ the CPUs' counters; zero there too
 *            ├──────────────────────┤
 *            │ private pages   rw-p │ struct dp_private; a child has its own
 *            ├──────────────────────┤
 *            │ arena                │
 *            │   control       r--s │ struct dp_arena_control: the tool alone writes it
 *            │   hit           rw-s │ struct dp_arena_hit, counters, rings, visits
 *            │   own           rw-s │ variables, upcalls; no fork child has them
 *            │   private       rw-p │ contexts; a child has its own
 *            │   tables        r--s │ sites, probes, programs: the tool alone
 *            └──────────────────────┘
 *   near each group of probed modules:
 *            ┌──────────────────────┐
 *            │ pool            r-xp │ copies of displaced instructions
 *            └──────────────────────┘
 *
 * Code is private to each process and never mapped writable. What is shared comes from
 * two files that the tool makes: the target can write the one, and nobody but the tool
 * ever the other. In a process that probes itself all of it is private. doc/security.md
 * says of each part who can write it.
 *
 * Offsets are 32 bits and count from the start of the arena; addresses are
 * those of the target. No C pointer is stored. What control owns and what hit
 * owns are separate structures. All of it is hostile input to whoever reads it
 * from outside: see engine/site/view.h.
 */
#ifndef DP_LAYOUT_ARENA_H
#define DP_LAYOUT_ARENA_H

#include "port_types.h"
#include "engine/layout/control.h"
#include "engine/layout/hit.h"
#include "engine/layout/page.h"

#define DP_LAYOUT_MAGIC 0x3165626f72507044ull
#define DP_LAYOUT_VERSION 22

#define DP_AGENT_TEXT (20 * DP_PAGE)
#define DP_WIPE_OFFSET DP_AGENT_TEXT
#define DP_TABLE_OFFSET (DP_WIPE_OFFSET + DP_PAGE)
/* An address for each value of 16 bits; hardly any of it is ever touched. */
#define DP_TABLE_WORDS 65536
#define DP_PRIVATE_OFFSET (DP_TABLE_OFFSET + DP_TABLE_WORDS * 8)
#define DP_PRIVATE_SIZE (36 * DP_PAGE)
#define DP_ARENA_OFFSET (DP_PRIVATE_OFFSET + DP_PRIVATE_SIZE)
/* The files are laid out as the region is, with holes for what is not theirs. */
#define DP_FILE_ARENA_OFFSET DP_ARENA_OFFSET

/* Whole pages, because another file begins behind them. */
#define DP_CONTROL_ROOM (8 * DP_PAGE)

struct dp_arena {
	union {
		struct dp_arena_control control;
		u8 control_room[DP_CONTROL_ROOM];
	};
	struct dp_arena_hit hit;
};

_Static_assert(sizeof(struct dp_arena_control) <= DP_CONTROL_ROOM,
	       "the control part has outgrown its pages");

/** struct dp_wipe - zero in whatever process fork(2) made */
struct dp_wipe {
	u32 owner;
};

#endif
