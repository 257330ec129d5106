/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* probe: a probe of a site, as both halves know it. */
#ifndef DP_LAYOUT_PROBE_H
#define DP_LAYOUT_PROBE_H

#include "port_types.h"

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
	DP_KIND_LANDING, /* an unwinder has passed calls that are tracked by stubs: see landing.c */
	DP_KIND_STUB, /* a call begins that is tracked by a stub, where the port has them; runs its program */
};

/** dp_kind_is_handler() - does such a probe call a handler in C, rather than run a program? */
static inline bool dp_kind_is_handler(u8 kind)
{
	return kind == DP_KIND_KPROBE || kind == DP_KIND_RETURN ||
	       kind == DP_KIND_JPROBE || kind == DP_KIND_UPCALL ||
	       kind == DP_KIND_INJECTED || kind == DP_KIND_LANDING;
}

/** dp_kind_is_called() - is the handler simply called, before the instruction? */
static inline bool dp_kind_is_called(u8 kind)
{
	return kind == DP_KIND_KPROBE || kind == DP_KIND_LANDING;
}

/** dp_kind_is_hidden() - no user has registered such a probe: it serves others */
static inline bool dp_kind_is_hidden(u8 kind)
{
	return kind == DP_KIND_EXIT || kind == DP_KIND_UNWIND ||
	       kind == DP_KIND_LINKER || kind == DP_KIND_LANDING;
}

/* @way of a probe: how a function is left there */
#define DP_WAY_TAIL 1 /* by a jump to another function, not by a return */
#define DP_WAY_TAKEN 2 /* only if the branch is taken */
#define DP_WAY_SHARED \
	4 /* calls come here that did not pass the entry; of an entry: so it is with an exit */
#define DP_WAY_TAIL_TARGET 16 /* the exits of the tail target are probed, too */
/* @way of a probe at an entry: instances make records; its function returns a
 *   floating-point number */
#define DP_WAY_LOGS 8
#define DP_WAY_XMM 128
/* … only calls that have returned, and of these the ones whose program agrees, make records */
#define DP_WAY_JUDGED 256
/* … and have a struct dp_program_ending behind what it has logged */
#define DP_WAY_TELLS 512
/* @way of DP_KIND_UNWIND: where the part of the stack ends that is about to be left */
#define DP_WAY_UNTIL_CX 32 /* the word at rcx included */
#define DP_WAY_UNTIL_DI 64 /* what is below rdi */

/* @group of an exit that is probed only for calls that come to it by a tail jump */
#define DP_NO_GROUP 0xffffffffu

/* @start of a probe at an entry: its program runs at returns only */
#define DP_NO_START 0xffffffffu

/* @maxhits of a probe: so many or more, and it has no limit */
#define DP_HITS_UNLIMITED 0x7fffffffu

/**
 * struct dp_probe_entry - one probe of a site; control owns it
 * @next: 1 + index of the next probe at the site
 * @program: 1 + index of the program it runs, 0 for none
 * @start: offset in the program's code, or DP_NO_START
 * @leaves: of DP_KIND_ENTER and DP_KIND_STUB: 1 + offset in the code of what runs when a call returns; 0: nothing
 * @maxhits: executions after which it is disabled
 * @heap, @ex_mask: see struct dp_binding
 * @counted: 1 + the local variable of its program that is one higher for each hit that its program
 *         has counted in the detour, over what the variable's memory has; 0: none
 * @logonfault: its record counts even if the original instruction faults
 * @kind: enum dp_kind; the rest is for handlers in C, by address
 * @pre_needs, @post_needs: enum dp_insn_state: what has to be saved around the handlers
 * @touches: registers that the pre_handler may read from its argument, write there, or change:
 *         bits of the processor's; ~0: all of its argument
 * @user: the first argument of its handlers; of DP_KIND_STUB: where the port has its instances
 * @pre, @post, @fault: handlers, 0 for none
 * @nmissed: address of the counter of hits that ran no handler
 * @instance_pool: struct dp_instance_pool of a return probe, and of its exits
 * @group: of DP_KIND_EXIT: the probe at its function's entry
 * @way: DP_WAY_*; of DP_KIND_UPCALL: the handler is called if the branch is taken
 * @deadline: of DP_KIND_UPCALL: ms for which a thread waits for the handler
 * @disabled: the user has disabled it, for listings: enum dp_off; @enabled is 0 in other cases, too
 * @gone: the address where the probe was, if its code has gone; it is at no site then
 * @counting: the hits of its site are the probe's, too, less the @since ones before; @earlier:
 *         its hits before that, and those whose records the tool has read in streams; @met_since, @met_earlier: likewise, of those that its program
 *         has counted in the detour
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
	u64 since, earlier, met_since, met_earlier;
	u32 counting, leaves;
	u32 touches, counted;
	u32 heap, ex_mask;
};

/*
 * @enabled of a probe: 0: it is off; else it is on from a generation on, until one begins
 *
 *     31        16 15         0
 *     ┌───────────┬────────────┐
 *     │ until, 0: │ 1 + from   │     1: it is on
 *     │ for ever  │            │
 *     └───────────┴────────────┘
 */
#define DP_ENABLED_FROM(generation) (1 + (generation))
#define DP_ENABLED_UNTIL(enabled, generation) ((enabled) | (generation) << 16)

/**
 * dp_enabled_in() - is a probe on for hits of a generation?
 * @enabled: as it is in the probe's entry; @generation: of the arena
 *
 * A hit reads the generation once, before it looks at any probe. So one word decides for all probes,
 * however long a hit takes.
 */
static inline bool dp_enabled_in(u32 enabled, u32 generation)
{
	u32 from = enabled & 0xffff, until = enabled >> 16;

	return from && generation >= from - 1 && (!until || generation < until);
}

/** dp_probe_is_handler() - as dp_kind_is_handler(); calls that handlers track by exits have
 *  a pool of instances */
static inline bool dp_probe_is_handler(const struct dp_probe_entry *p)
{
	return dp_kind_is_handler(p->kind) || p->instance_pool;
}

/** dp_probe_counts_calls() - has the probe a counter of its own? It tracks calls by exits. */
static inline bool dp_probe_counts_calls(const struct dp_probe_entry *p)
{
	return (p->kind == DP_KIND_ENTER || p->kind == DP_KIND_EXIT) &&
	       !p->instance_pool;
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
	DP_TALLY_UNJUDGED, /* returns whose program had no context */
	/* interior arrivals, of the first probe of a site: see dp_engine_middle() */
	DP_TALLY_MIDDLE,
	DP_TALLY_NR,
};

/**
 * struct dp_probe_state - state of a probe; hit owns it
 * @count: executions so far; starts at minus passcount
 * @waiting: records that wait for their instruction
 * @last: of a probe on data: the value that was last seen there
 */
struct dp_probe_state {
	s64 count;
	u32 status;
	u32 waiting;
	u64 last;
	u64 tally[DP_TALLY_NR];
};

#endif
