/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hit: a thread at a site, and what is done for it.
 *
 * The hit half is freestanding and uses general registers only. It allocates nothing,
 * locks nothing, and calls nothing outside the engine and its port. It follows offsets in
 * memory that control has prepared, and tells control by counters alone.
 */
#ifndef DP_HIT_H
#define DP_HIT_H

#include "port_types.h"
#include "arch/x86/sigframe.h"
#include "engine/layout/action.h"
#include "engine/layout/arena.h"
#include "engine/layout/context.h"
#include "engine/layout/page.h"
#include "engine/layout/private.h"
#include "engine/layout/probe.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/layout/sleep.h"
#include "engine/layout/tally.h"
#include "engine/layout/visit.h"
#include "arch/x86/roles.h"

#pragma GCC visibility push(hidden)

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

#endif
