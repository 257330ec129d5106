/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* site: one probed address, as both halves know it. */
#ifndef DP_LAYOUT_SITE_H
#define DP_LAYOUT_SITE_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/insn/faults.h"
#include "engine/layout/jump.h"

/** enum dp_mode - how a site is armed */
enum dp_mode {
	DP_MODE_TRAP,
	DP_MODE_JUMP,
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
 *          engine/site/live.c. @copy is then this one or that in the detour
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

/** dp_site_hash() - where the search for an address begins */
static inline u32 dp_site_hash(u64 addr)
{
	return (u32)((addr * 0x9e3779b97f4a7c15ull) >> 32);
}

#endif
