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
 *            │   hit           rw-s │ struct dp_arena_hit, counters, rings, instances
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
#include "engine/layout/base.h"
#include "engine/layout/instance.h"

/* control: what control says and the hit half obeys. Control alone writes it. */

#define DP_MAX_POOLS 1024
#define DP_MAX_PATCHED 64
#define DP_MAX_SHARDS 1024
#define DP_REASONS 32
#define DP_REASON_SIZE 128
#define DP_PENDING 32
#define DP_PENDING_SIZE 120

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
	/* Shards that are counted in without a lock, by one CPU each, then as
	 * many that are counted in with one. */
	u32 counter_off, shard_stride, shard_mask;
	u32 state_off;
	u32 program_off, nr_programs;
	u32 code_off;
	u32 gv_off, nr_gv;
	u32 context_off, nr_contexts;
	u32 ring_off, ring_stride, slot_size, slot_mask;
	u32 tid_offset; /* of a thread's id, from its thread pointer */
	u32 nr_caught; /* signals; see dp_caught() */
	u32 counts_alone; /* detours do, where the table says where */
	s32 rseq_offset; /* then, of struct rseq from the thread pointer */
	u32 rseq_signature;
	u32 own_process; /* the process probes itself */
	u32 max_sites, max_probes; /* for which there is room */
	s32 self_offset; /* of the address of its struct dp_stack, from fs */
	s32 errno_offset; /* of errno, from fs; 0: not known */
	u32 vectors; /* DP_SAVE_*: all of them, on this machine */
	u64 stack_base; /* of DP_STACKS stacks */
	u32 owner_off; /* whose they are: u32 thread ids */
	u32 stack_size; /* sizeof(struct dp_stack) */
	u64 task; /* address of u64 (*)(void): the thread as handlers see it */
	u64 frames; /* address of struct dp_frames */
	/* Addresses of code that calls a handler so that the stack can
	 * be unwound from there; before an instruction, and after one */
	u64 handler_before, handler_after;
	u32 upcall_off,
		nr_upcalls; /* struct dp_upcalls; 0: nobody can be asked */
	u64 injected_base; /* address of DP_INJECTED_MAX struct dp_injected; 0: none */
	u32 line_off, line_mask; /* of the first table of instances */
	u32 instance_off, instance_stride;
	struct dp_instance_table instance_tables[DP_INSTANCE_TABLES];
	u32 nr_instance_tables;
	u32 tail_target; /* a probe is DP_WAY_TAIL_TARGET */
	/* A futex that the tool's thread holds, in its robust list, and the link
	 * of that; the kernel marks it when the thread ends. */
	u64 tool_link;
	u32 tool_futex;
	/* How many of the linker's calls have been answered; r_state of its struct
	 * r_debug, 0: nobody wants to know */
	u32 linker_answered;
	u64 linker_state;
	u32 nr_pending;
	/* text is being written: who is about to change mappings waits */
	u32 linker_hold;
	/* specs that wait for a library */
	char pending[DP_PENDING][DP_PENDING_SIZE];
	char reasons[DP_REASONS][DP_REASON_SIZE];
	u32 nr_pools;
	u32 nr_patched;
	/* @patched are all, and held only page-cache pages before us */
	u32 revertible;
	u32 fsgsbase; /* thread pointers can be read by an instruction */
	u32 signal_free; /* a filter forbids breakpoints, and @forbidden is all */
	/* calls that the hit half must not make: the port's bits */
	u32 forbidden;
	/* system calls are made where there is hardly any room */
	u32 small_stacks;
	/* Of @filter_ask the last one that has been answered; not 0: the tool takes the
	 * probes away, and whoever asks waits for that */
	u32 filter_leaving;
	u64 filter_answered;
	struct dp_span pools[DP_MAX_POOLS];
	struct dp_mapped patched[DP_MAX_PATCHED];
	/* Where parts of the arena begin: what no fork child has, what is private, and the
	 * tables. The first one, dp_arena_hit's, begins at DP_CONTROL_ROOM. */
	u32 own_off, private_off, tables_off;
};

/* Of @tool_futex, and of the owner's: its thread, and what the kernel sets when that has ended,
 * FUTEX_TID_MASK and FUTEX_OWNER_DIED of linux/futex.h */
#define DP_TOOL_OWNER 0x3fffffffu
#define DP_TOOL_DIED 0x40000000u

/* hit: what the hit half says and control reads. */

/** enum dp_missed - why a hit was not handled */
enum dp_missed {
	DP_MISSED_FORK, /* by a child process: not ours to count */
	DP_MISSED_NR,
};

/** struct dp_arena_hit - what hit says and control reads */
struct dp_arena_hit {
	u64 missed[DP_MISSED_NR];
	u64 pending; /* contexts that are DP_CONTEXT_PENDING */
	u64 interior_arrivals; /* arrivals in the middle of a region: of all sites */
	u64 foreign; /* traps passed on to the program */
	u32 news; /* something has happened that wants to be told */
	u32 vm_children; /* others may be running in our memory: ask */
	u32 unmasked; /* one had to be blocked for want of room */
	u32 own_death; /* the program is dying of a SIGTRAP of its own */
	u32 exec_pending; /* in execve: @exec_path is being started */
	char exec_path[256];
	u32 linker_asked; /* calls of the linker that want an answer */
	u32 linker_late; /* those that got none in time */
	u64 linker_regs; /* address of the registers of who waits */
	u32 stacks; /* of DP_STACKS, one more than the last that anybody had */
	u32 pad;
	u64 full; /* entries that are not tracked for want of room */
	u64 filter_ask; /* the last thread that was about to install a filter */
	u32 filter_late; /* those that had to go on without an answer */
	/* one of them has given the text back to the page cache */
	u32 text_left;
};

#define DP_LAYOUT_MAGIC 0x3165626f72507044ull
#define DP_LAYOUT_VERSION 23

#define DP_AGENT_TEXT (20 * DP_PAGE)
#define DP_WIPE_OFFSET DP_AGENT_TEXT
#define DP_TABLE_OFFSET (DP_WIPE_OFFSET + DP_PAGE)
/* An address for each value of 16 bits; hardly any of it is ever touched. */
#define DP_TABLE_WORDS 65536
#define DP_PRIVATE_OFFSET (DP_TABLE_OFFSET + DP_TABLE_WORDS * 8)
#define DP_PRIVATE_SIZE (36 * DP_PAGE)
#define DP_ARENA_OFFSET (DP_PRIVATE_OFFSET + DP_PRIVATE_SIZE)
/* The files are laid out as the area is, with holes for what is not theirs. */
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
