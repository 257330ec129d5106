// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * filter_install: a thread is about to install a seccomp filter, or to have its system calls
 * dispatched to a handler of its own (Syscall User Dispatch).
 *
 * If the filter forbids calls of breakpoints and intercepts, the next such call kills. A
 * dispatched call comes to a handler that does not expect it. So the thread waits until the
 * tool has read the filter:
 *
 *   thread                          tool
 *   filter_ask ───────────────────► permits it all?
 *   waits                           │   yes            no
 *   on, to the call ◄───────────────┘                  │ all are stopped, the probes taken out
 *   to before the call, by the registers that it had ◄─┘
 *
 * If the tool has ended or does not answer, the thread takes the patches out by itself, as a
 * fork child does. It cannot give other threads their masks back, so the actions and masks
 * stay virtual unless the thread is alone.
 */
#include "engine/layout/private.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "port/user/signals/trap.h"
#include "port/user/signals/intercept.h"
#include "port/user/signals/mask.h"
#include "arch/arch.h"
#include "port.h"
#include "port_hit.h"

/* linux/prctl.h, linux/seccomp.h */
#define PR_SET_SECCOMP 22
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define SECCOMP_SET_MODE_FILTER 1
#define SLICE_MS 10
#define PATIENCE_MS 2000

static bool installs_filter(const struct dp_mcontext *regs)
{
	if (regs->rax == __NR_prctl)
		return (u32)regs->rdi == PR_SET_SECCOMP ||
		       ((u32)regs->rdi == PR_SET_SYSCALL_USER_DISPATCH &&
			regs->rsi != PR_SYS_DISPATCH_OFF);
	return regs->rax == __NR_seccomp &&
	       (u32)regs->rdi <= SECCOMP_SET_MODE_FILTER;
}

static u64 last_answered(void)
{
	return __atomic_load_n(&dp_arena.control.filter_answered,
			       __ATOMIC_ACQUIRE);
}

/* One thread asks at a time. Return: its request; 0: another thread's is not answered yet. */
static u64 ask(u64 regs)
{
	u64 *word = &dp_arena.hit.filter_ask;
	u64 was = __atomic_load_n(word, __ATOMIC_RELAXED), mine;

	if (!dp_filter_answered(was, last_answered()))
		return 0;
	mine = (((was >> DP_FILTER_NUMBER) + 1) << DP_FILTER_NUMBER) | regs;
	if (!__atomic_compare_exchange_n(word, &was, mine, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return 0;
	if (dp_arena.control.nr_upcalls)
		dp_upcall_call();
	return mine;
}

static bool is_leaving(void)
{
	return __atomic_load_n(&dp_arena.control.filter_leaving,
			       __ATOMIC_ACQUIRE);
}

/* Is there a tool, and may the thread wait for it? While the tool takes the probes out, the
 * end of the owner is not seen. */
static bool is_there(void)
{
	const struct dp_arena_control *c = &dp_arena.control;

	if (!dp_port_may(__NR_futex))
		return false;
	if (c->nr_upcalls)
		return dp_upcall_is_heard() || is_leaving();
	return !(__atomic_load_n(&c->tool_futex, __ATOMIC_RELAXED) &
		 DP_TOOL_DIED);
}

/* Signals and other threads' answers end a wait early. Where a filter forbids the clock, every
 * wait counts in full. */
static u64 waited(u64 began)
{
	if (!dp_port_may(__NR_clock_gettime))
		return SLICE_MS;
	return dp_port_now() - began;
}

/* Return: false: there is no tool, or it has not answered in time. */
static bool permits(u64 regs)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const s64 slice[2] = { 0, SLICE_MS * 1000000 };
	u64 mine = 0, spent = 0, answered, began;

	while (spent < PATIENCE_MS && is_there()) {
		answered = last_answered();
		if (!mine)
			mine = ask(regs);
		if (mine && dp_filter_answered(mine, answered))
			return true;
		began = dp_port_now();
		/* The upper half, which has the number. */
		dp_wait_home((const u32 *)&c->filter_answered + 1,
			     (u32)(answered >> 32), slice, regs);
		if (!is_leaving() || c->nr_upcalls)
			spent += waited(began);
	}
	return false;
}

/* As a fork child leaves; but other threads may be in the agent. */
static void leave(void)
{
	u32 k;

	__atomic_add_fetch(&dp_arena.hit.filter_late, 1, __ATOMIC_RELEASE);
	if (!dp_hit_leave_text())
		return;
	dp_arena.hit.text_left = 1;
	/* Debug registers that only a tool can clear raise signals, for which the action stays. */
	if (!dp_port_alone() || dp_arena.control.register_control)
		return;
	dp_hit_leave_signals(NULL);
	dp_mask_forget();
	for (k = 0; k < DP_CAUGHT; k++)
		dp_private.in_masks[k] = 0;
}

void dp_filter_install(const struct dp_site_entry *site,
		       struct dp_mcontext *regs)
{
	const struct dp_arena_control *c = &dp_arena.control;
	const struct dp_jump *j = dp_jump_of(site);
	u32 call = site->number == DP_PLAIN_CALL ? j->nr - 1u : 0;

	/* No tool can take the probes out of a process that probes itself. */
	if (!installs_filter(regs) || (c->own_process && !c->nr_upcalls) ||
	    dp_hit_who() != DP_WHO_OWNER)
		return;
	/* At the call-out for the call: a thread that is sent back asks again. */
	regs->rip = j->base + j->at[call];
	if (!permits((u64)regs))
		leave();
}
