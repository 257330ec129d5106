// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * marks: masks of handlers, whose caught signals the kernel keeps as marks.
 *
 *   rt_sigaction ──► action without caught signals, with marks ──► kernel
 *   the handler runs under marks: rt_sigprocmask tells and changes them here
 *   a caught signal is sent to the thread: deferred, and a NUDGE sent behind it
 *   the handler returns: the kernel restores the mask, the NUDGE comes, and the deferred
 *   signal with it
 *
 * engine/layout/marks.h says what a mask with marks has.
 */
#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "engine/layout/base.h"
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "port/user/signals/mask.h"
#include "port/user/signals/trap.h"
#include "port.h"
#include "port_hit.h"

#define NR_SIGNALS 64
#define SI_TKILL (-6)

static bool has(u64 flag)
{
	return __atomic_load_n(&dp_private.marks, __ATOMIC_RELAXED) & flag;
}

static void note(u64 flag)
{
	if (!has(flag))
		__atomic_fetch_or(&dp_private.marks, flag, __ATOMIC_RELAXED);
}

static bool in_use(void)
{
	return has(DP_MARKS_USED) && !has(DP_MARKS_REFUSED);
}

u64 dp_marks_blocked(u64 mask)
{
	return in_use() ? dp_marks_caught(mask) : 0;
}

u64 dp_marks_plain(u64 mask)
{
	return in_use() ? dp_marks_off(mask) : mask;
}

static u64 mark(u64 mask)
{
	u64 caught = dp_mask_caught();

	if (has(DP_MARKS_REFUSED))
		return mask & ~caught;
	note(DP_MARKS_USED);
	return dp_marks_on(mask, caught);
}

u64 dp_marks_of(u64 mask, u64 table)
{
	u64 caught = dp_mask_caught();

	return (mask & caught) == table ? mask & ~caught : mark(mask);
}

u64 dp_marks_real(void)
{
	u64 mask = 0;

	dp_syscall(__NR_rt_sigprocmask, 0, 0, &mask, DP_SIGSET_BYTES);
	return mask;
}

/* Actions of the program have no marks from here on. */
static void unmark(u32 sig)
{
	struct dp_kernel_sigaction act;

	if (dp_syscall(__NR_rt_sigaction, sig, 0, &act, DP_SIGSET_BYTES) ||
	    !dp_marks_are(act.mask))
		return;
	act.mask = dp_marks_in_trap(act.mask) ?
			   dp_marks_trap_shown(act.mask) :
			   dp_marks_off(act.mask) & ~dp_mask_caught();
	dp_syscall(__NR_rt_sigaction, sig, &act, 0, DP_SIGSET_BYTES);
}

void dp_marks_leave(void)
{
	static const struct dp_kernel_sigaction ignore = { .handler =
								   DP_SIG_IGN };
	static const struct dp_kernel_sigaction dfl;

	if (!has(DP_MARKS_NUDGES))
		return;
	/* What is ignored does not wait any more. */
	dp_port_sigaction(DP_MARKS_FIRST, &ignore);
	dp_port_sigaction(DP_MARKS_FIRST, &dfl);
}

/* The program uses one of the eight signals, so they cannot be marks. */
static void give_up(void)
{
	u32 sig;

	if (has(DP_MARKS_REFUSED))
		return;
	for (sig = 1; in_use() && sig <= NR_SIGNALS; sig++)
		unmark(sig);
	dp_marks_leave();
	__atomic_store_n(&dp_private.marks, DP_MARKS_REFUSED, __ATOMIC_RELAXED);
}

void dp_marks_see_mask(u64 mask)
{
	if (!dp_marks_even(mask))
		give_up();
}

static void see_action(u64 sig, const struct dp_kernel_sigaction *act)
{
	if (DP_SIGMASK(sig) & DP_MARKS_ALL && act->handler != DP_SIG_DFL)
		give_up();
	dp_marks_see_mask(act->mask);
}

/* Caught signals in the mask of the program's action for @sig. */
static u64 in_masks(u64 sig)
{
	u64 mask = 0;
	u32 k;

	for (k = 0; k < DP_CAUGHT; k++)
		if (__atomic_load_n(&dp_private.in_masks[k], __ATOMIC_RELAXED) &
		    DP_SIGMASK(sig))
			mask |= DP_SIGMASK(dp_caught(k));
	return mask;
}

static void set_in_masks(u64 sig, u64 mask)
{
	u32 k;

	for (k = 0; k < DP_CAUGHT; k++)
		if (mask & DP_SIGMASK(dp_caught(k)))
			__atomic_fetch_or(&dp_private.in_masks[k],
					  DP_SIGMASK(sig), __ATOMIC_RELAXED);
		else
			__atomic_fetch_and(&dp_private.in_masks[k],
					   ~DP_SIGMASK(sig), __ATOMIC_RELAXED);
}

/* The action of NUDGE is not the program's. */
static void show_action(u64 sig, struct dp_kernel_sigaction *old, u64 had)
{
	static const struct dp_kernel_sigaction dfl;

	if (sig == DP_MARKS_FIRST && dp_trap_inside(old->handler))
		*old = dfl;
	old->mask = dp_marks_plain(old->mask) | had;
}

s64 dp_mask_sigaction(u64 sig, u64 from, u64 to)
{
	u64 caught = dp_mask_caught(), had = in_masks(sig), will = 0;
	struct dp_kernel_sigaction act, old;
	s64 ret;

	if (from && dp_port_copy_in(&act, from, sizeof(act)))
		return -EFAULT;
	if (from) {
		see_action(sig, &act);
		will = act.mask & caught;
		act.mask = dp_marks_of(act.mask, 0);
	}
	ret = dp_syscall(__NR_rt_sigaction, sig, from ? &act : NULL, &old,
			 DP_SIGSET_BYTES);
	if (ret)
		return ret;
	/* A vfork child shares our memory but not our actions. */
	if (from && dp_hit_who() != DP_WHO_VM_CHILD)
		set_in_masks(sig, will);
	show_action(sig, &old, had);
	return to && dp_port_copy_out(to, &old, sizeof(old)) ? -EFAULT : 0;
}

static void give_back_action(u32 sig)
{
	struct dp_kernel_sigaction act;
	u64 mask = in_masks(sig);

	if (!mask ||
	    dp_syscall(__NR_rt_sigaction, sig, 0, &act, DP_SIGSET_BYTES))
		return;
	act.mask = dp_marks_plain(act.mask) | mask;
	dp_syscall(__NR_rt_sigaction, sig, &act, 0, DP_SIGSET_BYTES);
}

void dp_mask_give_back_actions(void)
{
	u32 sig;

	for (sig = 1; sig <= NR_SIGNALS; sig++)
		give_back_action(sig);
	dp_marks_leave();
}

u64 dp_marks_here(void)
{
	u64 real = in_use() ? dp_marks_real() : 0;

	return dp_marks_are(real) ? real : 0;
}

bool dp_marks_procmask(const u64 *set, u64 how, u64 *before)
{
	u64 real = dp_marks_here(), table, mask;

	if (!real)
		return false;
	table = dp_mask_blocked();
	mask = *before = dp_marks_off(real) | table;
	if (!set)
		return true;
	mask = dp_mask_after(how, *set, mask);
	/* A mask that is set may be that of before the handler, which is left by longjmp. */
	real = how == DP_SIG_SETMASK ? dp_marks_of(mask, table & mask) :
				       mark(mask);
	if (table & ~mask)
		dp_mask_enter_virtual(table & mask);
	dp_port_swap_sigmask(real);
	dp_mask_let_come(real);
	return true;
}

/* The action is as that of the caught signals. */
static void take_nudges(void)
{
	struct dp_kernel_sigaction ours;

	if (!dp_syscall(__NR_rt_sigaction, dp_caught(0), 0, &ours,
			DP_SIGSET_BYTES) &&
	    dp_trap_inside(ours.handler))
		dp_port_sigaction(DP_MARKS_FIRST, &ours);
}

/* Under a filter that forbids the calls, a signal is not to be deferred. */
bool dp_marks_defer(const struct dp_siginfo *info)
{
	const u64 nudge[16] = { DP_MARKS_FIRST, (u32)SI_TKILL };

	if (has(DP_MARKS_REFUSED) || !dp_port_may_kill() ||
	    !dp_mask_defer(info))
		return false;
	note(DP_MARKS_NUDGES);
	take_nudges();
	dp_port_requeue(DP_MARKS_FIRST, nudge);
	return true;
}

bool dp_marks_nudged(const struct dp_siginfo *info, u64 *mask)
{
	if (info->signo != (s32)DP_MARKS_FIRST || !has(DP_MARKS_NUDGES))
		return false;
	/* None may come before this handler has returned. */
	dp_port_swap_sigmask(~0ull);
	dp_mask_let_come(*mask);
	return true;
}
