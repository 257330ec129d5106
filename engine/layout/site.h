/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* site: one probed address, as both halves know it. */
#ifndef DP_LAYOUT_SITE_H
#define DP_LAYOUT_SITE_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/insn/faults.h"

/* jump: the detour that a site's jump leads to. A jump never changes once a site leads
 * there; a site that needs another one gets another entry of the table. */

#define DP_JUMP_INSNS 5

/**
 * struct dp_jump - where a site's jump goes, and what is there
 * @site: whose jump it is
 * @base: address of the detour, @len bytes
 * @island: address of the island, 0 if the site's jump leads to the detour directly
 * @start: offset in the detour where the jump enters it
 * @at: offsets in the detour of each instruction of the region, with its call-out; the
 *      last one is of the jump back
 * @insn: offsets of the instructions themselves
 * @offset: of each instruction from the site's address
 * @nr: instructions; @size: their bytes in the text
 * @atomic: one bit per instruction: in the detour it is one instruction, too
 * @tracked: a call that begins here can go on through a stub
 * @member: of an engine whose probes come and go: 1 + number of the site at each
 *        instruction that has a call-out; 0: none
 * @earlier: number of the site's jump before this one, or 0
 * @room: bytes that its detour may take
 */
struct dp_jump {
	u64 base, island;
	u16 len, start;
	u16 at[DP_JUMP_INSNS + 1];
	u16 insn[DP_JUMP_INSNS];
	u8 offset[DP_JUMP_INSNS];
	u8 nr, size, atomic, tracked;
	u32 site, earlier;
	u32 member[DP_JUMP_INSNS];
	u16 room;
};

/** enum dp_mode - how a site is armed */
enum dp_mode {
	DP_MODE_TRAP,
	DP_MODE_JUMP,
};

/* @intercept of a site: not a probe; the agent makes the system call, or observes it */
#define DP_INTERCEPT_MADE 1
#define DP_INTERCEPT_OBSERVED 2

/* @armed of a site: the original bytes; the jump or breakpoint; on its way out; on its
 *   way in; a breakpoint where a jump could be */
#define DP_SITE_OFF 0
#define DP_SITE_THERE 1
#define DP_SITE_LEAVING 2
#define DP_SITE_COMING 3
#define DP_SITE_TRAPPED 4
/* Control has found that the code is not mapped any more */
#define DP_SITE_GONE 5
/* A foreign breakpoint is where the jump began: the jump is on its way out from behind
 * it; is out */
#define DP_SITE_CEDES 6
#define DP_SITE_CEDED 7

/* @wanted: disarmed; armed as planned; as a breakpoint only */
#define DP_WANT_OFF 0
#define DP_WANT_PLAN 1
#define DP_WANT_TRAP 2

/**
 * struct dp_site_entry - one probed address; control owns it
 * @addr: of the original instruction
 * @copy: of its copy (or of the code that an intercept runs instead)
 * @first_probe: 1 + index of its first probe, 0 for none
 * @orig: the bytes that arming replaced
 * @patch: the bytes that arming put there
 * @patch_len: how many
 * @insn_len: length of the original instruction
 * @copy_len, @body_len: of the copy (see struct dp_copy)
 * @atomic: a pc inside the copy is at its start or at its end, nowhere else
 * @mode: enum dp_mode
 * @post: of the copy that ends in a breakpoint behind the instruction, 0 for none
 * @post_body: offset of that breakpoint
 * @jump: its number in the table, for DP_MODE_JUMP; the @copy of such a site is in its
 *        detour. 0: an empty one; the site is inside another site's region.
 * @calls_out: its detour calls out when the instruction has completed
 * @intercept: DP_INTERCEPT_*: a system call of libc that passes through the agent;
 *         @number: which
 * @faults: enum dp_insn_faults; @operand: where an indirect branch reads
 * @class, @cc, @target: of a branch: enum dp_insn_class, its condition, and where a
 *         direct branch goes
 * @single: the copy of the instruction alone, for a site that may be either mode. @copy
 *         is this copy or the one in the detour: see engine/site/apply.c.
 * @single_len, @single_body: of it
 * @fast: address of the site's only struct dp_probe_entry, if a hit by a jump only
 *        calls its pre_handler or tracks the call; else 0
 * @leader: 1 + number of the site whose jump covers it, where sites have breakpoints of
 *        their own inside jumps (engine/site/group.c); 0: none
 * @traps: one bit per byte of the patch: the byte is a breakpoint
 * @unowned: an unowned mapping has the code: each write is preceded by a check
 * @reason: 1 + number of the phrase that says why it is a breakpoint, 0: none
 * @enable_word: not 0: its detour calls out; else it only counts
 * @x87: the code around it may use the x87 or MMX registers
 * @counts: hits of the site are counted, for all of its probes
 * @calls: some of its probes are handlers in C; @runs: some are not
 * @wanted: whether, and how, it is to be armed: DP_WANT_*
 * @armed: DP_SITE_*: set before the first byte is written, cleared after the last byte
 *         is back. So the next tool knows what to look at.
 * @returned: it was armed and is not any more. A debugger that met our breakpoint may
 *         put it back when it leaves.
 */
struct dp_site_entry {
	u64 addr;
	u64 copy;
	u64 post;
	struct dp_operand_ref operand;
	u32 first_probe;
	u8 orig[DP_JUMP_SIZE];
	u8 patch[DP_JUMP_SIZE];
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
	u8 intercept, calls_out;
	u8 wanted;
	u8 class, cc;
	u8 single_len, single_body;
	u8 single_atomic, x87;
	u8 counts, calls, runs;
	u8 reason, traps, unowned;
	u32 number, jump, leader;
	u64 single;
	u64 target;
	u64 fast;
	u64 enable_word;
};

/** dp_site_jumps() - is the site's jump in the text, or on its way in or out? */
static inline bool dp_site_jumps(const struct dp_site_entry *s)
{
	u8 armed = __atomic_load_n(&s->armed, __ATOMIC_ACQUIRE);

	return s->mode == DP_MODE_JUMP &&
	       (armed == DP_SITE_THERE || armed == DP_SITE_COMING ||
		armed == DP_SITE_LEAVING || armed == DP_SITE_CEDES);
}

/** dp_site_hash() - where the search for an address begins */
static inline u32 dp_site_hash(u64 addr)
{
	return (u32)((addr * 0x9e3779b97f4a7c15ull) >> 32);
}

/* probe: a probe of a site, as the hit half knows it. */

/** enum dp_kind - what a probe does when it is hit */
enum dp_kind {
	DP_KIND_PLAIN, /* counts; runs its program, if it has one */
	DP_KIND_KPROBE, /* calls handlers in C */
	DP_KIND_RETURN, /* tracks the call by a stub */
	DP_KIND_JPROBE, /* goes to another function first */
	DP_KIND_ENTER, /* a call begins that is tracked to the function's exits */
	DP_KIND_EXIT, /* a tracked call ends */
	DP_KIND_UNWIND, /* tracked calls on a part of the stack end */
	DP_KIND_UPCALL, /* its handler runs in the tool */
	DP_KIND_INJECTED, /* the tool has put its handler here */
	DP_KIND_LINKER, /* loader events; not a user's probe */
};

/** dp_kind_is_handler() - does such a probe call a handler in C, rather than run a program? */
static inline bool dp_kind_is_handler(u8 kind)
{
	return kind == DP_KIND_KPROBE || kind == DP_KIND_RETURN ||
	       kind == DP_KIND_JPROBE || kind == DP_KIND_UPCALL ||
	       kind == DP_KIND_INJECTED;
}

/** dp_kind_is_hidden() - no user has registered such a probe: it serves others */
static inline bool dp_kind_is_hidden(u8 kind)
{
	return kind == DP_KIND_EXIT || kind == DP_KIND_UNWIND ||
	       kind == DP_KIND_LINKER;
}

/* @way of a probe: how a function is left there */
#define DP_WAY_TAIL 1 /* by a jump to another function, not by a return */
#define DP_WAY_TAKEN 2 /* only if the branch is taken */
#define DP_WAY_SHARED 4 /* calls come here that did not pass the entry */
#define DP_WAY_TAIL_TARGET 16 /* the exits of the tail target are probed, too */
/* @way of a probe at an entry: instances make records; its function returns a
 *   floating-point number */
#define DP_WAY_LOGS 8
#define DP_WAY_XMM 128
/* @way of DP_KIND_UNWIND: where the part of the stack ends that is about to be left */
#define DP_WAY_UNTIL_CX 32 /* the word at rcx included */
#define DP_WAY_UNTIL_DI 64 /* what is below rdi */

/* @group of an exit that is probed only for calls that come to it by a tail jump */
#define DP_NO_GROUP 0xffffffffu

/**
 * struct dp_probe_entry - one probe of a site; control owns it
 * @next: 1 + index of the next probe at the site
 * @program: 1 + index of the program it runs, 0 for none
 * @start: offset in the program's code
 * @maxhits: executions after which it is disabled
 * @logonfault: its record counts even if the original instruction faults
 * @kind: enum dp_kind; the rest is for handlers in C, by address
 * @pre_needs, @post_needs: enum dp_insn_state: what has to be saved around the handlers
 * @user: the first argument of its handlers
 * @pre, @post, @fault: handlers, 0 for none
 * @nmissed: address of the counter of hits that ran no handler
 * @instance_pool: struct dp_instance_pool of a return probe, and of its exits
 * @group: of DP_KIND_EXIT: the probe at its function's entry
 * @way: DP_WAY_*; of DP_KIND_UPCALL: the handler is called if the branch is taken
 * @deadline: of DP_KIND_UPCALL: ms for which a thread waits for the handler
 * @disabled: the user has disabled it, for listings: @enabled is 0 in other cases, too
 * @gone: the address where the probe was, if its code has gone; it is at no site then
 * @counting: the hits of its site are the probe's, too, less the @since ones before; @earlier:
 *         its hits before that
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
	u64 instance_pool;
	u32 group, way;
	u32 deadline, disabled;
	u64 gone;
	u64 since, earlier;
	u32 counting, pad;
};

/** dp_probe_is_handler() - as dp_kind_is_handler(); calls that handlers track by exits have
 *  a pool of instances */
static inline bool dp_probe_is_handler(const struct dp_probe_entry *p)
{
	return dp_kind_is_handler(p->kind) || p->instance_pool;
}

/* tally: outcomes of probes, hits and records. */

/** enum dp_status_bit - what has become of a probe */
enum dp_status_bit {
	DP_PROBE_REMOVED = 1,
	DP_PROBE_SUSPENDED = 2,
	DP_PROBE_FAULTED = 4, /* one of its handlers has faulted */
};

/** enum dp_tally - outcomes of hits and records, by probe */
enum dp_tally {
	DP_TALLY_PASSED, /* hits that passcount let pass */
	DP_TALLY_DISABLED, /* hits after maxhits, remove, or suspend */
	DP_TALLY_CONTEXT, /* hits missed for want of a context */
	DP_TALLY_LOST, /* records for which the ring had no room */
	DP_TALLY_DISCARDED, /* records whose original instruction faulted */
	DP_TALLY_RECURSED, /* hits inside a handler */
	DP_TALLY_FAULTED, /* handlers that were given up */
	DP_TALLY_SELF, /* hits of the library's own calls */
	DP_TALLY_INSTANCES, /* entries that are not tracked: the table was full */
	DP_TALLY_ABANDONED, /* calls left by longjmp, or with their stack */
	DP_TALLY_UNSEEN, /* returns of calls that were not tracked */
	DP_TALLY_UNMET, /* entries whose program did not want them tracked */
	DP_TALLY_DAMAGED, /* instances that made no sense when they ended */
	DP_TALLY_UNWOUND, /* instances that were unwound */
	DP_TALLY_RETURNED, /* ended at an exit of the tail target */
	DP_TALLY_TAIL_CALLED, /* the tail target was left by a jump */
	/* instances whose beginning or end a signal handler left for good */
	DP_TALLY_CUT,
	DP_TALLY_UNANSWERED, /* handlers in the tool that took too long */
	DP_TALLY_UNHEARD, /* hits while the tool was not there */
	DP_TALLY_TOOL_GONE, /* hits after the end of the tool */
	DP_TALLY_BROUGHT, /* instances that a fork has brought along */
	DP_TALLY_INSIDE, /* instances whose probe was disabled before they ended */
	/* interior arrivals, of the first probe of a site: see dp_engine_middle() */
	DP_TALLY_MIDDLE,
	DP_TALLY_NR,
};

/**
 * struct dp_probe_state - state of a probe; hit owns it
 * @count: executions so far; starts at minus passcount
 * @waiting: records that wait for their instruction
 */
struct dp_probe_state {
	s64 count;
	u32 status;
	u32 waiting;
	u64 tally[DP_TALLY_NR];
};

#endif
