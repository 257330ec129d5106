/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arena: the memory that the control half and the hit half share.
 *
 *   base ──► ┌──────────────────────┐
 *            │ agent text      r-xp │ DP_AGENT_TEXT bytes
 *            ├──────────────────────┤
 *            │ wipe page       rw-p │ struct dp_wipe; zero in a fork child
 *            │ table           rw-p │ addresses of the CPUs' counters; zero there too
 *            ├──────────────────────┤
 *            │ private pages   rw-p │ struct dp_private; a fork child has its own
 *            ├──────────────────────┤
 *            │ arena                │
 *            │   control       r--s │ struct dp_arena_control: only the tool writes it
 *            │   hit           rw-s │ struct dp_arena_hit, counters, rings, instances
 *            │   own           rw-s │ variables, values, upcalls; no fork child has them
 *            │   private       rw-p │ contexts; a fork child has its own
 *            │   tables        r--s │ sites, probes, programs: only the tool writes them
 *            └──────────────────────┘
 *   near each group of probed modules:
 *            ┌──────────────────────┐
 *            │ pool            r-xp │ copies of displaced instructions
 *            └──────────────────────┘
 *
 * Code is private to each process and never mapped writable. The shared parts come from
 * two files that the tool makes. The target can write one of them; only the tool can
 * write the other. In a process that probes itself all parts are private.
 * doc/security.md says who can write each part.
 *
 * Offsets are 32 bits and count from the start of the arena. Addresses are those of the
 * target. No C pointer is stored. Control and hit own separate structures. A reader
 * outside the target takes all of it for hostile input: see engine/site/view.h.
 */
#ifndef DP_LAYOUT_ARENA_H
#define DP_LAYOUT_ARENA_H

#include "port_types.h"
#include "engine/layout/base.h"
#include "arch/arch.h"
#include "engine/layout/instance.h"

/* control: written by control only, obeyed by the hit half. */

#define DP_MAX_POOLS 1024
#define DP_MAX_PATCHED 64
#define DP_MAX_SHARDS 1024
#define DP_REASONS 32
#define DP_REASON_SIZE 128
#define DP_PENDING 32
#define DP_PENDING_SIZE 120

#define DP_REGISTERS 4 /* debug registers of a thread, for addresses */
#define DP_REGISTERS_FOREIGN (1u << DP_REGISTERS)

/** struct dp_led - what a thread needs whose tracer is killed while it leads the thread out by single steps
 *  @tid: the thread, or 0; @number: of those that were led out
 *  @mask: the thread's mask, if @masked: the tracer has set another one meanwhile */
struct dp_led {
	u32 tid, number;
	u32 masked, pad;
	u64 mask;
};

/** struct dp_arena_control - what control tells the hit half */
struct dp_arena_control {
	u64 magic;
	u32 version;
	u32 head_size; /* sizeof(struct dp_arena) */
	u64 arena_size;
	u64 base; /* address of the agent's text */
	u32 owner; /* process id, in the target's namespace */
	u32 tool; /* process id of the tool, in its own namespace */
	u64 tool_start; /* its start time: tells a recycled id */
	u32 hash_off, hash_mask; /* u32 slots: 1 + site index, 0 free */
	u32 site_off, nr_sites;
	u32 jump_off, nr_jumps; /* the first one is empty */
	u32 probe_off, nr_probes;
	/* First the shards in which one CPU each counts without a lock. Then as many in
	 * which CPUs count with a lock. A shard has the counters of sites, and from
	 * @probe_counters on those of probes that track calls. */
	u32 counter_off, shard_stride, shard_mask;
	u32 state_off;
	u32 program_off, nr_programs;
	u32 code_off;
	u32 gv_off, nr_gv; /* behind them @max_locals of the programs' own */
	u32 context_off, nr_contexts;
	u32 ring_off, ring_stride, slot_size, slot_mask;
	u32 tid_offset; /* of a thread's id, from its thread pointer */
	u32 nr_caught; /* signals; see dp_caught() */
	u32 counts_alone; /* detours count by themselves, through the table */
	s32 rseq_offset; /* of struct rseq, from the thread pointer */
	u32 rseq_signature;
	u32 own_process; /* the process probes itself */
	u32 max_sites, max_jumps, max_probes; /* how many there is room for */
	s32 self_offset; /* of the address of its struct dp_stack, from fs */
	s32 errno_offset; /* of errno, from fs; 0: not known */
	u32 vectors; /* DP_SAVE_*: all that this machine has */
	u64 stack_base; /* of @nr_stacks stacks */
	u32 owner_off; /* their owners: u32 thread ids */
	u32 stack_size; /* sizeof(struct dp_stack) */
	u64 task; /* address of u64 (*)(void): the thread, for handlers */
	u64 frames; /* address of struct dp_frames */
	/* Addresses of code that calls a handler so that unwinders can walk the stack:
	 * before an instruction, and after it */
	u64 handler_before, handler_after;
	u32 upcall_off, nr_upcalls; /* struct dp_upcalls; 0: no upcalls */
	u64 injected_base; /* address of DP_INJECTED_MAX struct dp_injected; 0: none */
	u32 line_off, line_mask; /* of the first table of instances */
	u32 instance_off, instance_stride;
	struct dp_instance_table instance_tables[DP_INSTANCE_TABLES];
	u32 nr_instance_tables;
	u32 tail_target; /* some probe is DP_WAY_TAIL_TARGET */
	/* A futex in the robust list of the tool's thread, and its link there. The
	 * kernel marks the futex when the thread ends. */
	u64 tool_link;
	u32 tool_futex;
	/* How many loader events have been answered; address of r_state of the linker's
	 * struct r_debug, 0: no thread waits */
	u32 linker_answered;
	u64 linker_state;
	u32 nr_pending;
	/* text is being written: a thread that is about to change mappings waits */
	u32 linker_hold;
	/* specs that wait for a library */
	char pending[DP_PENDING][DP_PENDING_SIZE];
	char reasons[DP_REASONS][DP_REASON_SIZE];
	u32 nr_pools;
	u32 nr_patched;
	/* @patched is complete, and held only page-cache pages before us */
	u32 revertible;
	u32 fsgsbase; /* instructions can read thread pointers */
	u32 signal_free; /* a filter forbids traps, and @forbidden has all */
	/* system calls that the hit half must not make: the port's bits */
	u32 forbidden;
	/* the stacks on which system calls are made have hardly any room */
	u32 small_stacks;
	/* The last @filter_ask that has been answered. If @filter_leaving is not 0, the
	 * tool takes the probes away, and an asking thread waits for that. */
	u32 filter_leaving;
	u64 filter_answered;
	struct dp_span pools[DP_MAX_POOLS];
	struct dp_mapped patched[DP_MAX_PATCHED];
	/* Where parts of the arena begin: own, private, tables. The first part,
	 * dp_arena_hit's, begins at DP_CONTROL_ROOM. */
	u32 own_off, private_off, tables_off;
	/* room for programs: how many, bytes of code, local variables */
	u32 max_programs, max_code, max_locals;
	/* where the counters begin of hits at which a site's program was met; 0: nowhere */
	u32 probe_counters, met_counters;
	/* a futex that nobody wakes: not 0, hits wait until the reader makes room */
	u32 block;
	/* of streams; @stream_mask: bytes of data, less one; 0: there are none */
	u32 stream_off, stream_stride, stream_mask;
	/* of the directory of blocks; @block_mask: lines, less one; 0: there are no blocks.
	 * Of the blocks, and of struct dp_call_entry, two for each site */
	u32 block_off, block_mask, blocks_off, call_off;
	u32 instance_words; /* in @instance_stride */
	u32 nr_stacks; /* at @stack_base */
	/* for code: addresses of the directory, of those entries, for calls that are counted and
	 * for those that are timed, and of the streams; and the bits of a line's offset in the
	 * directory */
	u64 blocks, calls, timed_calls, streams, block_bits;
	/* descriptors of the sequences that count where calls begin and end: see
	 * struct dp_agent_sequence */
	u64 call_sequences[DP_CALL_SEQUENCES][4] __attribute__((aligned(32)));
	/* descriptor of the sequence in which the agent counts hits of handlers; 0: it cannot */
	u64 handler_sequence[4] __attribute__((aligned(32)));
	u64 pair_sequence[4] __attribute__((aligned(32)));
	struct dp_pair_facts pair;
	u64 frame_pad; /* landing pad of stubs */
	u64 first_stack; /* where the stack of the process's first thread ends */
	/* Of each context: room for the log, for stack traces, for the heap; and all of it */
	u32 room_off, log_room, trace_room, heap_room, room_stride;
	/* what programs allocate: struct dp_vm_globals */
	u32 globals_off;
	/* not 0: a thread waits while the tool makes its core dump, or calls the debugger; a futex
	 * that counts those that the tool has served; the thread that goes to the debugger, or 0 */
	u32 core_holds, core_served, halted_tid;
	/* addresses of tables of struct dp_own_function: of facilities, from DP_FACILITY_REGISTERED
	 * on, and of external functions; 0: the process has none */
	u64 facilities, externals;
	/* traps of watched data bear this number; 0: there are none */
	u32 watch_number;
	u32 generation; /* of the probes that are on: see dp_enabled_in() */
	/* not 0: traps of debug registers that a tool has set by ptrace(2) may come */
	u32 register_traps;
	/* Those registers, and their bits in the control register; 0: no thread has any. A thread that
	 * lives on keeps them when the tool has ended. */
	u64 register_control, registers[DP_REGISTERS];
	/* descriptor of the sequence in which dp_keep_entry changes a row */
	u64 keep_sequence[4] __attribute__((aligned(32)));
	/* of struct dp_aggregate_entry; where what they keep begins */
	u32 aggregate_off, nr_aggregates, aggregated_off;
	/* of struct dp_backtrace_head; where what walks keep begins */
	u32 backtrace_off, backtraced_off;
	u64 swaps; /* address of struct dp_swaps; 0: the process has none */
	/* Of a process that watches itself by @registers without a tool: the tags that traps of events would bear, by
	 * register; address of u32 (*)(void): a bit for each register that the calling thread has hit, or
	 * DP_REGISTERS_FOREIGN; of void (*)(u32 sure), which a thread calls that may have begun */
	u32 register_tags[DP_REGISTERS];
	u64 register_which, thread_begins;
	struct dp_led led;
};

/* Of @tool_futex, and of the owner's: the thread's id, and the bit that the kernel sets
 * when it has ended: FUTEX_TID_MASK and FUTEX_OWNER_DIED of linux/futex.h */
#define DP_TOOL_OWNER 0x3fffffffu
#define DP_TOOL_DIED 0x40000000u

/* hit: written by the hit half, read by control. */

/** enum dp_missed - why a hit was not handled */
enum dp_missed {
	DP_MISSED_FORK, /* by a child process; in a kernel, within a hit */
	DP_MISSED_NR,
};

/** struct dp_arena_hit - what the hit half tells control */
struct dp_arena_hit {
	u64 missed[DP_MISSED_NR];
	u64 pending; /* contexts that are DP_CONTEXT_PENDING */
	u64 interior_arrivals; /* of all sites */
	u64 foreign; /* traps passed on to the program */
	u32 news; /* counts events to be reported */
	u32 vm_children; /* CLONE_VM children that may run in our memory */
	u32 unmasked; /* caught signals blocked for want of room */
	u32 own_death; /* a SIGTRAP of the program's own kills it */
	u32 exec_pending; /* in execve: @exec_path is being started */
	char exec_path[256];
	u32 linker_asked; /* loader events that want an answer */
	u32 linker_late; /* loader events not answered in time */
	u32 stacks; /* 1 + the last of DP_STACKS that was ever used */
	u32 pad;
	u64 full; /* calls not tracked for want of room */
	u32 strays; /* there were instances in lines whose stack had no block */
	u32 pad2;
	u64 filter_ask; /* the last thread that was about to install a filter */
	u32 filter_late; /* threads that went on without an answer */
	/* such a thread has given the text back to the page cache */
	u32 text_left;
	/* the thread that waits for its core dump, or for the debugger, or 0; its registers; where its vector
	 * registers are, if not in place */
	u32 core_tid;
	struct dp_regs core_regs;
	u64 core_fpstate;
};

#define DP_LAYOUT_MAGIC 0x3165626f72507044ull
#define DP_LAYOUT_VERSION 55

#define DP_AGENT_TEXT (36 * DP_PAGE)
#define DP_WIPE_OFFSET DP_AGENT_TEXT
#define DP_TABLE_OFFSET (DP_WIPE_OFFSET + DP_PAGE)
/* An address for each value of 16 bits; hardly any of the table is ever touched. */
#define DP_TABLE_WORDS 65536
#define DP_PRIVATE_OFFSET (DP_TABLE_OFFSET + DP_TABLE_WORDS * 8)
#define DP_PRIVATE_SIZE (44 * DP_PAGE)
/* Offset of a field of struct dp_private; and of room behind it, for what the tool's calls read
 * and write */
#define DP_PRIVATE_AT(field) \
	(DP_PRIVATE_OFFSET + offsetof(struct dp_private, field))
#define DP_PRIVATE_SCRATCH (DP_PRIVATE_OFFSET + sizeof(struct dp_private))
#define DP_ARENA_OFFSET (DP_PRIVATE_OFFSET + DP_PRIVATE_SIZE)
/* The files are laid out as the area is, with holes for the other file's parts. */
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

/** struct dp_wipe - zero in every fork child */
struct dp_wipe {
	u32 owner;
};

#endif
