/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hit: a thread at a site, and what the agent does for it.
 *
 * The hit half is freestanding and uses general registers only. It allocates nothing,
 * locks nothing, and calls nothing outside the engine and its port. It follows offsets
 * in memory that control has prepared. It tells control what happened by counters
 * alone.
 */
#ifndef DP_HIT_HIT_H
#define DP_HIT_HIT_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/hit/regs.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/instance.h"
#include "engine/layout/private.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"

/* arena: the memory that control has prepared, as the hit half sees it. */

#pragma GCC visibility push(hidden)

/* Placed by the link script at their distances from the text (layout.h). */
extern struct dp_wipe dp_wipe;
extern u64 dp_table[DP_TABLE_WORDS];
extern struct dp_private dp_private;
extern struct dp_arena dp_arena;
_Static_assert(sizeof(struct dp_private) <= DP_PRIVATE_SIZE,
	       "the private state has outgrown its pages");

/* What lies behind struct dp_arena. The asm hides that from the compiler. */
static inline void *dp_at(u64 offset)
{
	char *arena = (char *)&dp_arena;

	__asm__("" : "+r"(arena));
	return arena + offset;
}

static inline struct dp_probe_state *dp_probe_state(u32 probe)
{
	struct dp_probe_state *states = dp_at(dp_arena.control.state_off);

	return &states[probe];
}

static inline const struct dp_probe_entry *dp_probe(u32 probe)
{
	const struct dp_probe_entry *probes = dp_at(dp_arena.control.probe_off);

	return &probes[probe];
}

static inline u32 dp_site_index(const struct dp_site_entry *site)
{
	const struct dp_site_entry *sites = dp_at(dp_arena.control.site_off);

	return (u32)(site - sites);
}

static inline const struct dp_site_entry *dp_site_at(u32 index)
{
	const struct dp_site_entry *sites = dp_at(dp_arena.control.site_off);

	return &sites[index];
}

/** dp_jump_of() - the jump of a site, or the empty one */
static inline const struct dp_jump *dp_jump_of(const struct dp_site_entry *site)
{
	const struct dp_jump *jumps = dp_at(dp_arena.control.jump_off);

	return &jumps[__atomic_load_n(&site->jump, __ATOMIC_ACQUIRE)];
}

/** dp_probe_is_on() - are the handlers in C of a probe to be called? */
static inline bool dp_probe_is_on(u32 probe)
{
	return dp_probe(probe)->enabled &&
	       !(__atomic_load_n(&dp_probe_state(probe)->status,
				 __ATOMIC_RELAXED) &
		 (DP_PROBE_FAULTED | DP_PROBE_REMOVED));
}

/** dp_probe_leaves() - if the probe is at an exit: is the function about to be left? */
static inline bool dp_probe_leaves(const struct dp_probe_entry *p,
				   const struct dp_site_entry *site, u64 flags,
				   u64 count)
{
	return !(p->way & DP_WAY_TAKEN) || dp_branch_taken(site, flags, count);
}

static inline void dp_tally(u32 probe, enum dp_tally what)
{
	__atomic_fetch_add(&dp_probe_state(probe)->tally[what], 1,
			   __ATOMIC_RELAXED);
}

/**
 * dp_hit_detour() - a detour has called out for its site. Context: as the thread.
 * Return: 0, the thread goes on in the detour; 1, it takes all registers from
 * @frame->regs, ip and sp too.
 */
u64 dp_hit_detour(struct dp_call_frame *frame);

/** dp_detour_resume() - set ip to go on in the detour with @frame->regs' stack pointer */
void dp_detour_resume(struct dp_call_frame *frame);

/** dp_detour_told() - a handler has set ip: of an instruction that a jump displaces, it becomes that in the detour */
void dp_detour_told(struct dp_call_frame *frame);

/**
 * dp_hit_observed() - the detour of an intercepted call has called out for a site
 * @number: what the detour told; @regs: of the thread, its pc and stack pointer at the site
 */
void dp_hit_observed(u32 number, struct dp_mcontext *regs);

/** enum dp_goes - where a thread goes on after the probes of a site have run */
enum dp_goes {
	DP_GOES_ON, /* with the site's instruction */
	DP_GOES_AS_TOLD, /* as its registers say, with its pc */
};

/** dp_dispatch_site() - run the probes of a site for this thread
 *  @counted: its detour has counted the hit */
enum dp_goes dp_dispatch_site(const struct dp_site_entry *site,
			      struct dp_hit *hit, bool counted);

/** dp_hit_count() - count a hit: of a site, or of a probe that tracks calls, see
 *  struct dp_arena_control */
void dp_hit_count(u32 counter);

/** dp_linker_tell() - a loader event: see linker.c */
void dp_linker_tell(const struct dp_hit *hit);

#pragma GCC visibility pop

/*
 * trap: a thread is interrupted, perhaps by one of our breakpoints.
 *
 * The port fills in struct dp_trap and asks the functions below, in this order:
 *
 *   a breakpoint's trap ──► dp_trap_hit() ──── true: the thread goes on as @regs say
 *                                         └─── false: the breakpoint is not ours
 *   anything else that ───► dp_trap_raised() ─ true: a handler or a copy raised it; handled
 *   the processor raises                  └─── false: the program raised it; @regs say where
 *
 * Then the port puts @regs back, and the alternate stack if @alt_changed.
 */

#pragma GCC visibility push(hidden)

/**
 * struct dp_trap - a thread that is interrupted
 * @regs: its registers; the thread goes on at the pc that the engine leaves there
 * @at: address of what the kernel has saved: on the thread's stack or on its alternate
 *      stack
 * @alt_sp, @alt_size: the alternate stack, in bytes; a size of 0: the thread has none
 * @alt_changed: set by the engine: @alt_sp and @alt_size are to be in force afterwards
 * @mask: the port's own, for dp_hit_leave()
 */
struct dp_trap {
	struct dp_mcontext *regs;
	u64 at;
	u64 alt_sp, alt_size;
	bool alt_changed;
	u64 *mask;
};

/**
 * dp_trap_hit() - run the probes of the site whose breakpoint a thread has met
 * @pc: address of the breakpoint
 * @breakpoint: false: inside a jump, another instruction that raises a signal stands
 *         for the breakpoint
 *
 * Context: the interrupted thread. Only another trap may interrupt it.
 * Return: true if the breakpoint was ours.
 */
bool dp_trap_hit(struct dp_trap *trap, u64 pc, bool breakpoint);

/**
 * dp_trap_watched() - run the probes on data that the thread has just accessed
 * @tag: lower half of what the trap bears: see DP_WATCH_INDEX_BITS
 *
 * The trap comes behind the access. Registers are those of the program: in a copy of one of its
 * instructions the pc is that behind the original. What the engine accesses itself is no hit.
 * Context: as dp_trap_hit().
 */
void dp_trap_watched(struct dp_trap *trap, u32 tag);

/** dp_trap_returned() - is this the breakpoint at which a jprobe's handler ends?
 *  Return: true if it was, and the thread goes on as @trap says. */
bool dp_trap_returned(struct dp_trap *trap);

/**
 * dp_trap_raised() - the processor has raised something else in this thread
 *
 * Return: true if a handler or a probed instruction raised it, and it was handled.
 * Otherwise @trap->regs say where in the program it was raised.
 */
bool dp_trap_raised(struct dp_trap *trap);

/** dp_hit_of_trap() - fill in the hit of an interrupted thread
 *
 *  The kernel has just written below the thread's stack pointer, unless it used the
 *  alternate stack. Then nothing of the thread's stack is certain. */
void dp_hit_of_trap(struct dp_hit *hit, struct dp_trap *trap);
/** dp_copy_behind() - which of the program's instructions follows the one that has just been executed
 *  @pc: behind that, perhaps in a copy; @own: the program's. Return: false: no instruction of the
 *  program's was executed. */
bool dp_copy_behind(u64 pc, u64 *own);
/** dp_site_copy() - where a trapped thread executes a site's instruction
 *  @post: it is to trap behind it; while a jump may stand there, no such copy leads back */
u64 dp_site_copy(const struct dp_site_entry *site, bool post);

#pragma GCC visibility pop

/* site: the sites that control has prepared, as a thread that hits finds them. */

#pragma GCC visibility push(hidden)

/** dp_site_lookup() - the site that has a breakpoint of ours at @addr, or NULL
 *  The breakpoint is in the text, or behind the second copy. */
const struct dp_site_entry *dp_site_lookup(u64 addr);

/**
 * dp_site_place() - where a thread goes on that a handler has sent to @pc
 *
 * Some jumps have no breakpoints inside: those that are written while all threads are stopped.
 *
 * Return: @pc; of an inner instruction that a jump displaces, its place in the detour.
 */
u64 dp_site_place(u64 pc);

/**
 * dp_site_boundary() - find the instruction of a region by a breakpoint in the jump at
 * @addr
 * Return: its number, from 1; -1: no breakpoint of the jump is there.
 */
int dp_site_boundary(const struct dp_site_entry *site, u64 addr);

/** dp_swap_trapped() - has a thread met the breakpoint under which an instruction of the process's own
 *  is exchanged? Then the thread goes on as @trap says. */
bool dp_swap_trapped(struct dp_trap *trap, u64 pc);

/**
 * dp_site_trapped() - the site whose breakpoint a thread has met
 * @pc: address of the breakpoint
 * @breakpoint: false: an instruction that stands for it, where the jump's bytes allow
 *         no other
 * @around: set to the site whose jump @pc is inside of, or NULL
 *
 * Return: the site, or NULL. A site at @pc without probes leaves the trap to the site
 * around it.
 */
const struct dp_site_entry *
dp_site_trapped(u64 pc, bool breakpoint, const struct dp_site_entry **around);

#pragma GCC visibility pop

#endif
