// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * vm_child: CLONE_VM children, which run in our memory.
 *
 * vfork and posix_spawn run a child in the memory of its parent until its exec. The child's
 * hits do not count. Its thread pointer, by which detours go, is its parent's. While there is
 * a CLONE_VM child the table of counters is empty: every hit calls the agent, which asks the
 * kernel for the process id.
 */
#include "engine/layout/base.h"
#include "engine/layout/private.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/hit/hit.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/trap.h"
#include "port/user/signals/intercept.h"
#include "port/user/signals/masked_wait.h"
#include "arch/arch.h"
#include "port.h"

#define SIGCHLD 17ull
#define CLONE_VM 0x100ull
#define CLONE_VFORK 0x4000ull
#define CLONE_THREAD 0x10000ull
#define CLONE_SETTLS 0x80000ull
#define CLONE_CLEAR_SIGHAND 0x100000000ull
/* No flags of clone(2): the call is an exec; the caller is a CLONE_VM child. */
#define EXECUTES (1ull << 63)
#define SHARES (1ull << 62)
/* Words of struct clone_args */
#define CLONE_ARGS_STACK 5
#define CLONE_ARGS_STACK_SIZE 6
#define CLONE_ARGS_TLS 7

/* Flags of a call that makes a process or thread; 0: another call. */
static u64 flags_of(u64 nr, const struct dp_mcontext *regs)
{
	u64 flags = 0;

	switch (nr) {
	case __NR_fork:
		return SIGCHLD;
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

static u64 argument_of_clone3(const struct dp_mcontext *regs, u32 word)
{
	u64 value = 0;

	dp_port_read(&value, regs->rdi + word * sizeof(value), sizeof(value));
	return value;
}

/* The new thread's thread pointer. */
static u64 tls_of(u64 nr, const struct dp_mcontext *regs)
{
	return nr == __NR_clone ? regs->r8 :
				  argument_of_clone3(regs, CLONE_ARGS_TLS);
}

/* The stack pointer with which the child begins. */
static u64 stack_of(u64 nr, const struct dp_mcontext *regs)
{
	u64 sp = 0;

	if (nr == __NR_clone)
		sp = regs->rsi;
	else if (nr == __NR_clone3)
		sp = argument_of_clone3(regs, CLONE_ARGS_STACK) +
		     argument_of_clone3(regs, CLONE_ARGS_STACK_SIZE);
	return sp ? sp : regs->rsp;
}

static u64 vm_child(void)
{
	return dp_hit_who() == DP_WHO_VM_CHILD ? SHARES : 0;
}

/* Note the flags of a call: when it has returned, the registers do not have them. Not
 * inlined: the code needs less room. */
static __attribute__((noinline)) void remember(u64 flags, u64 sp)
{
	u64 thread = dp_mask_thread(), none;
	u32 i;

	flags |= vm_child();

	for (i = 0; i < DP_CLONES; i++) {
		struct dp_clone *c = &dp_private.clones[i];

		none = 0;
		/* An incomplete note belongs to no thread: 1 is none's id. */
		if (!__atomic_compare_exchange_n(&c->thread, &none, 1, false,
						 __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		c->flags = flags;
		c->sp = sp;
		c->virtual_mask = dp_mask_blocked();
		__atomic_store_n(&c->thread, thread, __ATOMIC_RELEASE);
		return;
	}
}

/* Drop the notes of a CLONE_VM child, whose exec has not returned. */
static void forget_child(u64 thread, u64 pid)
{
	u32 i;

	for (i = 0; i < DP_CLONES; i++) {
		struct dp_clone *c = &dp_private.clones[i];
		u64 whose = __atomic_load_n(&c->thread, __ATOMIC_ACQUIRE);

		if (c->flags & SHARES &&
		    (whose == thread || whose == dp_thread_id(0, (u32)pid)))
			__atomic_store_n(&c->thread, 0, __ATOMIC_RELEASE);
	}
}

static bool has_notes(void)
{
	u32 i;

	for (i = 0; i < DP_CLONES; i++)
		if (__atomic_load_n(&dp_private.clones[i].thread,
				    __ATOMIC_RELAXED))
			return true;
	return false;
}

/* Flags of the call that has returned @ret, and its note dropped. adopt() drops the note of
 * a new thread; the parent drops the note that it shares with a CLONE_VM child. */
static u64 recall(bool child, u64 ret)
{
	u64 thread, flags, who;
	u32 i;

	/* No needless system call: the call may have installed a filter that forbids it. */
	if (!has_notes())
		return 0;
	thread = dp_mask_thread();
	who = child ? 0 : vm_child();

	for (i = 0; i < DP_CLONES; i++) {
		struct dp_clone *c = &dp_private.clones[i];

		if (__atomic_load_n(&c->thread, __ATOMIC_RELAXED) != thread)
			continue;
		flags = c->flags;
		if ((flags & CLONE_THREAD && (s64)ret >= 0) ||
		    (flags & SHARES) != who)
			continue;
		if (!child || !(flags & CLONE_VM))
			__atomic_store_n(&c->thread, 0, __ATOMIC_RELEASE);
		if (!child && flags & CLONE_VFORK)
			forget_child(thread, ret);
		return flags & ~SHARES;
	}
	return 0;
}

/* A child whose parent has no thread pointer finds the parent's note by its stack pointer,
 * and takes the virtual mask from there. */
static void adopt(u64 sp)
{
	u32 i;

	for (i = 0; i < DP_CLONES; i++) {
		struct dp_clone *c = &dp_private.clones[i];
		u64 parent = __atomic_load_n(&c->thread, __ATOMIC_ACQUIRE);

		if (!dp_thread_is_bare(parent) || c->sp != sp ||
		    c->flags & CLONE_SETTLS ||
		    (c->flags & CLONE_VM && !(c->flags & CLONE_THREAD)))
			continue;
		dp_mask_begin(c->virtual_mask);
		__atomic_store_n(&c->thread,
				 c->flags & CLONE_THREAD ? 0 : dp_mask_thread(),
				 __ATOMIC_RELEASE);
		return;
	}
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

/* A fork child counts nothing, and must not change its parent's counters. */
static void enter(void)
{
	if (!dp_wipe.owner)
		return;
	__atomic_fetch_add(&dp_arena.hit.vm_children, 1, __ATOMIC_SEQ_CST);
	if (dp_arena.control.counts_alone)
		fill_table(true);
}

static void leave(void)
{
	if (!dp_wipe.owner)
		return;
	if (__atomic_sub_fetch(&dp_arena.hit.vm_children, 1,
			       __ATOMIC_SEQ_CST) ||
	    !dp_arena.control.counts_alone)
		return;
	fill_table(false);
	/* A child may have begun while the table was filled. */
	if (__atomic_load_n(&dp_arena.hit.vm_children, __ATOMIC_SEQ_CST))
		fill_table(true);
}

/* Will the new thread be a CLONE_VM child's? */
static u64 kind_of(u64 flags)
{
	if (flags & CLONE_THREAD)
		return dp_mask_vm_child();
	return flags & CLONE_VM ? DP_MASK_VM_CHILD : 0;
}

static void before(u64 nr, const struct dp_mcontext *regs)
{
	u64 flags = flags_of(nr, regs);

	if (nr == __NR_execve || nr == __NR_execveat)
		remember(EXECUTES, 0);
	if (flags & CLONE_SETTLS)
		dp_mask_pass_on(dp_thread_id(tls_of(nr, regs), 0) |
				kind_of(flags));
	/* A thread of this process needs no note, unless its parent has no thread pointer. */
	if (!flags ||
	    (flags & CLONE_THREAD &&
	     (flags & CLONE_SETTLS || !dp_thread_is_bare(dp_mask_thread()))))
		return;
	remember(flags, stack_of(nr, regs));
	if (!(flags & CLONE_VM) || flags & CLONE_THREAD)
		return;
	if (!(flags & CLONE_SETTLS))
		dp_mask_lend();
	enter();
}

/* A child of CLONE_CLEAR_SIGHAND has lost all signal actions, the agent's too. */
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
	if (dp_private.in_force)
		dp_intercept_take_actions();
	else
		dp_mask_real(true);
}

/* A fork child does not have its parent's variables of programs. A signal handler that forks
 * may have interrupted a program that uses them: zeros take their place. */
static void stand_in(void)
{
	const struct dp_arena_control *c = &dp_arena.control;

	if (c->private_off > c->own_off)
		dp_port_fill((u64)dp_at(c->own_off),
			     c->private_off - c->own_off);
}

/* A thread of this process, before its first own instruction. Where @any call may have returned, it is
 * perhaps none. */
static void begin(bool any)
{
	void (*begins)(u32) = (void *)__atomic_load_n(
		&dp_arena.control.thread_begins, __ATOMIC_ACQUIRE);

	if (begins && dp_hit_who() == DP_WHO_OWNER)
		begins(!any);
}

static void after(const struct dp_mcontext *regs, bool any)
{
	bool child = !regs->rax;
	u64 flags;

	if (child && !dp_wipe.owner && !dp_arena.control.own_process)
		stand_in();
	if (child && !dp_wipe.owner)
		dp_mask_defer_none();
	if (child)
		adopt(regs->rsp);
	if (child)
		begin(any);
	flags = recall(child, regs->rax);
	if (flags & CLONE_THREAD) /* the thread could not be made */
		return;
	if (flags & EXECUTES)
		dp_intercept_undo_exec();
	else if (child && flags & CLONE_CLEAR_SIGHAND)
		cleared(flags & CLONE_VM);
	else if (child && !dp_wipe.owner)
		dp_hit_leave(NULL);
	else if (!child && flags & CLONE_VM &&
		 (flags & CLONE_VFORK || (s64)regs->rax < 0))
		leave();
}

/* Calls return before the instruction of the intercept, and begin behind it; where it calls
 * __syscall_cp(), they begin before it. */
static bool passes(const struct dp_site_entry *site, struct dp_mcontext *regs,
		   bool after)
{
	bool through = dp_call_goes_through(site->number);

	if (site->number & DP_CALL_RETURNS && !after)
		through ? dp_masked_wait_come_through(site, regs) :
			  dp_masked_wait_return(regs);
	else if (site->number & DP_CALL_ENTERS && after != through)
		dp_masked_wait_enter(site, site->number & DP_CALL_NUMBER, regs);
	return false;
}

/* A call whose number is known only now may be any call that is intercepted. */
static bool answers(const struct dp_site_entry *site, struct dp_mcontext *regs)
{
	struct dp_intercept_regs call = {
		.nr = regs->rax,
		.args = { regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8 }
	};

	dp_filter_install(site, regs);
	dp_masked_wait_enter(site, call.nr, regs);
	if (!dp_intercept_before(&call))
		return false;
	regs->rax = call.ret;
	return true;
}

bool dp_intercept_observe(const struct dp_site_entry *site,
			  struct dp_mcontext *regs, bool has_returned)
{
	bool any = dp_call_is_any(site->number);

	if (dp_call_is_masked_wait(site->number))
		return passes(site, regs, has_returned);
	if (has_returned) {
		if (any)
			dp_masked_wait_return(regs);
		after(regs, any);
		return false;
	}
	before(any ? regs->rax : site->number, regs);
	return any && answers(site, regs);
}
