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
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#define EXECUTES (1ull << 63) /* no flag of clone(2) */
#define CLONE_ARGS_TLS 7 /* word of struct clone_args */

/* What a call that makes a process or thread is asked for; 0: it makes none. */
static u64 flags_of(u64 nr, const struct dp_mcontext *regs)
{
	u64 flags = 0;

	switch (nr) {
	case __NR_vfork:
		return CLONE_VM | CLONE_VFORK;
	case __NR_clone:
		return regs->rdi;
	case __NR_clone3: /* the first word of its argument */
		dp_port_read(&flags, regs->rdi, sizeof(flags));
		return flags;
	default:
		return 0;
	}
}

/* The new thread's thread pointer. */
static u64 tls_of(u64 nr, const struct dp_mcontext *regs)
{
	u64 args[CLONE_ARGS_TLS + 1] = { 0 };

	if (nr == __NR_clone)
		return regs->r8;
	dp_port_read(args, regs->rdi, sizeof(args));
	return args[CLONE_ARGS_TLS];
}

/* What is asked for is remembered: registers do not tell when it has been. */
static void remember(u64 flags)
{
	u64 none;
	u32 i;

	for (i = 0; i < DP_CLONES; i++) {
		struct dp_clone *c = &dp_private.clones[i];

		none = 0;
		if (!__atomic_compare_exchange_n(
			    &c->thread, &none, dp_hit_thread(), false,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		c->flags = flags;
		return;
	}
}

static u64 recall(bool forget)
{
	u64 thread = dp_hit_thread(), flags;
	u32 i;

	for (i = 0; i < DP_CLONES; i++) {
		struct dp_clone *c = &dp_private.clones[i];

		if (__atomic_load_n(&c->thread, __ATOMIC_RELAXED) != thread)
			continue;
		flags = c->flags;
		if (forget)
			__atomic_store_n(&c->thread, 0, __ATOMIC_RELEASE);
		return flags;
	}
	return 0;
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

static void before(u64 nr, const struct dp_mcontext *regs)
{
	u64 flags = flags_of(nr, regs);

	if (nr == __NR_execve || nr == __NR_execveat)
		remember(EXECUTES);
	if (flags & CLONE_SETTLS)
		dp_mask_inherit(tls_of(nr, regs));
	/* A thread of this process is no stranger. */
	if (!flags || flags & CLONE_THREAD)
		return;
	remember(flags);
	if (!(flags & CLONE_VM))
		return;
	if (!(flags & CLONE_SETTLS))
		dp_mask_lend();
	enter();
}

/* A child whose signal actions are all gone, and so is ours. */
static void cleared(bool shares)
{
	static const struct dp_kernel_sigaction dfl;
	u32 k;

	if (!shares) {
		for (k = 0; k < DP_CAUGHT; k++) {
			dp_action_set(k, &dfl, NULL);
			dp_private.in_masks[k] = 0;
		}
		if (!dp_wipe.owner && dp_hit_leave(NULL))
			return;
	}
	dp_hook_take_actions();
}

static void after(const struct dp_mcontext *regs)
{
	bool child = !regs->rax;
	u64 flags = recall(false);

	/* One in its parent's memory would forget for both. */
	if (!child || !(flags & CLONE_VM))
		recall(true);

	if (flags & EXECUTES)
		dp_hook_undo_exec();
	else if (child && flags & CLONE_CLEAR_SIGHAND)
		cleared(flags & CLONE_VM);
	else if (child && !dp_wipe.owner)
		dp_hit_leave(NULL);
	else if (!child && flags & CLONE_VM &&
		 (flags & CLONE_VFORK || (s64)regs->rax < 0))
		leave();
}

/* Before its hook's instruction a place where calls return, behind it one where
 * they begin. */
static bool passes(const struct dp_site_entry *site, struct dp_mcontext *regs,
		   bool after)
{
	if (site->number & DP_CALL_RETURNS && !after)
		dp_sleep_return(regs);
	else if (site->number & DP_CALL_ENTERS && after)
		dp_sleep_enter(site, site->number & DP_CALL_NUMBER, regs);
	return false;
}

/* Where a number is not known before, others pass, too. */
static bool answers(const struct dp_site_entry *site, struct dp_mcontext *regs)
{
	struct dp_hook_regs call = { .nr = regs->rax,
				     .args = { regs->rdi, regs->rsi, regs->rdx,
					       regs->r10, regs->r8 } };

	dp_sleep_enter(site, call.nr, regs);
	if (!dp_hook_before(&call))
		return false;
	regs->rax = call.ret;
	return true;
}

bool dp_watch(const struct dp_site_entry *site, struct dp_mcontext *regs,
	      bool has_returned)
{
	bool any = site->number == DP_ANY_CALL;

	if (dp_call_sleeps(site->number))
		return passes(site, regs, has_returned);
	if (has_returned) {
		if (any)
			dp_sleep_return(regs);
		after(regs);
		return false;
	}
	before(any ? regs->rax : site->number, regs);
	return any && answers(site, regs);
}
