// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watch: others in our memory.
 *
 * vfork and posix_spawn run a child in the memory of its parent until it
 * executes: its hits are none of ours, and its thread pointer, which detours go
 * by, is its parent's. While there is one the table of counters is empty, so
 * that every hit asks the agent, and the agent asks the kernel who it is.
 */
#include "engine/hit/hit.h"
#include "port_hit.h"

#define CLONE_VM 0x100ull
#define CLONE_VFORK 0x4000ull
#define CLONE_THREAD 0x10000ull
#define CLONE_SETTLS 0x80000ull
#define CLONE_ARGS_TLS 7 /* word of struct clone_args */

/* What clone(2) was asked for, from its registers. */
static u64 flags_of(const struct dp_site_entry *site,
		    const struct dp_mcontext *regs)
{
	u64 flags = 0;

	switch (site->number) {
	case __NR_vfork:
		return CLONE_VM | CLONE_VFORK;
	case __NR_clone:
		return regs->rdi;
	default: /* clone3: the first word of its argument */
		dp_port_read(&flags, regs->rdi, sizeof(flags));
		return flags;
	}
}

/* The new thread's thread pointer. */
static u64 tls_of(const struct dp_site_entry *site,
		  const struct dp_mcontext *regs)
{
	u64 args[CLONE_ARGS_TLS + 1] = { 0 };

	if (site->number == __NR_clone)
		return regs->r8;
	dp_port_read(args, regs->rdi, sizeof(args));
	return args[CLONE_ARGS_TLS];
}

static void fill_table(bool empty)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 counters = (u64)dp_at(c->counter_off);
	u32 i;

	for (i = 0; i <= c->shard_mask; i++)
		__atomic_store_n(&dp_table[i],
				 empty ? 0 :
					 counters + (u64)i * c->shard_stride,
				 __ATOMIC_RELAXED);
}

static void enter(void)
{
	__atomic_fetch_add(&dp_arena.hit.sharers, 1, __ATOMIC_SEQ_CST);
	if (dp_arena.control.counts_alone)
		fill_table(true);
}

static void leave(void)
{
	if (__atomic_sub_fetch(&dp_arena.hit.sharers, 1, __ATOMIC_SEQ_CST) ||
	    !dp_arena.control.counts_alone)
		return;
	fill_table(false);
	/* Somebody may have come meanwhile, and found us filling. */
	if (__atomic_load_n(&dp_arena.hit.sharers, __ATOMIC_SEQ_CST))
		fill_table(true);
}

void dp_watch(const struct dp_site_entry *site, const struct dp_mcontext *regs,
	      bool after)
{
	u64 flags = flags_of(site, regs);

	if (flags & CLONE_SETTLS && !after)
		dp_mask_inherit(tls_of(site, regs));
	if (!(flags & CLONE_VM) || flags & CLONE_THREAD)
		return;
	if (!after)
		enter();
	else if (!regs->rax)
		return; /* the child */
	else if (flags & CLONE_VFORK || (s64)regs->rax < 0)
		leave();
}
