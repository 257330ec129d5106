/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * layout: the memory that the control half and the hit half share.
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
 * from outside: see engine/control/view.h.
 */
#ifndef DP_LAYOUT_H
#define DP_LAYOUT_H

#include "port_types.h"
#include "engine/vm/vm.h"
#include "engine/insn/class.h"
#include "engine/insn/faults.h"
#include "engine/insn/state.h"
#include "engine/insn/tell.h"

#define DP_LAYOUT_MAGIC 0x3165626f72507044ull
#define DP_LAYOUT_VERSION 22

#define DP_PAGE 4096u
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

#define DP_MAX_POOLS 1024
#define DP_MAX_TEXTS 64
#define DP_MAX_SHARDS 1024
#define DP_REASONS 32
#define DP_REASON_SIZE 128
#define DP_PENDING 32
#define DP_PENDING_SIZE 120

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

/* @hook of a site: no probe; the agent makes the call, or watches it */
#define DP_HOOK_MADE 1
#define DP_HOOK_WATCHED 2

/* @armed of a site whose jump is there, on its way out, on its way in; of one
 * that could be a jump and is a breakpoint */
#define DP_SITE_OFF 0
#define DP_SITE_THERE 1
#define DP_SITE_LEAVING 2
#define DP_SITE_COMING 3
#define DP_SITE_TRAPPED 4
/* Its code is not mapped there any more: control has found that out */
#define DP_SITE_GONE 5
/* Somebody's breakpoint is where the jump began: on its way out from behind it; out */
#define DP_SITE_YIELDS 6
#define DP_SITE_YIELDED 7

/* @wanted: not at all, however it is planned, and as a breakpoint only */
#define DP_WANT_OFF 0
#define DP_WANT_PLAN 1
#define DP_WANT_TRAP 2

#define DP_JUMP_INSNS 5

/**
 * struct dp_jump - where a site's jump goes, and what is there
 * @base: address of the detour, @len bytes
 * @landing: address of the jump that leads to it, where the site's own has to
 *           go somewhere else first; 0: there is none
 * @start: offset in the detour where the jump enters it
 * @at: offset in the detour of each instruction of the region, with what is
 *      told before it; behind the last one that of the way back
 * @insn: of the instruction itself
 * @offset: of each instruction from the site's address
 * @nr: instructions; @size: their bytes in the text
 * @atomic: a bit an instruction: in the detour it is one instruction, too
 * @traps: a bit a byte of the patch: it is a breakpoint
 * @stray: the code that it replaces can go at any time: it is looked at before each write
 * @follows: a call that begins here can go on through a stub
 */
struct dp_jump {
	u64 base, landing;
	u16 len, start;
	u16 at[DP_JUMP_INSNS + 1];
	u16 insn[DP_JUMP_INSNS];
	u8 offset[DP_JUMP_INSNS];
	u8 nr, size, atomic, traps;
	u8 stray, follows;
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
 * @post: of the copy that ends in a breakpoint behind the instruction, 0 for none
 * @post_body: offset of that breakpoint
 * @jump: for DP_MODE_JUMP; the @copy of such a site is in its detour. One that
 *        has none of its own (@jump.nr is 0) is covered by another's
 * @tells: its detour tells when the instruction has completed
 * @hook: a system call of libc that passes through the agent, not a probe;
 *        @number is which
 * @faults: enum dp_insn_faults; with @operand, where an indirect branch reads
 * @class, @cc, @target: of a branch: enum dp_insn_class, its condition, and where
 *                       a direct one goes
 * @single: the copy of the instruction alone, for a site that may be either: see
 *          engine/control/live.c. @copy is then this one or that in the detour
 * @single_len, @single_body: of it
 * @fast: address of its one struct dp_probe_entry, if all there is to do at a hit by
 *        a jump is to call that one's pre_handler, or to follow the call; else 0
 * @reason: 1 + number of the phrase that says why it is a breakpoint, 0: none
 * @gate: not 0: its detour calls; else it only counts
 * @x87: the code around it uses the x87 or MMX registers, for all that is known
 * @calls: its probes are handlers in C
 * @wanted: whether, and how, it is to be armed: DP_WANT_*
 * @armed: DP_SITE_*: set before the first byte is written, cleared after the last
 *         one is back: whoever finds the process later knows what to look at
 * @returned: it was armed and is not any more. A debugger that met our
 *            breakpoint may put it back when it goes.
 */
struct dp_site_entry {
	u64 addr;
	u64 copy;
	u64 post;
	struct dp_operand_ref operand;
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
	u8 faults;
	u8 post_len, post_body;
	u8 hook, tells;
	u8 wanted;
	u8 class, cc;
	u8 single_len, single_body;
	u8 single_atomic, x87, calls;
	u8 reason;
	u32 number;
	u64 single;
	u64 target;
	struct dp_jump jump;
	u64 fast;
	u64 gate;
};

/** dp_few() - a count from shared memory: never more than there is room for */
static inline u32 dp_few(const u32 *count, u32 room)
{
	u32 n = *(const volatile u32 *)count;

	return n < room ? n : room;
}

/** enum dp_kind - what a probe does when it is hit */
enum dp_kind {
	DP_KIND_PLAIN, /* counts; runs its program, if it has one */
	DP_KIND_KPROBE, /* calls handlers in C */
	DP_KIND_RETURN, /* follows the call */
	DP_KIND_JPROBE, /* goes to another function first */
	DP_KIND_ENTER, /* a visit begins */
	DP_KIND_EXIT, /* one ends */
	DP_KIND_UNWIND, /* those on a part of the stack end */
	DP_KIND_ASK, /* its handler runs in the tool */
	DP_KIND_THERE, /* it has been put here by the tool */
	DP_KIND_LINKER, /* libraries come and go; nobody's probe */
};

/** dp_kind_is_hidden() - nobody has asked for such a probe: it serves others */
static inline bool dp_kind_is_hidden(u8 kind)
{
	return kind == DP_KIND_EXIT || kind == DP_KIND_UNWIND ||
	       kind == DP_KIND_LINKER;
}

/* @way of a probe: how a function is left there */
#define DP_WAY_TAIL 1 /* by a jump to another function, not by a return */
#define DP_WAY_TAKEN 2 /* only if the branch is taken */
#define DP_WAY_SHARED 4 /* calls come here that did not pass the entry */
#define DP_WAY_ONWARD 16 /* the exits of that other function are probed, too */
/* and of one at an entry: visits make records; with what xmm0 has at their end */
#define DP_WAY_LOGS 8
#define DP_WAY_XMM 128
/* and of DP_KIND_UNWIND: up to where the stack is about to be left */
#define DP_WAY_UNTIL_CX 32 /* the word at rcx included */
#define DP_WAY_UNTIL_DI 64 /* what is below rdi */

/* @group of an exit that is probed only for those who come to it by a tail jump */
#define DP_NO_GROUP 0xffffffffu

/**
 * struct dp_probe_entry - one probe of a site; control owns it
 * @next: 1 + index of the next probe at the site
 * @program: 1 + index of the program it runs, 0 for none
 * @start: offset in the program's code
 * @maxhits: executions after which it is disabled
 * @logonfault: its record counts even if the original instruction faults
 * @kind: enum dp_kind; the rest is for handlers in C, by address
 * @pre_needs, @post_needs: enum dp_insn_state: what has to be saved around them
 * @user: what handlers get as their first argument
 * @pre, @post, @fault: handlers, 0 for none
 * @nmissed: where hits that ran no handler are counted
 * @follow: struct dp_follow of a return probe
 * @group: of DP_KIND_EXIT: the probe at its function's entry; @way: DP_WAY_*
 * @deadline: of DP_KIND_ASK: ms for which a thread waits for its handler
 * @gone: it is at no site, because its code has gone, and was at this address
 */
struct dp_probe_entry {
	u32 next;
	u32 site;
	u32 enabled;
	u32 program;
	u32 start;
	u32 maxhits;
	u16 major, minor;
	u8 logonfault;
	u8 kind;
	u8 pre_needs, post_needs;
	u64 user;
	u64 pre, post, fault;
	u64 nmissed;
	u64 follow;
	u32 group, way;
	u32 deadline, pad;
	u64 gone;
};

/*
 * A visit is one call of a function whose exits are probed: its return address is
 * not touched, so it is known again by where that lies. A visit belongs to that
 * slot, not to a thread. The table has lines of keys, a cache line each, and
 * apart from it what is known of each visit. A key is in the line that its slot
 * hashes to, or, where that had no room, in one of those behind it.
 *
 * When a table fills up, control adds another one in memory of its own, several
 * times as large. Visits begin in the newest one that has room, and end where they
 * are.
 */
#define DP_VISIT_WAYS 7
#define DP_VISIT_REACH 8 /* lines in which a key can be */
#define DP_VISIT_LINES 16384 /* at most */
#define DP_VISIT_BYTES (16u << 20) /* of all visits, about, at most */
#define DP_VISIT_TABLES 4
#define DP_VISIT_GROWTH 4 /* each is so many times as large as the last one */
#define DP_VISIT_SLOT_BITS 44
/* Probes at entries have numbers below this. */
#define DP_VISIT_GROUPS ((1u << (64 - DP_VISIT_SLOT_BITS)) - 1)

/** struct dp_visit_line - @strayed: keys that belong here and are elsewhere; @tailed:
 *  those that belong here and have tailed */
struct dp_visit_line {
	u32 strayed, tailed;
	u64 key[DP_VISIT_WAYS]; /* 0: free */
};

/**
 * struct dp_visit_table - control owns it
 * @lines: address of the first struct dp_visit_line; @visits: of the first visit
 */
struct dp_visit_table {
	u64 lines, visits;
	u32 line_mask, pad;
};

/**
 * struct dp_visit - hit owns it; what its program logged at the entry follows
 * @slot: address of the return address; 0: it is not complete, or over
 * @ret: the return address; 0: it could not be read
 * @ticks: when the function was entered, where visits make records
 * @serial: counts the visits that were here
 * @tid: who entered; @len: bytes that follow
 * @tailed: its function has jumped to another one, which returns in its place
 * @ending: its end is being counted, or was
 */
struct dp_visit {
	u64 slot, ret, ticks, serial;
	u32 tid;
	u16 len;
	u8 tailed, ending;
};

/** dp_visit_key() - of a visit of the function at whose entry is probe @group */
static inline u64 dp_visit_key(u32 group, u64 slot)
{
	return (u64)(group + 1) << DP_VISIT_SLOT_BITS | slot >> 3;
}

/** dp_visit_fits() - can a slot be part of a key? */
static inline bool dp_visit_fits(u64 slot)
{
	return !(slot & 7) && !(slot >> (DP_VISIT_SLOT_BITS + 3));
}

/* What of a key says which slot it is of */
#define DP_VISIT_SLOT ((1ull << DP_VISIT_SLOT_BITS) - 1)

/* So much of a stack has its lines side by side, one for each two words of it. */
#define DP_VISIT_NEAR 6
#define DP_VISIT_NEAR_MASK ((1u << DP_VISIT_NEAR) - 1)

/** dp_visit_hash() - by slot alone, so that it can be told who is at one */
static inline u32 dp_visit_hash(u64 key)
{
	u64 pair = (key & DP_VISIT_SLOT) >> 1;

	return ((u32)(((pair >> DP_VISIT_NEAR) * 0x9e3779b97f4a7c15ull) >> 32)
		<< DP_VISIT_NEAR) |
	       ((u32)pair & DP_VISIT_NEAR_MASK);
}

/** enum dp_left - how a visit ended */
enum dp_left {
	DP_LEFT_RETURN,
	DP_LEFT_TAIL, /* another function returns in its place */
	DP_LEFT_ABANDONED, /* by longjmp, or with its stack */
	DP_LEFT_UNWOUND, /* by an exception, or the end of its thread */
};

/**
 * struct dp_leaving - how the record of a visit begins
 * @entered: ticks; @value: of rax or, DP_WAY_XMM, of xmm0's low half; @how: enum dp_left
 */
struct dp_leaving {
	u64 entered, value;
	u32 how, pad;
};

/* What vectors.S can save: enum dp_insn_state, and for the last of these */
#define DP_SAVE_ALL_SSE (3 | DP_STATE_XMM16)
#define DP_SAVE_ALL_AVX 4
#define DP_SAVE_ALL_AVX512 5

/**
 * struct dp_follow - a return probe's pool of instances; in the library's memory
 * @user: the struct kretprobe; @handler, @entry: its handlers, 0 for none, and
 *        what they need
 * @nmissed: where calls without an instance are counted, an int
 * @pool: address of the first instance; they are @stride bytes apart
 * @probe: index of its probe
 * @data_size: bytes behind each
 * @unwind: the handler is called for calls that an exception ends, too
 * @quick: its handlers touch general registers only, and there is not much to do for
 *         each call
 * @away: instances in use, or fewer; kept only where there are more than
 *        DP_FOLLOW_SCAN
 */
struct dp_follow {
	u64 user;
	u64 handler, entry;
	u64 nmissed;
	u64 pool;
	u32 stride, nr;
	u32 data_size;
	u32 probe;
	u8 handler_needs, entry_needs;
	u8 unwind, quick;
	u8 pad[4];
	s64 away;
};

/* So many are looked through for a free one; a count comes before more. */
#define DP_FOLLOW_SCAN 1024

/** enum dp_call_end - how a followed call has ended */
enum dp_call_end {
	DP_CALL_RETURNED,
	DP_CALL_UNWOUND, /* by an exception, or the end of its thread */
	DP_CALL_ABANDONED, /* by longjmp, or with its thread */
	DP_CALL_VETOED, /* by the entry handler, before it was followed */
	DP_CALL_ENDS,
	DP_CALL_JUMPED = DP_CALL_ENDS, /* to another function; not counted apart */
};

/* Of @used: the entry handler has not agreed yet */
#define DP_INSTANCE_NEW 0x80000000u

/**
 * struct dp_instance - one call that is followed; begins as the library's struct
 * kretprobe_instance does
 * @frame: address of its struct dp_frame
 * @next: address of the frame's next instance, of a probe that was hit before
 * @follow: address of its struct dp_follow
 * @index: of it in its pool
 * @used: id of the thread that took it, 0: it is free; @ending: enum dp_call_end, while its handler runs
 * @entered, @ended: calls that it has followed, and how they ended. Who has the
 *                   instance counts; the sums are those of the probe.
 */
struct dp_instance {
	u64 user, ret_addr, task;
	u64 frame, next, follow;
	u32 index, used;
	u64 ending;
	u64 entered, ended[DP_CALL_ENDS];
};

static inline struct dp_instance *dp_instance_at(const struct dp_follow *f,
						 u32 i)
{
	return (struct dp_instance *)(f->pool + (u64)i * f->stride);
}

/*
 * A followed call returns to a stub, and only from the stub's address is it known
 * which call it was: by us, and by those who unwind the stack. A stub:
 *
 *	lea 152(%rsp), %rsp; call *frame.cont(%rip); push $number
 *	jmp dp_return_entry
 *
 * The first instruction is for a detour that goes on there. It has left the stack so
 * that the call puts its address where the return address was.
 *
 * The first word of each page of them says how far its frames are from there. See
 * lib/x86/stubs.S for what unwinders are told.
 */
#define DP_STUB_SIZE 32
#define DP_STUB_BACK 14 /* what the call of a stub returns to */
#define DP_STUBS_A_PAGE (DP_PAGE / DP_STUB_SIZE) /* the first is none */

/** enum dp_frame_state */
enum dp_frame_state {
	DP_FRAME_FREE,
	DP_FRAME_LIVE,
	DP_FRAME_OVER, /* another thread than the one that has it returned */
	DP_FRAME_LEFT, /* its call was left; a return all the same goes home */
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
 * @free, @left, @orphans: number of the first such one, and above it a stamp
 * @late: returns of calls that had been taken for left; @late_user, @late_addr: of
 *        the last one
 */
struct dp_frames {
	u64 stubs, table;
	u64 nr, fresh;
	u64 free, left, orphans;
	u64 late;
	u64 late_user, late_addr;
};

/*
 * Handlers run on stacks of their own, one a thread, at @stack_base; the highest
 * bytes of each are its struct dp_stack, the lowest page is never mapped.
 */
#define DP_STACK_SIZE (16 * DP_PAGE)
#define DP_STACKS 4096
#define DP_BUSY_HANDLER 1
#define DP_BUSY_FAST 2 /* called by entry.S */
#define DP_BUSY_SELF 3 /* none, but the thread is in the library */
#define DP_BUSY_ENTER 4 /* of a return probe, called by entry.S */
#define DP_BUSY_RETURN 5
#define DP_OWNER_COMES 0x80000000u /* it is being prepared */
/* 32 registers of 64 bytes, eight of eight, and what vectors.S has besides */
#define DP_VECTORS_SIZE 2304
#define DP_HINTS 32
#define DP_SPARE_FRAMES 4

/**
 * struct dp_stack - what a thread does in handlers; hit owns it
 * @tid: whose it is
 * @busy: a handler runs: DP_BUSY_*
 * @jumped: a jprobe's, on the program's own stack
 * @hits: how often one has
 * @sp: the program's stack pointer meanwhile
 * @probe: 1 + index of the probe whose handler it is
 * @regs: address of the registers that it got
 * @guard: stack pointer with which the handler can be given up
 * @frames: address of the innermost call's that is followed
 * @spare: number of a free frame, the thread's own list of them; @nr_spare
 * @kept: number of a frame that an unwinder is still to look at, 0 for none
 * @patience: calls to be missed before it is looked again for frames that were left
 * @hints: where to look for a free instance first
 * @instance: address of that of a call whose entry or return is being handled; @rest:
 *            of the first of those that are still to be; @taken: number of their frame
 * @counter: address of one of @instance's that is to be @sum
 * @orphans: number of the first that it is looking through
 * @thread: its thread pointer
 * @task: what the library says of the thread, 0: it was not asked yet
 * @faulting: while a fault_handler runs, a stack pointer above it
 * @alt_sp, @alt_size: the thread's alternate signal stack; @alt_off: we have hidden
 *                     it from the kernel
 * @x87: the registers of that kind are saved, too
 */
struct dp_stack {
	u32 tid;
	u32 busy, jumped, alt_off;
	u64 hits;
	u64 sp;
	u32 probe, x87;
	u64 regs;
	u64 guard;
	u64 frames;
	u64 alt_sp, alt_size;
	u64 site;
	u64 faulting;
	u64 after; /* it runs after an instruction */
	u64 instance, rest, counter, sum;
	u64 task, thread;
	u8 vectors[DP_VECTORS_SIZE] __attribute__((aligned(64)));
	u64 trapped[21]; /* the registers of a hit by a breakpoint */
	u64 faulted[21]; /* those of a fault in a handler */
	u64 saved[21]; /* a jprobe's registers, and where they go on */
	u64 words[9]; /* the return address and the arguments on the stack */
	u64 words_size; /* in bytes: fewer, where the stack ends */
	u32 spare, nr_spare;
	u32 patience, kept, taken, orphans;
	u32 hints[DP_HINTS];
};

/** enum dp_status_bit - what a program has made of its probe */
enum dp_status_bit {
	DP_PROBE_REMOVED = 1,
	DP_PROBE_SUSPENDED = 2,
	DP_PROBE_FAULTED = 4, /* one of its handlers has */
};

/** enum dp_tally - what else became of hits and records, by probe */
enum dp_tally {
	DP_TALLY_PASSED, /* hits that passcount let pass */
	DP_TALLY_DISABLED, /* hits after maxhits, remove, or suspend */
	DP_TALLY_CONTEXT, /* hits missed for want of a context */
	DP_TALLY_LOST, /* records for which the ring had no room */
	DP_TALLY_DISCARDED, /* records whose original instruction faulted */
	DP_TALLY_RECURSED, /* hits inside a handler */
	DP_TALLY_FAULTED, /* handlers that were given up */
	DP_TALLY_SELF, /* hits of the library's own calls */
	DP_TALLY_VISITS, /* entries that are not followed: the table was full */
	DP_TALLY_ABANDONED, /* visits that were seen to have ended otherwise */
	DP_TALLY_UNSEEN, /* returns of calls that were not followed */
	DP_TALLY_UNMET, /* entries whose program did not want them followed */
	DP_TALLY_DAMAGED, /* visits that made no sense when they ended */
	DP_TALLY_UNWOUND, /* visits that were unwound */
	DP_TALLY_RETURNED, /* that returned from where they had jumped to */
	DP_TALLY_TAILED, /* that were lost sight of there, by another jump */
	DP_TALLY_CUT, /* whose beginning or end was left by a signal's handler */
	DP_TALLY_UNANSWERED, /* handlers in the tool that took too long */
	DP_TALLY_UNHEARD, /* hits while the tool was not there */
	DP_TALLY_TOOL_GONE, /* hits after the end of the tool */
	DP_TALLY_BROUGHT, /* visits that a fork has brought along */
	DP_TALLY_MIDDLE, /* of the first probe of a site: see dp_engine_middle() */
	DP_TALLY_NR,
};

/**
 * struct dp_probe_state - of a probe with a program; hit owns it
 * @count: executions so far; starts at minus passcount
 * @waiting: records that wait for their instruction
 */
struct dp_probe_state {
	s64 count;
	u32 status;
	u32 waiting;
	u64 tally[DP_TALLY_NR];
};

#define DP_PROGRAM_NAME 48

/** struct dp_program_entry - a verified program; control owns it */
struct dp_program_entry {
	u32 code_off, code_len;
	u32 lv_off, nr_lv;
	u32 jmpmax, logmax, stack_mask;
	u32 pad;
	char name[DP_PROGRAM_NAME];
};

#define DP_CONTEXTS 256
#define DP_CONTEXT_STACK 192 /* words */
/* Of all rings together, about, and the least of each. */
#define DP_RING_BYTES (16u << 20)
#define DP_RING_LEAST (1u << 20)

/** enum dp_context_state */
enum dp_context_state {
	DP_CONTEXT_FREE,
	DP_CONTEXT_RUNS,
	DP_CONTEXT_PENDING, /* its record waits for the original instruction */
};

/**
 * struct dp_context - what one hit of a probe with a program needs; hit owns it
 * @serial: the same for all probes of one hit
 * @sp: the program's stack pointer at the hit
 * @waits: what came of it: the record waits
 * @stack: for the work itself, so that little of the thread's own is used
 */
struct dp_context {
	u32 state;
	u32 tid;
	u32 probe;
	u32 site;
	u64 serial;
	u64 sp;
	u64 ticks;
	u64 hit; /* struct dp_hit, while it runs */
	u32 waits;
	u32 pad;
	u64 visit; /* address of the struct dp_visit that begins; 0: none does */
	u64 stack[DP_CONTEXT_STACK];
	struct dp_vm vm;
};

/** enum dp_record_flag */
enum dp_record_flag {
	DP_RECORD_TRUNCATED = 1, /* the log was too small */
};

/**
 * struct dp_record - one hit's log as it travels
 * @ticks: when the hit began, by dp_port_ticks()
 * @exception: that ended the program, or 0; @parm is what it says
 *             (see enum dp_vm_exception)
 * @facility: n of "exit n", or 0
 * @len: bytes of data behind it
 */
struct dp_record {
	u64 ticks;
	u32 probe;
	u32 tid;
	u32 cpu;
	u16 major, minor;
	u16 exception;
	u16 len;
	u8 facility;
	u8 flags;
	u16 pad;
	u64 parm[2];
};

/**
 * struct dp_slot - room for one record
 * @turn: says whose it is. Record number n of a ring of s slots goes into slot
 *        n mod s, in its round n - n mod s: that number means that a writer may
 *        take the slot, one more that it is written, s more that it is free
 *        again. So all slots begin at zero.
 */
struct dp_slot {
	u64 turn;
	struct dp_record record;
};

/** struct dp_ring - one shard: many writers, one reader; slots follow */
struct dp_ring {
	u64 next; /* number of the next record */
	u64 pad[7];
};

/** enum dp_ask_state - whose turn it is */
enum dp_ask_state {
	DP_ASK_FREE,
	DP_ASK_TAKEN, /* a thread fills it in, or reads what came */
	DP_ASK_ASKED, /* the tool is to take it */
	DP_ASK_RUNS, /* the handler does; the thread waits */
	DP_ASK_ANSWERED, /* it is the thread's again */
	DP_ASK_LEFT, /* the thread has gone on; the tool is to free it */
};

/**
 * struct dp_ask - a thread that waits for a handler in the tool
 * @state: enum dp_ask_state; whoever waits for it is woken
 * @tid: of the thread, in the target's namespace; @probe: whose handler
 * @regs: struct dp_regs. The handler changes them.
 */
struct dp_ask {
	u32 state;
	u32 tid, probe, pad;
	u64 regs[21];
	u64 more;
};

/**
 * struct dp_asks - all of them
 * @keeper: a robust futex (linux/futex.h) that a thread of the tool holds as long
 *          as the tool answers
 * @calls: counts what was asked; the tool waits for it to change
 * @high: one more than the last that was ever used
 */
struct dp_asks {
	u32 keeper, calls, high, pad;
	u64 more[6];
	struct dp_ask v[];
};
#define DP_ASKS 1024

/**
 * struct dp_there - a thread in a handler that the tool has put into the process;
 * behind the structure the stack on which that runs
 * @probe: 1 + index; 0: free
 * @guard: stack pointer with which the handler can be given up
 */
struct dp_there {
	u32 probe, pad;
	u64 guard;
	u64 regs[21];
	u8 vectors[DP_VECTORS_SIZE] __attribute__((aligned(64)));
};
#define DP_THERES 64
#define DP_THERE_SIZE (5 * DP_PAGE)

/** struct dp_span - [start, start + size) in the target; control owns it */
struct dp_span {
	u64 start;
	u64 size;
};

/**
 * struct dp_mapped - a mapping of code in which there are sites; control owns it
 * @offset, @inode, @dev_major, @dev_minor: of what file, as /proc/PID/maps says:
 *        something else may be there later. 0: of none
 */
struct dp_mapped {
	u64 start;
	u64 size;
	u64 offset, inode;
	u32 dev_major, dev_minor;
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
	u32 resident; /* the process probes itself */
	u32 max_sites, max_probes; /* for which there is room */
	s32 self_offset; /* of the address of its struct dp_stack, from fs */
	s32 errno_offset; /* of errno, from fs; 0: not known */
	u32 vectors; /* DP_SAVE_*: all of them, on this machine */
	u64 stack_base; /* of DP_STACKS stacks */
	u32 owner_off; /* whose they are: u32 thread ids */
	u32 stack_size; /* sizeof(struct dp_stack) */
	u64 task; /* address of u64 (*)(void): the thread as handlers see it */
	u64 frames; /* address of struct dp_frames */
	/* Addresses of code that calls the handler in rax so that the stack can
	 * be unwound from there; before an instruction, and after one */
	u64 handler_before, handler_after;
	u32 ask_off, nr_asks; /* struct dp_asks; 0: nobody can be asked */
	u64 there_base; /* address of DP_THERES struct dp_there; 0: none */
	u32 line_off, line_mask; /* of the first table of visits */
	u32 visit_off, visit_stride;
	struct dp_visit_table visit_tables[DP_VISIT_TABLES];
	u32 nr_visit_tables;
	u32 onward; /* a probe is DP_WAY_ONWARD */
	/* A futex that the tool's thread holds, in its robust list, and the link
	 * of that; the kernel marks it when the thread ends. */
	u64 tool_link;
	u32 tool_futex;
	/* How many of the linker's calls have been answered; r_state of its struct
	 * r_debug, 0: nobody wants to know */
	u32 linker_answered;
	u64 linker_state;
	u32 nr_pending;
	u32 linker_hold; /* text is being written: who is about to change mappings waits */
	char pending[DP_PENDING][DP_PENDING_SIZE]; /* specs that wait for a library */
	char reasons[DP_REASONS][DP_REASON_SIZE];
	u32 nr_pools;
	u32 nr_texts;
	u32 revertible; /* @texts are all, and held only page-cache pages before us */
	u32 fsgsbase; /* thread pointers can be read by an instruction */
	u32 silent; /* a filter forbids breakpoints, and @forbidden is all */
	u32 forbidden; /* calls that the hit half must not make: the port's bits */
	u32 small_stacks; /* system calls are made where there is hardly any room */
	/* Of @filter_ask the last one that has been answered; not 0: the tool takes the
	 * probes away, and whoever asks waits for that */
	u32 filter_leaving;
	u64 filter_answered;
	struct dp_span pools[DP_MAX_POOLS];
	struct dp_mapped texts[DP_MAX_TEXTS];
	/* Where parts of the arena begin: what no fork child has, what is private, and the
	 * tables. The first one, dp_arena_hit's, begins at DP_CONTROL_ROOM. */
	u32 own_off, private_off, tables_off;
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

/*
 * A thread that is about to install a seccomp filter: the address of its registers
 * (struct dp_mcontext), with which it is sent home, and above that a number.
 */
#define DP_FILTER_NUMBER 48
/** dp_filter_regs() - the address */
static inline u64 dp_filter_regs(u64 ask)
{
	return ask & ((1ull << DP_FILTER_NUMBER) - 1);
}

/** dp_filter_answered() - is @ask answered, if @answered was the last that was? */
static inline bool dp_filter_answered(u64 ask, u64 answered)
{
	u64 ahead = (answered >> DP_FILTER_NUMBER) - (ask >> DP_FILTER_NUMBER);

	return (s64)(ahead << DP_FILTER_NUMBER) >= 0;
}

/* Set in @tool_futex by the kernel: FUTEX_OWNER_DIED of linux/futex.h */
#define DP_TOOL_DIED 0x40000000u

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

/* Actions are published by index and never change once published, until the
 * ring comes round. */
#define DP_ACTION_RING 32

/*
 * Signals that the breakpoints of jumps raise: SIGTRAP; and SIGILL, where a
 * breakpoint has to be another instruction than int3 (landing.c).
 */
#define DP_CAUGHT_JUMPS 2
/* Where handlers in C run, their faults, too, and those of copies. */
#define DP_CAUGHT 5
static inline u32 dp_caught(u32 k)
{
	/* SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE; no table, for the sake of
	 * code that must not have data. */
	return (u32)(0x87b45ull >> 4 * k) & 15;
}

/** dp_caught_mask() - the first @n of them as a signal set */
static inline u64 dp_caught_mask(u32 n)
{
	u64 mask = 0;

	while (n-- > 0)
		mask |= 1ull << (dp_caught(n) - 1);
	return mask;
}

/* Of one thread: what it is known by, dp_thread_id(), and these. */
#define DP_MASK_FAULTS (7ull << 48)
#define DP_MASK_BLOCKED \
	(3ull | DP_MASK_FAULTS) /* a bit a caught signal, as the program knows it */
#define DP_MASK_HELD 16ull /* one has come meanwhile: see dp_private.held */
#define DP_MASK_IGNORES 4ull /* a vfork child has made its action SIG_IGN */
#define DP_MASK_DEFAULT 8ull /* or SIG_DFL */
#define DP_MASK_SHARER 32ull /* a vfork child's, who has its parent's pointer */
#define DP_MASK_STATE (31ull | DP_MASK_FAULTS)
#define DP_MASK_BITS (63ull | DP_MASK_FAULTS)
#define DP_MASKS 8192
#define DP_CLONES 64
#define DP_MASK_PROBES 256
#define DP_HELD 32
#define DP_SLEEPS 256
#define DP_HOOK_STACKS 16
#define DP_HOOK_STACK_WORDS 126

/**
 * dp_thread_id() - what a thread is known by
 * @pointer: its thread pointer, 47 bits; 0: there is no libc that has set it
 * @tid: its id, which counts then
 *
 * Leaves free the bits of DP_MASK_BITS, and the highest one.
 */
#define DP_THREAD_BARE (1ull << 46)
static inline u64 dp_thread_id(u64 pointer, u32 tid)
{
	if (!pointer)
		return DP_THREAD_BARE | (u64)tid << 6;
	return (pointer & ~63ull) | (pointer & 63) << 57;
}

/** dp_thread_is_bare() - is it one without a thread pointer? */
static inline bool dp_thread_is_bare(u64 id)
{
	return (id ^ DP_THREAD_BARE) < 1ull << 32;
}

/** dp_mask_bit() - the @k-th caught signal is believed to be blocked */
static inline u64 dp_mask_bit(u32 k)
{
	return k < DP_CAUGHT_JUMPS ? 1ull << k :
				     1ull << (48 + k - DP_CAUGHT_JUMPS);
}

/** dp_mask_slot() - where the search for a thread pointer begins */
static inline u32 dp_mask_slot(u64 pointer)
{
	return (u32)((pointer * 0x9e3779b97f4a7c15ull) >> 32) % DP_MASKS;
}

/**
 * struct dp_sleep - a call that sleeps under a mask of its own; hit owns it
 * @thread: whose it is, and DP_MASK_SHARER; 0: free
 * @mask: what the kernel gets, which has no caught signal; @pair: the same in
 *        the form of pselect6(2)
 * @given: what the program gave. The register that has it has the address of
 *         @mask or @pair as long as the call lasts, by which it is known again
 * @was: caught signals that the program believes to be blocked outside the call
 * @real: if @closed, the thread's mask; it has all signals blocked then, but for
 *        the time of the call
 * @sp: stack pointer of the call
 * @call: address of the instruction that sets its number
 * @detour, @detour_len: where that is made instead
 * @back: where it returns to; @behind: the same in the program's text
 * @serial: counts calls
 * @stacked: what was given is on the stack, too
 * @through: it is made by a function that is called for it: @call is where, and
 *           @behind where that one returns to; @back is 0
 * @touched: there may be breakpoints between @call and the return
 * @unknown: any call, for all that can be told in the handler that it returns from: there
 *           is no mask, only the return
 */
struct dp_sleep {
	u64 thread;
	u64 mask;
	u64 pair[2];
	u64 given;
	u64 was, real;
	u64 sp;
	u64 call, detour, back, behind;
	u64 serial;
	u32 nr, closed, detour_len, stacked;
	u32 through, touched;
	u64 unknown;
};

/**
 * struct dp_native - such a call that was made without us, or goes on without us
 * @thread: whose it is; 0: free
 * @sp, @back, @behind, @through, @nr: as of a struct dp_sleep
 * @mask: all of it
 */
struct dp_native {
	u64 thread;
	u64 sp, back, behind;
	u64 mask;
	u32 nr, through;
};

/**
 * struct dp_stepped - the thread that the tool is bringing out of the agent
 * @thread: 0: none; @mask: its signal mask
 * @masked: the one that it has for the stepping only, or 0
 * @own: does it step by itself, too?
 *
 * It counts once the tool has ended: see port/user/signals/stepped.c.
 */
struct dp_stepped {
	u64 thread, mask, masked, own;
};

/**
 * struct dp_private - state that a fork child takes along and then owns
 * @in_force: our signal actions are, all of them, and the masks are ours. Until then,
 *            and from when that ends, the kernel is asked: see dp_mask_catches()
 * @in_masks: for each caught signal a bit a signal: the program's action for
 *            that one blocks it
 * @stepped: see struct dp_stepped
 * @masks: threads that block a caught signal, or once did: a hash table. None is
 *         ever really blocked.
 * @held: signals that wait for their thread to unblock them
 * @actions: the program's own for the caught signals. @current is the stamp of
 *           the one in force, at ring[stamp % RING]; @next the last one taken
 * @clones: threads that are making a process, and how: flags of clone(2)
 * @sleeps: calls with a mask of their own; @serial of the last one; @unknowns: how many
 *          are not known
 * @natives: those that have not passed here, for the time between
 * @stacks: for the work of hooks, where the program's own are small
 */
struct dp_private {
	u64 in_force;
	u64 in_masks[DP_CAUGHT];
	struct dp_stepped stepped;
	u64 masks[DP_MASKS];
	struct dp_held {
		u64 thread; /* 0: free */
		u64 info[16];
	} held[DP_HELD];
	struct dp_clone {
		u64 thread; /* 0: free */
		u64 flags;
		u64 sp; /* with which the child begins */
		u64 believed; /* to be blocked */
	} clones[DP_CLONES];
	struct dp_actions {
		u32 current;
		u32 next;
		struct dp_action_slot {
			u32 stamp;
			u32 pad;
			struct dp_kernel_sigaction action;
		} ring[DP_ACTION_RING];
	} actions[DP_CAUGHT];
	u64 serial, unknowns;
	struct dp_sleep sleeps[DP_SLEEPS];
	struct dp_native natives[DP_SLEEPS];
	struct dp_hook_stack {
		u64 busy, pad;
		u64 words[DP_HOOK_STACK_WORDS];
	} stacks[DP_HOOK_STACKS];
};

/* Number of a hooked call that is only known when it is made */
#define DP_ANY_CALL 0xffffffffu
/* The same, and it is asked for no sooner than all its arguments are in registers; of
 * the other one the last is still on the stack. */
#define DP_PLAIN_CALL 0xfffffffeu
/** dp_call_is_any() - is it one of these? */
static inline bool dp_call_is_any(u32 number)
{
	return number == DP_ANY_CALL || number == DP_PLAIN_CALL;
}

/*
 * A call that sleeps under a mask of its own is made where it stands. It is
 * hooked at the instruction that sets its number and at the one that it returns
 * to: the number with these bits, and from the first one to the second so many
 * bytes.
 */
#define DP_CALL_ENTERS 0x40000000u
#define DP_CALL_RETURNS 0x20000000u
#define DP_CALL_NUMBER 0xffffu
/*
 * Or it is made by musl's __syscall_cp(), for many: hooked are the call of that one,
 * and the next call or jump, which is to what sets errno; and where that one does not
 * return, but the thread is cancelled.
 */
#define DP_CALL_THROUGH 0x10000000u
#define DP_CALL_TOUCHED 0x08000000u /* see struct dp_sleep */
#define DP_CALL_LENGTH_SHIFT 16
static inline u32 dp_call_length(u32 number)
{
	return number >> DP_CALL_LENGTH_SHIFT & 0xff;
}

/** dp_call_sleeps() - is it such a place? */
static inline bool dp_call_sleeps(u32 number)
{
	return !dp_call_is_any(number) &&
	       number & (DP_CALL_ENTERS | DP_CALL_RETURNS);
}

/** dp_call_goes_through() - is it one of these? */
static inline bool dp_call_goes_through(u32 number)
{
	return dp_call_sleeps(number) && number & DP_CALL_THROUGH;
}

/* Of the function that makes it, and of the one that it is made for, there is less on
 * the stack. */
#define DP_THROUGH_STACK 256
/* From the return of the first one to the hook behind it there is less. */
#define DP_THROUGH_TAIL 64

/** dp_site_hash() - where the search for an address begins */
static inline u32 dp_site_hash(u64 addr)
{
	return (u32)((addr * 0x9e3779b97f4a7c15ull) >> 32);
}

#endif
