/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* instance: tracked calls: by the exits of a function, or by stubs. */
#ifndef DP_LAYOUT_INSTANCE_H
#define DP_LAYOUT_INSTANCE_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/frame.h"
#include "engine/layout/probe.h"

/*
 * An instance is one call of a function whose exits are probed. The return address is
 * not touched. The instance is found again by the slot, and belongs to no thread. It is
 * in the block of its stack (block.h). A second one at the same slot, and one whose stack
 * has no block, is in a table. That has lines of keys, a cache line each; the instances'
 * data is apart from it. A key is in the line that its slot hashes to, or, if that has no
 * room, in one of the next lines.
 *
 * When a table fills up, control adds another one in memory of its own, several times
 * as large. Instances begin in the newest table that has room, and end where they are.
 */
#define DP_INSTANCE_WAYS 7
#define DP_INSTANCE_REACH 8 /* lines in which to look for a key */
#define DP_INSTANCE_LINES 16384 /* at most */
#define DP_INSTANCE_BYTES (16u << 20) /* of all instances, about, at most */
#define DP_INSTANCE_TABLES 4
#define DP_INSTANCE_GROWTH \
	4 /* each table is that many times as large as the last */
#define DP_INSTANCE_SLOT_BITS 44
/* Probes at entries have numbers below this. */
#define DP_INSTANCE_GROUPS ((1u << (64 - DP_INSTANCE_SLOT_BITS)) - 1)

/** struct dp_instance_line - a line of keys
 *  @displaced: keys that belong here and are in other lines */
struct dp_instance_line {
	u32 displaced, pad;
	u64 key[DP_INSTANCE_WAYS]; /* 0: free */
};

/**
 * struct dp_instance_table - control owns it
 * @lines: address of the first struct dp_instance_line; @instances: of the first instance
 */
struct dp_instance_table {
	u64 lines, instances;
	u32 line_mask, pad;
};

/* States of an instance. It is in doubt until its entry has been counted, and while its exit is.
 * Tail-called: its function has jumped to another one, which returns in its place. */
#define DP_INSTANCE_DOUBT 0
#define DP_INSTANCE_LIVE 1
#define DP_INSTANCE_TAIL_CALLED 2

/**
 * struct dp_exit_instance - hit owns it; what its program logged at the entry follows
 * @word: of the next four; where they change, they change at once
 * @group: 1 + the probe at its function's entry; 0: there is none
 * @state: DP_INSTANCE_*; @len: bytes that follow
 * @crowded: of one in a block: further instances at its slot, which are in lines
 * @ret: the return address; 0: it could not be read
 * @serial: counts the instances that were here
 * @tid: the thread that entered, and @ticks: when, where instances make records, or are judged
 */
struct dp_exit_instance {
	union {
		struct {
			u32 group;
			u8 state, crowded;
			u16 len;
		};
		u64 word;
	};
	u64 ret;
	u32 serial, tid;
	u64 ticks;
};

/** dp_instance_key() - the key of a call; @group: the probe at its function's entry */
static inline u64 dp_instance_key(u32 group, u64 slot)
{
	return (u64)(group + 1) << DP_INSTANCE_SLOT_BITS | slot >> 3;
}

/** dp_instance_fits() - can a slot be part of a key? */
static inline bool dp_instance_fits(u64 slot)
{
	return !(slot & 7) && !(slot >> (DP_INSTANCE_SLOT_BITS + 3));
}

/* The bits of a key that are the slot */
#define DP_INSTANCE_SLOT ((1ull << DP_INSTANCE_SLOT_BITS) - 1)

/** dp_instance_group() - the probe in a key; dp_instance_slot() - its slot */
static inline u32 dp_instance_group(u64 key)
{
	return (u32)(key >> DP_INSTANCE_SLOT_BITS) - 1;
}

static inline u64 dp_instance_slot(u64 key)
{
	return (key & DP_INSTANCE_SLOT) << 3;
}

/* Low bits of a slot's number that select adjacent lines, one line for each two words. */
#define DP_INSTANCE_NEAR 6
#define DP_INSTANCE_NEAR_MASK ((1u << DP_INSTANCE_NEAR) - 1)

/** dp_instance_hash() - by slot alone, so that all instances at a slot can be found */
static inline u32 dp_instance_hash(u64 key)
{
	u64 pair = (key & DP_INSTANCE_SLOT) >> 1;

	return ((u32)(((pair >> DP_INSTANCE_NEAR) * 0x9e3779b97f4a7c15ull) >> 32)
		<< DP_INSTANCE_NEAR) |
	       ((u32)pair & DP_INSTANCE_NEAR_MASK);
}

/** enum dp_call_end - how a tracked call has ended */
enum dp_call_end {
	DP_CALL_RETURNED,
	DP_CALL_UNWOUND, /* by an exception, or the end of its thread */
	DP_CALL_ABANDONED, /* by longjmp, or with its stack */
	DP_CALL_VETOED, /* by the entry handler, before it was tracked */
	DP_CALL_ENDS,
	/* another function returns in its place; an instance counts it as returned */
	DP_CALL_TAIL_CALLED = DP_CALL_ENDS,
};

/** dp_probe_ends() - how a tracked call ends at an exit */
static inline enum dp_call_end dp_probe_ends(u32 way)
{
	return way & DP_WAY_TAIL ? DP_CALL_TAIL_CALLED : DP_CALL_RETURNED;
}

/**
 * struct dp_account - what became of the calls of a function
 * @entered: in all
 * @inside: not known to have ended in any way
 * @unmet: calls for which the condition did not hold
 * @unseen: returns of calls that were not tracked
 * @lost: entered, with an unknown fate
 * @cut: the most that may be lost because a signal handler left the agent while
 *       counting
 */
struct dp_account {
	u64 entered, returned, tail, unwound, abandoned, inside;
	u64 missed, damaged, unmet, unseen, cut;
	s64 lost;
};

/**
 * struct dp_leaving - how the record of an instance begins
 * @entered: ticks; @how: enum dp_call_end
 * @value: what the call returned; DP_WAY_XMM: the low half of xmm0
 * @slot: where its return address was, on the program's stack
 * @waited: ticks for which the record has waited for the reader. @entered, and the time of the record, are so much
 *          later than they were
 */
struct dp_leaving {
	u64 entered, value, slot, waited;
	u32 how, pad;
};

/* instance_pool: the calls that a return probe tracks. */

/**
 * struct dp_instance_pool - a return probe's pool of instances; in the library's memory
 * @user: the struct kretprobe; @handler, @entry: its handlers, 0 for none, and what
 *        they need
 * @nmissed: address of the counter of calls without an instance, an int
 * @pool: address of the first instance; they are @stride bytes apart
 * @probe: index of its probe
 * @data_size: bytes behind each instance
 * @unwind: the handler is called for calls that an exception ends, too
 * @quick: its handlers touch general registers only, and each call needs little work; and as
 *         DP_QUICK_ says, they are followed
 * @quick_handler, @quick_entry: the same handlers, where pairs.S calls them without looking further; else 0
 * @exits: its calls are known by their slots, not by a stub
 * @reach: of calls that are known by their slots: the most places between where an instance
 *         is looked for first and where it is
 * @shared: DP_POOL_*: whether threads may reserve instances
 * @fast: address of its struct dp_probe_entry, if its handlers are followed, and while it is registered; else
 *         DP_POOL_NO_ENTRY
 * @away: instances in use, or fewer; only kept if there are more than DP_INSTANCE_SCAN
 */
struct dp_instance_pool {
	u64 user;
	u64 handler, entry;
	u64 nmissed;
	u64 pool;
	u32 stride, nr;
	u32 data_size;
	u32 probe;
	u8 handler_needs, entry_needs;
	u8 unwind, quick, exits;
	u8 pad[3];
	u32 reach, shared;
	s64 away;
	u64 fast;
	u64 quick_handler, quick_entry;
};

#define DP_POOL_NO_ENTRY 1
/* Handlers are followed, and touch DP_TOUCHES_SOME at most; or DP_TOUCHES_FEW, and there is data to clear, or
 * a word of it at most: there is room for that in any case */
#define DP_QUICK_FOLLOWED_FOR_MORE 2
#define DP_QUICK_FOLLOWED_WITH_DATA 3
#define DP_QUICK_FOLLOWED 4

/* Pools up to this size are searched for a free instance; larger ones also count them. */
#define DP_INSTANCE_SCAN 1024

/* Of @used: the entry handler has not agreed yet */
#define DP_INSTANCE_NEW 0x80000000u
/* Of @used: the instance is reserved for this thread: others do not take it, unless instances are
 * shared. @held says that it is taken. */
#define DP_INSTANCE_RESERVED 0x20000000u
#define DP_POOL_RESERVES 0
#define DP_POOL_REVOKES \
	1 /* No thread reserves any more, or takes one for that it is reserved. */
#define DP_POOL_SHARES 2 /* And all threads have seen that. */
/* @used: the call is tracked; the thread that comes to an exit at its slot ends it */
#define DP_INSTANCE_AT_SLOT 0x40000000u

/**
 * struct dp_instance - one tracked call; begins as the library's struct
 * kretprobe_instance does
 * @frame: address of its struct dp_frame; if it is known by its slot: the slot
 * @next: address of the frame's next instance, of a probe that was hit before
 * @instance_pool: address of its struct dp_instance_pool
 * @index: its index in the pool
 * @used: id of the thread that took it, 0: it is free
 * @ending: enum dp_call_end, while its handler runs; @held: of a reserved one: it is taken
 * @calls: twice the calls that it was used for, less one while it has one. So one store
 *         counts, and says whether it has.
 * @otherwise: calls that have ended, but not by returning, by enum dp_call_end. The thread
 *         that has the instance counts. The sums over a pool are the probe's.
 */
struct dp_instance {
	u64 user, ret_addr, task;
	u64 frame, calls, instance_pool;
	u32 index, ending;
	u32 used, held; /* the end of a line: see pairs.S */
	u64 next, otherwise[DP_CALL_ENDS];
};

/** dp_instance_is_inside() - has the instance a call that is tracked? */
static inline bool dp_instance_is_inside(const struct dp_instance *ri)
{
	return __atomic_load_n(&ri->calls, __ATOMIC_ACQUIRE) & 1;
}

/** dp_instance_entered() - calls that it was used for, the present one included */
static inline u64 dp_instance_entered(const struct dp_instance *ri)
{
	return (ri->calls + 1) / 2;
}

/** dp_instance_ended() - and how many of them have ended so
 *  @how: not DP_CALL_TAIL_CALLED: those have returned. Calls that are DP_CALL_VETOED are none
 *        of those that were entered. */
static inline u64 dp_instance_ended(const struct dp_instance *ri,
				    enum dp_call_end how)
{
	u64 others = ri->otherwise[DP_CALL_UNWOUND] +
		     ri->otherwise[DP_CALL_ABANDONED],
	    all = ri->calls / 2;

	if (how != DP_CALL_RETURNED)
		return ri->otherwise[how];
	/* One of the others may be about to end. */
	return all > others ? all - others : 0;
}

static inline struct dp_instance *
dp_instance_at(const struct dp_instance_pool *f, u32 i)
{
	return (struct dp_instance *)(f->pool + (u64)i * f->stride);
}

/** dp_frame_wants_to_hear() - does a probe of the call want to be told of exceptions? Then its stub is needed. */
static inline bool dp_frame_wants_to_hear(const struct dp_frame *f)
{
	const struct dp_instance *ri = (void *)f->instances;

	for (; ri; ri = (void *)ri->next)
		if (((const struct dp_instance_pool *)ri->instance_pool)->unwind)
			return true;
	return false;
}

#endif
