// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jprobe: a handler that is called as the probed function itself would be.
 *
 * It runs on the program's own stack, where its arguments are; what is there of
 * them is put back when it is done, and the function begins.
 */
#include "engine/hit/call.h"

void dp_jprobe_enter(u32 probe, const struct dp_site_entry *site,
		     struct dp_regs *regs, struct dp_stack *stack)
{
	const u64 *from = (const u64 *)regs->sp;
	u32 i;

	*(struct dp_regs *)stack->saved = *regs;
	for (i = 0; i < sizeof(stack->words) / sizeof(stack->words[0]); i++)
		stack->words[i] = from[i];
	stack->probe = probe + 1;
	stack->site = (u64)site;
	stack->jumped = 1;
	regs->ip = dp_probe(probe)->pre;
}

struct dp_regs *dp_jprobe_leave(void)
{
	struct dp_stack *stack = dp_stack_mine();
	const struct dp_site_entry *site;
	struct dp_regs *regs;
	u64 *to;
	u32 i;

	if (!stack || !stack->jumped)
		return NULL;
	regs = (struct dp_regs *)stack->saved;
	site = (const void *)stack->site;
	to = (u64 *)regs->sp;
	for (i = 0; i < sizeof(stack->words) / sizeof(stack->words[0]); i++)
		to[i] = stack->words[i];
	regs->ip = __atomic_load_n(&site->copy, __ATOMIC_ACQUIRE);
	stack->jumped = 0;
	stack->busy = 0;
	return regs;
}
