/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * regs: a thread at a site, and its registers.
 *
 * Programs and handlers see struct dp_regs. A detour has saved it. A trap, or the detour of
 * an intercepted call, leaves struct dp_mcontext: a program or handler that runs gets a copy.
 */
#ifndef DP_HIT_REGS_H
#define DP_HIT_REGS_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/base.h"

struct dp_trap;

/**
 * struct dp_call_frame - what entry.S makes of a call from a detour
 * @regs: all registers; dp_hit_detour() fills in sp and ip
 * @back: into the detour; @number: what the detour told, then the index of the site;
 * @inner: see DP_CALLOUT_INNER
 *
 * With DP_CALLOUT_TRACKED one more word lies above: where the thread goes on.
 */
struct dp_call_frame {
	struct dp_regs regs;
	u64 back;
	u32 number, inner;
};

/**
 * struct dp_hit - a thread at a site
 * @frame: of its detour; @trap: that has interrupted it; neither: it is in the detour of an
 *         intercepted call
 * @mc: its registers, where there is no frame. The pc is the site's
 * @target: in a detour, the word that says where the thread goes on, or NULL
 * @sp: its stack pointer
 * @low, @high: the part of its stack that is mapped for certain
 * @alt_sp, @alt_size: its alternate stack; a size of DP_ALT_UNKNOWN: not asked yet
 * @fpstate: address of its saved vector registers; 0: they are in place
 * @before: of watched data: the value last seen there
 * @signals: signals are not blocked during the hit
 * @waits: a record of this hit waits for the instruction
 * @left: the thread returns from the function at whose entry it is
 * @halts: the thread goes back to its instruction in the program, where a debugger takes over
 */
struct dp_hit {
	struct dp_call_frame *frame;
	struct dp_trap *trap;
	struct dp_mcontext *mc;
	u64 *target;
	u64 sp;
	u64 low, high;
	u64 fpstate;
	u64 alt_sp, alt_size;
	bool signals, waits, halts, left;
	u64 before;
};

/** dp_hit_is_apart() - does the thread go on in the program's own code, where its probes are not, or not for it? */
static inline bool dp_hit_is_apart(const struct dp_hit *hit)
{
	return hit->halts || hit->left;
}

#define DP_ALT_UNKNOWN (~0ull)

#define DP_RED_ZONE 128
#define DP_WORD 8

/** dp_hit_knows() - is the word at @addr mapped for certain? */
static inline bool dp_hit_knows(const struct dp_hit *hit, u64 addr)
{
	return addr >= hit->low && addr + DP_WORD <= hit->high;
}

/* A write below the red zone has just succeeded. If it was on the stack pointer's page,
 * that page is mapped. */
static inline void dp_hit_know_stack(struct dp_hit *hit)
{
	u64 written = hit->sp - DP_RED_ZONE - 1;

	if ((written ^ hit->sp) & ~(u64)(DP_PAGE - 1))
		return;
	hit->low = hit->sp - DP_RED_ZONE;
	hit->high = (hit->sp | (DP_PAGE - 1)) + 1;
}

/** dp_hit_regs() - the registers as programs and handlers see them
 *  @room: for a copy, if one is needed. Return: where they are. */
static inline struct dp_regs *dp_hit_regs(const struct dp_hit *hit,
					  struct dp_regs *room)
{
	if (hit->frame)
		return &hit->frame->regs;
	dp_regs_from(room, hit->mc);
	return room;
}

/** dp_hit_put_regs() - the thread goes on with @regs, of dp_hit_regs(); its pc stays */
static inline void dp_hit_put_regs(const struct dp_hit *hit,
				   const struct dp_regs *regs)
{
	if (!hit->frame)
		dp_regs_to(regs, hit->mc);
}

/** dp_hit_put_place() - the thread goes on at @pc with stack pointer @sp */
static inline void dp_hit_put_place(const struct dp_hit *hit, u64 pc, u64 sp)
{
	if (hit->frame) {
		dp_regs_set_pc(&hit->frame->regs, pc);
		dp_regs_set_sp(&hit->frame->regs, sp);
	} else {
		dp_mcontext_set_pc(hit->mc, pc);
		dp_mcontext_set_sp(hit->mc, sp);
	}
}

/** dp_hit_flags(), and so on: a register by the part that it plays, as dp_regs_flags() */
static inline u64 dp_hit_flags(const struct dp_hit *hit)
{
	return hit->frame ? dp_regs_flags(&hit->frame->regs) :
			    dp_mcontext_flags(hit->mc);
}

static inline u64 dp_hit_counter(const struct dp_hit *hit)
{
	return hit->frame ? dp_regs_count(&hit->frame->regs) :
			    dp_mcontext_count(hit->mc);
}

static inline u64 dp_hit_ret(const struct dp_hit *hit)
{
	return hit->frame ? dp_regs_ret(&hit->frame->regs) :
			    dp_mcontext_ret(hit->mc);
}

static inline u64 dp_hit_unwound(const struct dp_hit *hit, bool di)
{
	return hit->frame ? dp_regs_unwound(&hit->frame->regs, di) :
			    dp_mcontext_unwound(hit->mc, di);
}

#endif
