/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: one user of a site, as the hit half knows it. */
#ifndef DP_LAYOUT_PROBE_H
#define DP_LAYOUT_PROBE_H

#include "port_types.h"

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
/* and of one at an entry: visits make records; with what is returned as a floating-point number */
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

#endif
