// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * intercept: the few system calls of libc that would replace the agent's actions or the agent.
 *
 * rt_sigaction of a caught signal would replace the agent's action: the agent answers it from
 * the virtual action. execve replaces the whole image: the agent notes the path, so that the
 * tool can say what ended the probes.
 */
#include "engine/layout/base.h"
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "port/user/signals/intercept.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/trap.h"
#include "arch/arch.h"
#include "port.h"
#include "port_hit.h"

#define NEVER_MASKED (DP_SIGMASK(9) | DP_SIGMASK(19))

static s64 answer_sigaction(u32 k, const struct dp_intercept_regs *regs,
			    bool ours)
{
	struct dp_kernel_sigaction act, old;
	u64 from = regs->args[1], to = regs->args[2];

	if (from && dp_port_copy_in(&act, from, sizeof(act)))
		return -EFAULT;
	if (from)
		dp_marks_see_mask(act.mask);
	act.mask &= ~NEVER_MASKED;
	if (!from)
		dp_action_get(k, &old);
	else if (ours)
		dp_action_set(k, &act, &old);
	else {
		/* A vfork child shares our memory but not our actions. What stays
		 * across the child's exec is noted. */
		dp_action_get(k, &old);
		dp_mask_set_ignored(k, act.handler == DP_SIG_IGN);
	}
	if (to && dp_port_copy_out(to, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

static bool intercept_sigaction(struct dp_intercept_regs *regs)
{
	u32 k = dp_caught_index(regs->args[0]);
	enum dp_who who;

	if (regs->args[3] != DP_SIGSET_BYTES)
		return false;
	if (k == DP_CAUGHT || !dp_mask_catches(k)) {
		regs->ret = (u64)dp_mask_sigaction(regs->args[0], regs->args[1],
						   regs->args[2]);
		return true;
	}
	who = dp_hit_who();
	if (who == DP_WHO_CHILD && dp_hit_leave(NULL))
		return false;
	regs->ret = (u64)answer_sigaction(k, regs, who != DP_WHO_VM_CHILD);
	return true;
}

static void note_exec(u64 path)
{
	char *to = dp_arena.hit.exec_path;
	u32 i;

	for (i = 0; i < sizeof(dp_arena.hit.exec_path) - 1; i++)
		if (dp_port_copy_in(&to[i], path + i, 1) || !to[i])
			break;
	to[i] = '\0';
	__atomic_store_n(&dp_arena.hit.exec_pending, 1, __ATOMIC_RELEASE);
}

static void intercept_exec(const struct dp_intercept_regs *regs)
{
	static const struct dp_kernel_sigaction ignore = { .handler =
								   DP_SIG_IGN };

	u32 k;

	/* The mask survives an exec. */
	dp_mask_real(true);
	/* An exec resets handlers to SIG_DFL but keeps SIG_IGN, so the kernel has
	 * to have SIG_IGN by then. */
	for (k = 0; k < dp_arena.control.nr_caught; k++)
		if (dp_mask_ignores(k) && dp_mask_catches(k))
			dp_port_sigaction(dp_caught(k), &ignore);
	if (dp_hit_who() != DP_WHO_OWNER)
		return;
	note_exec(regs->args[regs->nr == __NR_execveat]);
}

/* The barrier keeps the compiler from putting the address into data that needs
 * relocation. */
static u64 address_of(const char *code)
{
	__asm__("" : "+r"(code));
	return (u64)code;
}

void dp_intercept_take_actions(void)
{
	const struct dp_kernel_sigaction ours = {
		.handler = address_of(dp_trap_entry),
		.flags = DP_TRAP_FLAGS,
		.restorer = address_of(dp_trap_restorer),
		.mask = dp_marks_trap(dp_arena.control.own_process),
	};

	u32 k;

	for (k = 0; k < dp_arena.control.nr_caught; k++)
		dp_port_sigaction(dp_caught(k), &ours);
}

void dp_intercept_undo_exec(void)
{
	/* When our actions are not in force, the masks and actions of the exec may stay. */
	if (dp_private.in_force) {
		dp_mask_real(false);
		dp_intercept_take_actions();
	}
	if (dp_hit_who() == DP_WHO_OWNER)
		dp_arena.hit.exec_pending = 0;
}

static bool intercept_procmask(struct dp_intercept_regs *regs)
{
	if (regs->args[3] != DP_SIGSET_BYTES)
		return false;
	regs->ret = (u64)dp_mask_procmask(regs->args[0], regs->args[1],
					  regs->args[2]);
	return true;
}

static bool intercept_pending(struct dp_intercept_regs *regs)
{
	regs->ret = (u64)dp_mask_pending(regs->args[0], regs->args[1]);
	return true;
}

static bool before(struct dp_intercept_regs *regs)
{
	switch (regs->nr) {
	case __NR_rt_sigaction:
		return intercept_sigaction(regs);
	case __NR_rt_sigprocmask:
		return intercept_procmask(regs);
	case __NR_rt_sigpending:
		return intercept_pending(regs);
	case __NR_exit:
		if (dp_arena.control.own_process)
			dp_stack_leave();
		dp_mask_forget();
		return false;
	case __NR_execve:
	case __NR_execveat:
		intercept_exec(regs);
		return false;
	case __NR_arch_prctl:
		if (regs->args[0] == DP_ARCH_SET_FS)
			dp_mask_pass_on(dp_thread_id(regs->args[1], 0) |
					dp_mask_vm_child());
		return false;
	default:
		return false;
	}
}

static struct dp_intercept_stack *claim_stack(void)
{
	struct dp_intercept_stack *s = dp_private.stacks;
	u64 none;

	for (; s < &dp_private.stacks[DP_INTERCEPT_STACKS]; s++) {
		none = 0;
		if (__atomic_compare_exchange_n(&s->busy, &none, 1, false,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return s;
	}
	return NULL;
}

struct elsewhere {
	struct dp_intercept_regs *regs;
	bool answered;
};

static void before_on(void *arg)
{
	struct elsewhere *call = arg;

	call->answered = before(call->regs);
}

/* Signals may come in a call, and our small stack has no room for their handlers: the thread
 * needs an alternate stack, and must not be on it. C threads beside Go have none, but no
 * small stacks either. */
static bool handlers_have_a_stack(const struct dp_intercept_regs *regs)
{
	u64 start, size;

	dp_port_altstack(&start, &size);
	return size && (u64)regs - start >= size;
}

int dp_intercept_before(struct dp_intercept_regs *regs)
{
	struct elsewhere call = { .regs = regs };
	struct dp_intercept_stack *s = NULL;

	if (dp_arena.control.small_stacks && handlers_have_a_stack(regs))
		s = claim_stack();
	if (!s)
		return before(regs);
	dp_call_on(&call, before_on, &s->words[DP_INTERCEPT_STACK_WORDS]);
	__atomic_store_n(&s->busy, 0, __ATOMIC_RELEASE);
	return call.answered;
}

void dp_intercept_after(struct dp_intercept_regs *regs)
{
	if (regs->nr == __NR_execve || regs->nr == __NR_execveat)
		dp_intercept_undo_exec();
	if (regs->nr == __NR_sigaltstack && dp_arena.control.own_process)
		dp_stack_ask_alternate();
}
