/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: calls that are tracked from the entry of a function to its exits. */
#ifndef DP_LAYOUT_INSTANCE_H
#define DP_LAYOUT_INSTANCE_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/base.h"

/*
 * An instance is one call of a function whose exits are probed: its return address is
 * not touched, so it is known again by where that lies. An instance belongs to that
 * slot, not to a thread. The table has lines of keys, a cache line each, and
 * apart from it what is known of each instance. A key is in the line that its slot
 * hashes to, or, where that had no room, in one of those behind it.
 *
 * When a table fills up, control adds another one in memory of its own, several
 * times as large. Instances begin in the newest one that has room, and end where they
 * are.
 */
#define DP_INSTANCE_WAYS 7
#define DP_INSTANCE_REACH 8 /* lines in which a key can be */
#define DP_INSTANCE_LINES 16384 /* at most */
#define DP_INSTANCE_BYTES (16u << 20) /* of all instances, about, at most */
#define DP_INSTANCE_TABLES 4
#define DP_INSTANCE_GROWTH \
	4 /* each is so many times as large as the last one */
#define DP_INSTANCE_SLOT_BITS 44
/* Probes at entries have numbers below this. */
#define DP_INSTANCE_GROUPS ((1u << (64 - DP_INSTANCE_SLOT_BITS)) - 1)

/** struct dp_instance_line - @displaced: keys that belong here and are elsewhere; @tail_called:
 *  those that belong here and have tail-called */
struct dp_instance_line {
	u32 displaced, tail_called;
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

/**
 * struct dp_exit_instance - hit owns it; what its program logged at the entry follows
 * @slot: address of the return address; 0: it is not complete, or over
 * @ret: the return address; 0: it could not be read
 * @ticks: when the function was entered, where instances make records
 * @serial: counts the instances that were here
 * @tid: who entered; @len: bytes that follow
 * @tail_called: its function has jumped to another one, which returns in its place
 * @ending: its end is being counted, or was
 */
struct dp_exit_instance {
	u64 slot, ret, ticks, serial;
	u32 tid;
	u16 len;
	u8 tail_called, ending;
};

/** dp_instance_key() - of an instance of the function at whose entry is probe @group */
static inline u64 dp_instance_key(u32 group, u64 slot)
{
	return (u64)(group + 1) << DP_INSTANCE_SLOT_BITS | slot >> 3;
}

/** dp_instance_fits() - can a slot be part of a key? */
static inline bool dp_instance_fits(u64 slot)
{
	return !(slot & 7) && !(slot >> (DP_INSTANCE_SLOT_BITS + 3));
}

/* What of a key says which slot it is of */
#define DP_INSTANCE_SLOT ((1ull << DP_INSTANCE_SLOT_BITS) - 1)

/** dp_instance_group() - of whose function; dp_instance_slot() - and at which slot */
static inline u32 dp_instance_group(u64 key)
{
	return (u32)(key >> DP_INSTANCE_SLOT_BITS) - 1;
}

static inline u64 dp_instance_slot(u64 key)
{
	return (key & DP_INSTANCE_SLOT) << 3;
}

/* So much of a stack has its lines side by side, one for each two words of it. */
#define DP_INSTANCE_NEAR 6
#define DP_INSTANCE_NEAR_MASK ((1u << DP_INSTANCE_NEAR) - 1)

/** dp_instance_hash() - by slot alone, so that it can be told who is at one */
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

/**
 * struct dp_account - what became of the calls of a function
 * @entered: in all
 * @inside: neither ended nor left otherwise, as far as can be seen
 * @unmet: those for which the condition did not hold
 * @unseen: returns of calls that were not tracked
 * @lost: entered, and nothing is known of them
 * @cut: so many may be lost, at most: a signal's handler left the agent for good while
 *       they were being counted
 */
struct dp_account {
	u64 entered, returned, tail, unwound, abandoned, inside;
	u64 missed, damaged, unmet, unseen, cut;
	s64 lost;
};

/**
 * struct dp_leaving - how the record of an instance begins
 * @entered: ticks; @value: what it returned; DP_WAY_XMM: the low half of the register
 *           for floating point; @how: enum dp_call_end
 */
struct dp_leaving {
	u64 entered, value;
	u32 how, pad;
};

/* instance_pool: the calls that a return probe tracks through stubs. */

/**
 * struct dp_instance_pool - a return probe's pool of instances; in the library's memory
 * @user: the struct kretprobe; @handler, @entry: its handlers, 0 for none, and
 *        what they need
 * @nmissed: where calls without an instance are counted, an int
 * @pool: address of the first instance; they are @stride bytes apart
 * @probe: index of its probe
 * @data_size: bytes behind each
 * @unwind: the handler is called for calls that an exception ends, too
 * @quick: its handlers touch general registers only, and there is not much to do for
 *         each call
 * @exits: its calls are known by the place of the return address, not by a stub
 * @away: instances in use, or fewer; kept only where there are more than
 *        DP_INSTANCE_SCAN
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
	s64 away;
};

/* So many are looked through for a free one; a count comes before more. */
#define DP_INSTANCE_SCAN 1024

/* Of @used: the entry handler has not agreed yet */
#define DP_INSTANCE_NEW 0x80000000u
/* @used: its call is tracked, and the thread that comes to an exit at its slot ends it */
#define DP_INSTANCE_AT_SLOT 0x40000000u

/**
 * struct dp_instance - one call that is tracked; begins as the library's struct
 * kretprobe_instance does
 * @frame: address of its struct dp_frame; of one that is known by its slot: the slot
 * @next: address of the frame's next instance, of a probe that was hit before
 * @instance_pool: address of its struct dp_instance_pool
 * @index: of it in its pool
 * @used: id of the thread that took it, 0: it is free; @ending: enum dp_call_end, while its handler runs
 * @entered, @ended: calls that it has followed, and how they ended. Who has the
 *                   instance counts; the sums are those of the probe.
 */
struct dp_instance {
	u64 user, ret_addr, task;
	u64 frame, next, instance_pool;
	u32 index, used;
	u64 ending;
	u64 entered, ended[DP_CALL_ENDS];
};

static inline struct dp_instance *
dp_instance_at(const struct dp_instance_pool *f, u32 i)
{
	return (struct dp_instance *)(f->pool + (u64)i * f->stride);
}

/* frame: return addresses that are those of stubs. */

/*
 * A tracked call returns to a stub, and only from the stub's address is it known
 * which call it was: by us, and by those who unwind the stack. What a stub does, and
 * DP_STUB_SIZE and DP_STUB_BACK, are the processor's: arch/.
 *
 * The first word of each page of them says how far its frames are from there. See
 * lib/x86/stubs.S for what unwinders are told.
 */
#define DP_STUBS_A_PAGE (DP_PAGE / DP_STUB_SIZE) /* the first is none */

/** enum dp_frame_state */
enum dp_frame_state {
	DP_FRAME_FREE,
	DP_FRAME_LIVE,
	DP_FRAME_OVER, /* another thread than the one that has it returned */
	DP_FRAME_ABANDONED, /* its call was left; a return all the same goes home */
};

/**
 * struct dp_frame - a return address that is a stub's; in the library's memory
 * @ret_addr: the program's own. Unwinders find it here: it is the first.
 * @cont: where the stub's call goes
 * @slot: address of the return address on the stack
 * @next: address of the thread's next frame, the one of an outer call
 * @instances: address of the innermost one that waits for the return
 * @stack: address of the struct dp_stack in whose list it is
 * @user: of one of its probes, for reports
 * @state: enum dp_frame_state; @next_free: number of another one
 */
struct dp_frame {
	u64 ret_addr;
	u64 cont;
	u64 slot;
	u64 next;
	u64 instances;
	u64 stack;
	u64 user;
	u32 state, next_free;
};

/**
 * struct dp_frames - all of them; in the library's memory
 * @stubs: address of the first; @table: of the first frame. Number n of one
 *         belongs to number n of the other.
 * @nr: how many there are by now; @fresh: number of the first that nobody has had
 * @free, @abandoned, @detached: number of the first such one, and above it a stamp
 * @late: returns of calls that had been taken for left; @late_user, @late_addr: of
 *        the last one
 */
struct dp_frames {
	u64 stubs, table;
	u64 nr, fresh;
	u64 free, abandoned, detached;
	u64 late;
	u64 late_user, late_addr;
};

#endif
