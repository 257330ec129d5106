/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* site: one probed address, as both halves know it. */
#ifndef DP_LAYOUT_SITE_H
#define DP_LAYOUT_SITE_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/insn/faults.h"
#include "engine/layout/probe.h"

/* jump: the detour that a site's jump leads to. A jump never changes once a site leads
 * there; a site that needs another one gets another entry of the table. */

#define DP_JUMP_INSNS 5

/**
 * struct dp_jump_program - the program that a detour runs itself
 * @program: a number that no other program ever has; 0: none
 * @start: where it begins
 * @probe: whose records it makes
 */
struct dp_jump_program {
	u32 program, start, probe;
};

/**
 * enum dp_jump_calls - what a detour in one's own process does before the first instruction
 * @DP_CALLS_COUNTED: it counts, and calls out if the enable word says so
 * @DP_CALLS_HANDLER: it calls out, and the agent counts
 * @DP_CALLS_FOLLOWED: it saves what a followed handler touches, counts, and calls the handler
 * @DP_CALLS_TRACKED: it calls out for a call that is tracked, and the agent counts
 */
enum dp_jump_calls {
	DP_CALLS_COUNTED,
	DP_CALLS_HANDLER,
	DP_CALLS_FOLLOWED,
	DP_CALLS_TRACKED,
	DP_CALLS_WAYS,
};

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
 * @member: 1 + number of the site at each instruction that has one; 0: none
 * @before, @after: one bit per instruction: it calls out before, and after it; a detour with an
 *        enable word does when that is set; @counted: it counts before an inner instruction
 * @earlier: number of the site's jump before this one, or 0
 * @leave: offset where a thread goes on that has faulted between @start and the first
 *         instruction; 0: none can
 * @runs: what the detour runs itself
 * @room: bytes that its detour may take
 * @calls: enum dp_jump_calls; @touches: of DP_CALLS_FOLLOWED, see struct dp_probe_entry
 * @duplicate: offset of the duplicate's call-out, @duplicate_insn: of its ret; 0: there is none
 * @duplicates: 1 + index of the site whose ret that is, @duplicated_at: its address
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
	u16 room, leave;
	u8 before, after, counted, calls;
	struct dp_jump_program runs;
	u32 touches;
	u16 duplicate, duplicate_insn;
	u32 duplicates;
	u64 duplicated_at;
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

/* @watch: an instruction; data that is written; that is written or read. Nothing is armed at data:
 *   the kernel raises a trap behind the access, see dp_trap_watched() */
#define DP_SITE_CODE 0
#define DP_SITE_WRITTEN 1
#define DP_SITE_ACCESSED 2
/* A third one is an instruction as well, at which the processor traps */
#define DP_SITE_EXECUTED 3

/* Of the tag of such a trap: so many bits are the site's index, and above is @watch_serial, which
 * another probe at that index would not have */
#define DP_WATCH_INDEX_BITS 20
#define DP_WATCH_SERIALS (1u << (32 - DP_WATCH_INDEX_BITS))

/**
 * struct dp_site_entry - one probed address; control owns it
 * @addr: of the original instruction, or of the data
 * @copy: of its copy (or of the code that an intercept runs instead)
 * @first_probe: 1 + index of its first probe, 0 for none
 * @orig: the bytes that arming replaced
 * @patch: the bytes that arming put there
 * @patch_len: how many
 * @insn_len: length of the original instruction
 * @mode: enum dp_mode
 * @post: of the copy that ends in a breakpoint behind the instruction, 0 for none
 * @post_body: offset of that breakpoint
 * @jump: its number in the table, for DP_MODE_JUMP. 0: an empty one; the site is inside the
 *        region of an intercept.
 * @intercept: DP_INTERCEPT_*: a system call of libc that passes through the agent;
 *         @number: which
 * @faults: enum dp_insn_faults; @operand: where an indirect branch reads
 * @class, @cc, @target: of a branch: enum dp_insn_class, its condition, and where a
 *         direct branch goes
 * @single: the copy of the instruction alone, for a site that may be either mode. @copy
 *         is this copy or the one in the detour: see engine/site/apply.c.
 * @single_len, @single_body: of it (see struct dp_copy)
 * @single_atomic: a pc inside it is at its start or at its end, nowhere else
 * @fast: address of the site's only struct dp_probe_entry, if a hit by a jump only
 *        calls its pre_handler or tracks the call; else 0
 * @leader: 1 + number of the site whose jump covers it (engine/site/group.c); 0: none
 * @inner: the jump that covers it has another byte than its breakpoint there
 * @calls_out: inside an intercept, whose detour calls out when the instruction has completed
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
 * @watch: DP_SITE_CODE and so on; @watch_len: bytes of the data;
 *         @watch_serial: see DP_WATCH_INDEX_BITS
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
	u8 mode;
	u8 armed;
	u8 returned;
	u8 faults;
	u8 post_len, post_body;
	u8 intercept, calls_out, inner;
	u8 wanted;
	u8 class, cc;
	u8 single_len, single_body;
	u8 single_atomic, x87;
	u8 counts, calls, runs;
	u8 reason, traps, unowned;
	u8 watch, watch_len;
	u16 watch_serial;
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

#endif
