// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jprobe: a handler that is called as the probed function would be.
 *
 * The handler runs on the program's own stack, where its arguments are. When it is
 * done, the words there and all registers get their values back. Then the function
 * begins, and other probes' post_handlers follow. Breakpoints on both sides do that:
 * the signal frame keeps the vector registers.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "arch/arch.h"
#include "port.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"

/* The lowest part of the handler stack, which is unused meanwhile. */
static u64 *kept(const struct dp_stack *stack)
{
	return (u64 *)dp_stack_low(stack);
}

static void keep_vectors(struct dp_stack *stack, u64 state)
{
	u64 *to = kept(stack);

	to[0] = state ? dp_xstate_size(state) : 0;
	if (to[0])
		dp_bytes_copy(to + 1, (const void *)state, to[0]);
}

static void give_vectors(const struct dp_stack *stack, u64 state)
{
	const u64 *from = kept(stack);

	if (from[0] && state && dp_xstate_size(state) == from[0])
		dp_bytes_copy((void *)state, from + 1, from[0]);
}

/* The stack may end sooner. What is behind its end is not the program's stack. */
static void keep_words(struct dp_stack *stack, u64 sp)
{
	u64 room = DP_PAGE - sp % DP_PAGE, n = sizeof(stack->words);

	if (n > room)
		n = dp_port_read(stack->words, sp, n);
	else
		dp_bytes_copy(stack->words, (const void *)sp, n);
	/* Where process_vm_readv is forbidden, copy to the end of the page. */
	if (n < room && n < sizeof(stack->words)) {
		n = room;
		dp_bytes_copy(stack->words, (const void *)sp, n);
	}
	stack->words_size = n;
}

static void give_words(const struct dp_stack *stack, u64 sp)
{
	dp_bytes_copy((void *)sp, stack->words, stack->words_size);
}

void dp_jprobe_enter(u32 probe, const struct dp_site_entry *site,
		     struct dp_regs *regs, struct dp_stack *stack,
		     const struct dp_trap *trap)
{
	dp_bytes_copy(stack->saved, regs, sizeof(*regs));
	keep_words(stack, dp_regs_sp(regs));
	keep_vectors(stack, dp_mcontext_vectors(trap->regs));
	stack->probe = probe + 1;
	stack->site = (u64)site;
	stack->jumped = 1;
	dp_regs_set_pc(regs, dp_probe(probe)->pre);
}

bool dp_jprobe_leave(struct dp_trap *trap)
{
	struct dp_stack *stack = dp_stack_known();
	const struct dp_site_entry *site;
	struct dp_regs *regs;

	if (!stack || !stack->jumped)
		return false;
	regs = (struct dp_regs *)stack->saved;
	site = (const void *)stack->site;
	give_words(stack, dp_regs_sp(regs));
	give_vectors(stack, dp_mcontext_vectors(trap->regs));
	stack->jumped = 0;
	stack->busy = dp_stack_turn(stack, 0);
	dp_call_go_on(site, regs, stack, trap);
	return true;
}
