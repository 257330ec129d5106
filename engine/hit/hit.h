/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hit: a thread at a site, and what is done for it.
 *
 * The hit half is freestanding and uses general registers only. It allocates nothing,
 * locks nothing, and calls nothing outside the engine and its port. It follows offsets in
 * memory that control has prepared, and tells control by counters alone.
 */
#ifndef DP_HIT_HIT_H
#define DP_HIT_HIT_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/instance.h"
#include "engine/layout/private.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"

/*
 * arena: the memory that control has prepared, as the hit half sees it.
 *
 * The link script places it at known distances from the text (layout.h). Everything in
 * it is found by offsets from its beginning.
 */

#pragma GCC visibility push(hidden)

/* Placed by the link script at their distances from the text (layout.h). */
extern struct dp_wipe dp_wipe;
extern u64 dp_table[DP_TABLE_WORDS];
extern struct dp_private dp_private;
extern struct dp_arena dp_arena;

/* What lies behind struct dp_arena; the compiler is not to know that it does. */
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

static inline void dp_tally(u32 probe, enum dp_tally what)
{
	__atomic_fetch_add(&dp_probe_state(probe)->tally[what], 1,
			   __ATOMIC_RELAXED);
}

/**
 * struct dp_hit - a thread at a site
 * @regs: its registers, the pc at the site; of what is behind the segment
 *        registers nothing is there
 * @low, @high: what of its stack is there for certain
 * @alt_sp, @alt_size: its alternate stack; DP_ALT_UNKNOWN: nobody has asked
 * @fpstate: where its vector registers are, by address; 0: in place
 * @signals: they are not blocked meanwhile
 */
struct dp_hit {
	struct dp_mcontext *regs;
	u64 low, high;
	u64 fpstate;
	u64 alt_sp, alt_size;
	bool signals;
};

#define DP_ALT_UNKNOWN (~0ull)

#define DP_RED_ZONE 128
#define DP_WORD 8

/** dp_hit_knows() - is the word at @addr there for certain? */
static inline bool dp_hit_knows(const struct dp_hit *hit, u64 addr)
{
	return addr >= hit->low && addr + DP_WORD <= hit->high;
}

/* Something has just been written below the red zone, so that the page of the
 * stack pointer is there if that was on the same one. */
static inline void dp_hit_know_stack(struct dp_hit *hit)
{
	u64 sp = dp_mcontext_sp(hit->regs), written = sp - DP_RED_ZONE - 1;

	if ((written ^ sp) & ~(u64)(DP_PAGE - 1))
		return;
	hit->low = sp - DP_RED_ZONE;
	hit->high = (sp | (DP_PAGE - 1)) + 1;
}

/**
 * struct dp_detour_frame - what entry.S makes of a call from a detour
 * @regs: as far as they go
 * @back: into the detour; @number what it told
 */
struct dp_detour_frame {
	u64 regs[19];
	u64 back;
	u32 number, pad;
};

/** dp_detour_hit() - a detour tells of its site. Context: as the thread. */
void dp_detour_hit(struct dp_detour_frame *frame);

/**
 * dp_dispatch_site() - run the probes of a site for this thread
 * Return: does a record wait for the instruction to complete?
 */
bool dp_dispatch_site(const struct dp_site_entry *site,
		      const struct dp_hit *hit);

/** dp_hit_count() - count a hit of a probe */
void dp_hit_count(u32 probe);

/** dp_linker_tell() - the linker says that libraries have come or gone: linker.c */
void dp_linker_tell(const struct dp_hit *hit);

#pragma GCC visibility pop

/*
 * trap: the world has interrupted a thread, perhaps because of us.
 *
 * The port fills in struct dp_trap and asks the functions below, in this order:
 *
 *   a breakpoint's trap ──► dp_trap_hit() ──── true: the thread goes on as @regs say
 *                                         └─── false: none of ours
 *   anything else that ───► dp_trap_raised() ─ true: a handler's or a copy's, dealt with
 *   the processor raises                  └─── false: the program's own; @regs say where
 *
 * Then it puts @regs back, and the second stack if @alt_changed.
 */

#pragma GCC visibility push(hidden)

/**
 * struct dp_trap - a thread that is interrupted
 * @regs: its registers; of what is behind the pc is where it goes on
 * @at: address of what the world has saved of it: on the thread's stack, or on the one
 *      that it keeps for interruptions
 * @alt_sp, @alt_size: that one, in bytes; a size of 0: the thread has none
 * @alt_changed: set by the engine: these are to be in force when the thread goes on
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
 * @pc: where the breakpoint is
 * @breakpoint: it is one; false: an instruction that raises something else and stands
 *              for one in the middle of a jump
 * Context: the interrupted thread; all that may interrupt it is another trap.
 * Return: true if it was one of ours.
 */
bool dp_trap_hit(struct dp_trap *trap, u64 pc, bool breakpoint);

/** dp_trap_returned() - the breakpoint may be that at which a jprobe's handler ends.
 *  Return: true if it was, and the thread goes on as @trap says. */
bool dp_trap_returned(struct dp_trap *trap);

/**
 * dp_trap_raised() - the processor has raised something else in this thread
 * Return: true if it was in a handler or a probed instruction, and is dealt with.
 * Otherwise @trap->regs say where in the program it was.
 */
bool dp_trap_raised(struct dp_trap *trap);

/** dp_hit_of_trap() - a hit of a thread that is interrupted
 *
 * The world has just written below the stack pointer, unless it has a stack of its own
 * for that: then nothing of the thread's stack is certain.
 */
void dp_hit_of_trap(struct dp_hit *hit, const struct dp_trap *trap);

#pragma GCC visibility pop

/* site: those that control has prepared, as a thread that hits finds them. */

#pragma GCC visibility push(hidden)

/** dp_site_lookup() - the site that has a breakpoint of ours at an address, be
 *  it in the text or behind its second copy; or NULL */
const struct dp_site_entry *dp_site_lookup(u64 addr);

/**
 * dp_site_boundary() - the instruction of a site's region that stands behind a breakpoint
 * in its jump at @addr
 * Return: its number, from 1; -1: there is none.
 */
int dp_site_boundary(const struct dp_site_entry *site, u64 addr);

/**
 * dp_site_trapped() - whose breakpoint a thread has met
 * @pc: its address
 * @breakpoint: it is one; false: what stands for one where the bytes of a jump allow no other
 * @around: set to the site whose jump it is in the middle of, or NULL
 * Return: the site that the trap is of, or NULL. A site of its own that has no probe any
 * more leaves the trap to the one around it.
 */
const struct dp_site_entry *
dp_site_trapped(u64 pc, bool breakpoint, const struct dp_site_entry **around);

#pragma GCC visibility pop

#endif
