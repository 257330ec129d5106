// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mask: what the program does to its masks and actions, what the kernel gets of it, and
 * what the program is told, in a world in memory.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "steps.h"
#include <asm/unistd.h>
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "port/fake/hit/world.h"
#include "port/user/signals/mask.h"
#include "port.h"
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "port_hit.h"

#define AT 0x401000ull
#define BLOCK 0
#define UNBLOCK 1
#define SET 2
#define SIGUSR1 10
#define TRAP DP_SIGMASK(DP_SIGTRAP)
#define ILL DP_SIGMASK(DP_SIGILL)
#define USR1 DP_SIGMASK(SIGUSR1)
#define HANDLER 0x5000000ull
#define RESTORER 0x5001000ull

static u8 text[64];

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT_JUMPS);
	memset(text, 0x90, sizeof(text));
	dp_fake_site(0, AT);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	return 0;
}

/* Return: what it was before, as the program is told. */
static u64 procmask(u64 how, u64 set)
{
	u64 old = 0;

	assert_int_equal(dp_fake_call(__NR_rt_sigprocmask, how, (u64)&set,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 0);
	return old;
}

static u64 pending(void)
{
	u64 set = 0;

	assert_int_equal(dp_fake_call(__NR_rt_sigpending, (u64)&set,
				      DP_SIGSET_BYTES, 0, 0, 0),
			 0);
	return set;
}

static struct dp_kernel_sigaction set_action(u32 sig, u64 handler, u64 flags,
					     u64 mask)
{
	struct dp_kernel_sigaction act = { handler, flags, RESTORER, mask };
	struct dp_kernel_sigaction old = { 0 };

	assert_int_equal(dp_fake_call(__NR_rt_sigaction, sig, (u64)&act,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 0);
	return old;
}

static void never_blocked_really(void **state)
{
	assert_int_equal(procmask(BLOCK, TRAP | USR1), 0);
	assert_int_equal(dp_fake_mask(), USR1);
	dp_fake_breakpoint(AT);
	assert_int_equal(dp_fake_seen.died, 0);
	assert_int_equal(dp_fake_count(0), 1);
	assert_int_equal(procmask(SET, ILL), TRAP | USR1);
	assert_int_equal(dp_fake_mask(), 0);
	assert_int_equal(procmask(UNBLOCK, USR1), ILL);
	assert_int_equal(procmask(UNBLOCK, ILL), ILL);
	assert_int_equal(procmask(SET, 0), 0);
}

static void only_asked(void **state)
{
	u64 old = 0;

	procmask(BLOCK, TRAP);
	assert_int_equal(dp_fake_call(__NR_rt_sigprocmask, SET, 0, (u64)&old,
				      DP_SIGSET_BYTES, 0),
			 0);
	assert_int_equal(old, TRAP);
	assert_int_equal(procmask(BLOCK, 0), TRAP);
}

static void refused(void **state)
{
	u64 set = TRAP;

	assert_int_equal(dp_fake_call(__NR_rt_sigprocmask, 7, (u64)&set, 0,
				      DP_SIGSET_BYTES, 0),
			 -EINVAL);
	assert_int_equal(dp_fake_call(__NR_rt_sigprocmask, SET + 1, (u64)&set,
				      0, DP_SIGSET_BYTES, 0),
			 -EINVAL);
	assert_int_equal(dp_mask_blocked(), 0);
	dp_fake_bad((u64)text, 8);
	assert_int_equal(dp_fake_call(__NR_rt_sigprocmask, BLOCK, (u64)text, 0,
				      DP_SIGSET_BYTES, 0),
			 -EFAULT);
	assert_int_equal(procmask(BLOCK, 0), 0);
}

/* Neither on the stack nor readable. */
static void masks_elsewhere(void **state)
{
	static u64 set, old;

	set = TRAP | USR1;
	assert_int_equal(dp_fake_call(__NR_rt_sigprocmask, SET, (u64)&set,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 0);
	assert_int_equal(old, 0);
	dp_fake_call(__NR_rt_sigprocmask, SET, 0, (u64)&old, DP_SIGSET_BYTES,
		     0);
	assert_int_equal(old, TRAP | USR1);
	dp_fake_bad((u64)&old, sizeof(old));
	assert_int_equal(dp_fake_call(__NR_rt_sigprocmask, SET, 0, (u64)&old,
				      DP_SIGSET_BYTES, 0),
			 -EFAULT);
	assert_int_equal(old, TRAP | USR1);
}

/* There is room for so many threads near one place: then it is blocked after all. */
static void no_room(void **state)
{
	u64 thread = dp_mask_thread();
	u32 i = dp_mask_slot(thread), n;

	for (n = 0; n < DP_MASK_PROBES; n++)
		dp_private.masks[(i + n) % DP_MASKS] = (u64)(n + 1) << 6 | 1;
	assert_int_equal(procmask(BLOCK, TRAP | USR1), 0);
	assert_int_equal(dp_fake_mask(), TRAP | USR1);
	assert_int_equal(dp_arena.hit.unmasked, 1);
	assert_int_equal(procmask(UNBLOCK, TRAP), TRAP | USR1);
	assert_int_equal(dp_fake_mask(), USR1);
	/* One of these has nothing to say any more. */
	dp_private.masks[(i + 7) % DP_MASKS] = 8 << 6;
	assert_int_equal(procmask(BLOCK, TRAP), USR1);
	assert_int_equal(dp_fake_mask(), USR1);
	assert_int_equal(dp_mask_blocked(), TRAP);
	assert_int_equal(dp_arena.hit.unmasked, 1);
}

/* All places near there are used, to the last. */
static void room_for_one_more(void **state)
{
	u64 thread = dp_mask_thread();
	u32 i = dp_mask_slot(thread), n;

	for (n = 0; n < DP_MASK_PROBES - 1; n++)
		dp_private.masks[(i + n) % DP_MASKS] = (u64)(n + 1) << 6 | 1;
	assert_int_equal(procmask(BLOCK, TRAP), 0);
	assert_int_equal(dp_arena.hit.unmasked, 0);
	assert_int_equal(dp_fake_mask(), 0);
	assert_int_equal(procmask(BLOCK, 0), TRAP);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

static void of_one_thread(void **state)
{
	procmask(BLOCK, TRAP);
	dp_fake_thread(1);
	assert_int_equal(procmask(BLOCK, ILL), 0);
	dp_fake_thread(0);
	assert_int_equal(procmask(BLOCK, 0), TRAP);
	dp_fake_thread(1);
	assert_int_equal(procmask(BLOCK, 0), ILL);
}

static void deferred_until_unblocked(void **state)
{
	set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER, 0);
	procmask(BLOCK, TRAP);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(pending(), TRAP);
	/* The kernel keeps one of a kind, too. */
	dp_fake_send(DP_SIGTRAP);
	procmask(BLOCK, USR1);
	assert_int_equal(dp_fake_seen.entered, 0);
	procmask(UNBLOCK, TRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(dp_fake_seen.handler, HANDLER);
	assert_int_equal(dp_fake_seen.info.signo, DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.info.code, -6);
	dp_fake_return();
	assert_int_equal(dp_fake_mask(), USR1);
	assert_int_equal(pending(), 0);
	procmask(BLOCK, TRAP);
	procmask(UNBLOCK, TRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
}

/* Of two that are held the one that is opened. */
static void one_of_two(void **state)
{
	set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER, 0);
	set_action(DP_SIGILL, HANDLER + 1, DP_SA_RESTORER, 0);
	procmask(BLOCK, TRAP | ILL);
	dp_fake_send(DP_SIGTRAP);
	dp_fake_send(DP_SIGILL);
	assert_int_equal(pending(), TRAP | ILL);
	procmask(UNBLOCK, ILL);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(dp_fake_seen.handler, HANDLER + 1);
	dp_fake_return();
	assert_int_equal(pending(), TRAP);
	procmask(SET, 0);
	assert_int_equal(dp_fake_seen.entered, 2);
	assert_int_equal(dp_fake_seen.handler, HANDLER);
}

static void deferred_for_its_thread(void **state)
{
	set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER, 0);
	procmask(BLOCK, TRAP);
	dp_fake_send(DP_SIGTRAP);
	dp_fake_thread(1);
	assert_int_equal(pending(), 0);
	procmask(BLOCK, TRAP);
	procmask(UNBLOCK, TRAP);
	assert_int_equal(dp_fake_seen.entered, 0);
	dp_fake_thread(0);
	procmask(UNBLOCK, TRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
}

static u32 deferred_signals(void)
{
	u32 i, n = 0;

	for (i = 0; i < DP_DEFERRED; i++)
		n += dp_private.deferred[i].thread == dp_mask_thread();
	return n;
}

/* Each in a place of its own, however many there are. */
static void one_of_each_is_deferred(void **state)
{
	procmask(BLOCK, TRAP | ILL);
	dp_fake_send(DP_SIGTRAP);
	dp_fake_send(DP_SIGILL);
	dp_fake_send(DP_SIGILL);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(deferred_signals(), 2);
	set_action(DP_SIGTRAP, DP_SIG_IGN, 0, 0);
	set_action(DP_SIGILL, DP_SIG_IGN, 0, 0);
	procmask(SET, 0);
	assert_int_equal(deferred_signals(), 0);
}

/* One that stays deferred is not sent again. */
static void others_stay_where_they_are(void **state)
{
	procmask(BLOCK, TRAP | ILL);
	dp_fake_send(DP_SIGTRAP);
	dp_fake_seen.queued = USR1;
	procmask(UNBLOCK, ILL);
	assert_int_equal(dp_fake_seen.queued, USR1);
	assert_int_equal(pending(), TRAP);
}

/* What lies behind the table of deferred signals is not one of them. */
static void no_room_for_signals(void **state)
{
	struct dp_siginfo info = { .signo = DP_SIGTRAP };
	u64 thread = dp_mask_thread();
	u32 i;

	for (i = 0; i < DP_DEFERRED; i++)
		dp_private.deferred[i].thread = thread + 64;
	procmask(BLOCK, TRAP);
	assert_false(dp_mask_defer(&info));
	assert_false(dp_mask_defers());
	assert_int_equal(dp_private.clones[0].thread, 0);
	dp_private.clones[0].thread = thread;
	dp_private.clones[0].flags = DP_SIGTRAP;
	assert_false(dp_mask_defer(&info));
	for (i = 0; i < DP_DEFERRED; i++)
		dp_private.deferred[i].thread = i ? thread + 64 : 0;
	info.signo = DP_SIGILL;
	assert_true(dp_mask_defer(&info));
	assert_int_equal(dp_private.deferred[0].thread, thread);
	assert_int_equal(pending(), ILL);
	dp_mask_defer_none();
	assert_int_equal(dp_private.deferred[0].thread, 0);
	assert_int_equal(dp_private.deferred[1].thread, thread + 64);
	assert_int_equal(dp_private.clones[0].thread, thread);
}

/* The kernel has them wait while it has the mask. */
static void deferred_by_the_kernel_meanwhile(void **state)
{
	procmask(BLOCK, TRAP);
	dp_fake_send(DP_SIGTRAP);
	assert_true(dp_mask_defers());
	dp_mask_real(true);
	assert_int_equal(dp_fake_mask(), TRAP);
	assert_false(dp_mask_defers());
	assert_int_equal(deferred_signals(), 0);
	assert_int_equal(pending(), TRAP);
	dp_mask_real(false);
	assert_int_equal(pending(), TRAP);
}

/* A child in our memory, with its parent's thread pointer, has signals of its own. */
static void deferred_for_a_child(void **state)
{
	set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER, 0);
	procmask(BLOCK, TRAP);
	dp_mask_lend();
	dp_fake_vfork(false);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(pending(), TRAP);
	dp_fake_vfork(true);
	assert_int_equal(pending(), 0);
	procmask(UNBLOCK, TRAP);
	assert_int_equal(dp_fake_seen.entered, 0);
	dp_fake_vfork(false);
	procmask(UNBLOCK, TRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
	dp_fake_return();
	/* The next child has none of the former one's. */
	procmask(BLOCK, TRAP);
	dp_fake_send(DP_SIGTRAP);
	dp_fake_vfork(true);
	dp_mask_lend();
	dp_fake_vfork(false);
	procmask(BLOCK, TRAP);
	assert_int_equal(pending(), 0);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(pending(), TRAP);
}

static void own_handler(void **state)
{
	struct dp_kernel_sigaction old;
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;

	old = set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER, USR1 | ILL);
	assert_int_equal(old.handler, DP_SIG_DFL);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, ours);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.handler, HANDLER);
	assert_int_equal(dp_fake_seen.restorer, RESTORER);
	/* But what we catch: a probe in there would kill. */
	assert_int_equal(dp_fake_seen.mask,
			 dp_marks_on(USR1 | ILL | TRAP, ILL | TRAP));
	assert_int_equal(procmask(BLOCK, 0), USR1 | ILL | TRAP);
	assert_int_equal(dp_arena.hit.foreign, 1);
	dp_fake_breakpoint(AT);
	assert_int_equal(dp_fake_count(0), 1);
	dp_fake_return();
	old = set_action(DP_SIGTRAP, DP_SIG_IGN, 0, 0);
	assert_int_equal(old.handler, HANDLER);
	assert_int_equal(old.mask, USR1 | ILL);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(dp_fake_seen.died, 0);
}

static void only_once(void **state)
{
	set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER | DP_SA_RESETHAND, 0);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
	dp_fake_return();
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
	/* Not before the program's registers are back: they are what a core file shows. */
	assert_true(dp_fake_seen.queued & TRAP);
	assert_int_equal(dp_arena.hit.own_death, 1);
}

/* Its own breakpoint kills where the virtual mask has the signal. */
static void own_breakpoint(void **state)
{
	set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER, 0);
	dp_fake_breakpoint((u64)text);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(dp_fake_seen.died, 0);
	dp_fake_return();
	assert_int_equal(dp_fake_regs()->rip, (u64)text + 1);
	procmask(BLOCK, TRAP);
	dp_fake_breakpoint((u64)text);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(dp_fake_seen.died, DP_SIGTRAP);
}

/* A filter forbids what is needed to die of a signal that is sent. */
static void dies_without_calls(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();

	set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER, 0);
	dp_arena.control.forbidden = dp_own_bit(__NR_rt_tgsigqueueinfo);
	/* Of the same fault again. */
	text[15] = 0xcc;
	regs->rip = (u64)&text[16];
	dp_fake_raise(DP_SIGILL, DP_SI_KERNEL);
	assert_int_equal(regs->rip, (u64)&text[16]);
	assert_int_equal(dp_fake_mask(), ILL);
	dp_fake_set_mask(0);
	/* One that was sent: of a breakpoint, which the program does not handle. */
	dp_fake_send(DP_SIGILL);
	assert_int_equal(regs->rip, (u64)dp_jprobe_return);
	assert_int_equal(dp_fake_mask(), ILL | TRAP);
	assert_int_equal(dp_fake_seen.entered, 0);
	/* Of its own breakpoint again. */
	dp_fake_set_mask(0);
	set_action(DP_SIGTRAP, DP_SIG_DFL, 0, 0);
	dp_fake_breakpoint((u64)&text[15]);
	assert_int_equal(regs->rip, (u64)&text[15]);
	assert_int_equal(dp_fake_mask(), TRAP);
}

/* The mask of another signal's action. */
static void in_the_mask_of_an_action(void **state)
{
	struct dp_kernel_sigaction old;

	set_action(SIGUSR1, HANDLER, DP_SA_RESTORER, TRAP | DP_SIGMASK(12));
	assert_int_equal(dp_fake_action(SIGUSR1)->mask,
			 dp_marks_on(TRAP | DP_SIGMASK(12), TRAP));
	old = set_action(SIGUSR1, HANDLER, DP_SA_RESTORER, ILL);
	assert_int_equal(old.mask, TRAP | DP_SIGMASK(12));
	assert_int_equal(dp_fake_action(SIGUSR1)->mask, dp_marks_on(ILL, ILL));
	old = set_action(SIGUSR1, HANDLER, DP_SA_RESTORER, 0);
	assert_int_equal(old.mask, ILL);
	old = set_action(SIGUSR1, HANDLER, DP_SA_RESTORER, 0);
	assert_int_equal(old.mask, 0);
}

static void refused_actions(void **state)
{
	static struct dp_kernel_sigaction act, old;

	set_action(SIGUSR1, HANDLER, DP_SA_RESTORER, TRAP);
	act = (struct dp_kernel_sigaction){ HANDLER + 1, 0, 0, 0 };
	old.handler = 5;
	assert_int_equal(dp_fake_call(__NR_rt_sigaction, 65, (u64)&act,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 -EINVAL);
	assert_int_equal(old.handler, 5);
	dp_fake_bad((u64)&act, sizeof(act));
	assert_int_equal(dp_fake_call(__NR_rt_sigaction, SIGUSR1, (u64)&act,
				      (u64)&old, DP_SIGSET_BYTES, 0),
			 -EFAULT);
	assert_int_equal(old.handler, 5);
	old = set_action(SIGUSR1, HANDLER, DP_SA_RESTORER, 0);
	assert_int_equal(old.handler, HANDLER);
	assert_int_equal(old.mask, TRAP);
}

/* The kernel gets what the program believes it to have. */
static void given_back(void **state)
{
	u64 mask = USR1;

	set_action(SIGUSR1, HANDLER, DP_SA_RESTORER, TRAP | DP_SIGMASK(12));
	set_action(64, HANDLER + 1, DP_SA_RESTORER, ILL);
	set_action(12, HANDLER + 2, DP_SA_RESTORER, 0);
	procmask(BLOCK, TRAP);
	dp_mask_give_back(&mask);
	assert_int_equal(mask, USR1 | TRAP);
	assert_int_equal(dp_fake_mask(), 0);
	assert_int_equal(dp_fake_action(SIGUSR1)->mask, TRAP | DP_SIGMASK(12));
	assert_int_equal(dp_fake_action(SIGUSR1)->handler, HANDLER);
	assert_int_equal(dp_fake_action(64)->mask, ILL);
	assert_int_equal(dp_fake_action(64)->handler, HANDLER + 1);
	assert_int_equal(dp_fake_action(12)->mask, 0);
	dp_mask_give_back(NULL);
	assert_int_equal(dp_fake_mask(), TRAP);
}

/* Most threads never block any of ours: they need no place. */
static void nothing_to_note(void **state)
{
	u32 i = dp_mask_slot(dp_mask_thread());

	assert_true(dp_mask_set_virtual(0));
	procmask(UNBLOCK, TRAP | ILL);
	assert_int_equal(dp_private.masks[i], 0);
	procmask(BLOCK, TRAP);
	assert_int_not_equal(dp_private.masks[i], 0);
}

static void thread_ends(void **state)
{
	procmask(BLOCK, TRAP);
	dp_mask_forget();
	assert_int_equal(procmask(BLOCK, 0), 0);
}

/* There is room for as many as have signals, however many had some. */
static void ends_with_signals(void **state)
{
	u32 i;

	for (i = 0; i <= DP_DEFERRED; i++) {
		procmask(BLOCK, TRAP);
		assert_int_equal(pending(), 0);
		dp_fake_send(DP_SIGTRAP);
		assert_int_equal(pending(), TRAP);
		dp_mask_forget();
	}
	for (i = 0; i < DP_DEFERRED; i++)
		assert_int_equal(dp_private.deferred[i].thread, 0);
}

static void new_thread(void **state)
{
	u64 other;

	dp_fake_thread(1);
	other = dp_mask_thread();
	procmask(BLOCK, ILL);
	dp_fake_thread(0);
	procmask(BLOCK, TRAP);
	dp_mask_pass_on(other);
	dp_fake_thread(1);
	assert_int_equal(procmask(BLOCK, 0), TRAP);
}

/* A mask stays across exec, and so does an action that ignores. */
static void around_an_exec(void **state)
{
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;

	procmask(BLOCK, ILL);
	assert_int_equal(dp_fake_call(__NR_execve, (u64) "/nowhere", 0, 0, 0,
				      0),
			 -ENOENT);
	assert_int_equal(dp_fake_seen.exec_mask, ILL);
	assert_int_equal(dp_fake_seen.exec_trap, ours);
	assert_string_equal(dp_arena.hit.exec_path, "/nowhere");
	assert_int_equal(dp_arena.hit.exec_pending, 0);
	assert_int_equal(dp_fake_mask(), 0);
	assert_int_equal(procmask(BLOCK, 0), ILL);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, ours);
}

/* A signal that waits goes on waiting in the program that is executed; or here, if that
 * cannot be. */
static void deferred_across_an_exec(void **state)
{
	set_action(DP_SIGTRAP, HANDLER, DP_SA_RESTORER, 0);
	procmask(BLOCK, TRAP);
	dp_fake_send(DP_SIGTRAP);
	dp_fake_call(__NR_execve, (u64) "/nowhere", 0, 0, 0, 0);
	assert_true(dp_fake_seen.exec_waits);
	assert_int_equal(pending(), TRAP);
	assert_int_equal(dp_fake_seen.entered, 0);
	procmask(UNBLOCK, TRAP);
	assert_int_equal(dp_fake_seen.entered, 1);
	assert_int_equal(pending(), 0);
	dp_fake_call(__NR_execve, (u64) "/nowhere", 0, 0, 0, 0);
	assert_false(dp_fake_seen.exec_waits);
}

static void ignored_across_an_exec(void **state)
{
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;

	set_action(DP_SIGTRAP, DP_SIG_IGN, 0, 0);
	dp_fake_call(__NR_execve, (u64) "/nowhere", 0, 0, 0, 0);
	assert_int_equal(dp_fake_seen.exec_trap, DP_SIG_IGN);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, ours);
	/* A child in our memory has an action of its own. */
	dp_fake_vfork(false);
	set_action(DP_SIGTRAP, DP_SIG_DFL, 0, 0);
	dp_fake_call(__NR_execve, (u64) "/nowhere", 0, 0, 0, 0);
	assert_int_equal(dp_fake_seen.exec_trap, ours);
	set_action(DP_SIGTRAP, DP_SIG_IGN, 0, 0);
	dp_fake_call(__NR_execve, (u64) "/nowhere", 0, 0, 0, 0);
	assert_int_equal(dp_fake_seen.exec_trap, DP_SIG_IGN);
}

static void execute(u64 trap, u64 ill)
{
	dp_fake_call(__NR_execve, (u64) "/nowhere", 0, 0, 0, 0);
	assert_int_equal(dp_fake_seen.exec_trap, trap);
	assert_int_equal(dp_fake_seen.exec_ill, ill);
}

/* Of each caught signal, and it leaves its parent's as they are. */
static void ignored_by_a_child(void **state)
{
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;

	set_action(DP_SIGILL, DP_SIG_IGN, 0, 0);
	dp_mask_lend();
	dp_fake_vfork(false);
	execute(ours, DP_SIG_IGN);
	set_action(DP_SIGILL, DP_SIG_DFL, 0, 0);
	execute(ours, ours);
	set_action(DP_SIGTRAP, DP_SIG_IGN, 0, 0);
	execute(DP_SIG_IGN, ours);
	set_action(DP_SIGILL, DP_SIG_IGN, 0, 0);
	execute(DP_SIG_IGN, DP_SIG_IGN);
	assert_int_equal(dp_mask_blocked(), 0);
	dp_fake_vfork(true);
	execute(ours, DP_SIG_IGN);
	/* The next child has its parent's. */
	dp_mask_lend();
	dp_fake_vfork(false);
	execute(ours, DP_SIG_IGN);
}

/* As its parent could not tell what it would be known by. */
static void begins_with_a_mask(void **state)
{
	dp_fake_thread(1);
	procmask(BLOCK, ILL);
	dp_mask_begin(TRAP);
	assert_int_equal(procmask(BLOCK, 0), TRAP);
	dp_fake_vfork(false);
	assert_int_equal(procmask(BLOCK, 0), 0);
}

/* Until our actions are in force the kernel's masks are the program's. */
static void while_we_come(void **state)
{
	u32 k;

	procmask(BLOCK, TRAP);
	dp_private.in_force = 0;
	for (k = 0; k < DP_CAUGHT_JUMPS; k++)
		memset(dp_fake_action(dp_caught(k)), 0,
		       sizeof(struct dp_kernel_sigaction));
	assert_int_equal(procmask(BLOCK, USR1), TRAP);
	assert_int_equal(dp_fake_mask(), TRAP | USR1);
	assert_int_equal(dp_mask_blocked(), 0);
	assert_int_equal(procmask(SET, ILL), TRAP | USR1);
	assert_int_equal(dp_fake_mask(), ILL);
	assert_int_equal(procmask(UNBLOCK, ILL), ILL);
	assert_int_equal(dp_fake_mask(), 0);
}

/* While our actions come or go, each signal counts whose action is ours just then. */
static void what_is_caught(void **state)
{
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;
	u32 others, k;

	assert_int_equal(dp_mask_caught(), TRAP | ILL);
	dp_fake_action(dp_caught(DP_CAUGHT_JUMPS))->handler = ours;
	for (others = 0; others < 4; others++) {
		u64 caught = 0;

		for (k = 0; k < 2; k++) {
			bool other = others >> k & 1;

			dp_fake_action(dp_caught(k))->handler =
				other ? HANDLER : ours;
			caught |= other ? 0 : DP_SIGMASK(dp_caught(k));
		}
		dp_private.in_force = 0;
		assert_int_equal(dp_mask_caught(), caught);
		assert_int_equal(dp_mask_catches(0), !(others & 1));
		dp_private.in_force = 1;
		assert_int_equal(dp_mask_caught(), TRAP | ILL);
		assert_true(dp_mask_catches(0));
	}
}

/* The set may be shorter than the kernel's, but not longer; what is behind it is not ours. */
static void pending_in_another_size(void **state)
{
	u64 set = ~0ull;

	procmask(BLOCK, TRAP);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_call(__NR_rt_sigpending, (u64)&set, 16, 0, 0,
				      0),
			 -EINVAL);
	assert_int_equal(set, ~0ull);
	assert_int_equal(
		dp_fake_call(__NR_rt_sigpending, (u64)&set, 4, 0, 0, 0), 0);
	assert_int_equal(set >> 32, 0xffffffff);
}

/* Signals of others, and those that the kernel has, are told with the thread's own. */
static void pending_of_both(void **state)
{
	procmask(BLOCK, TRAP | USR1);
	dp_fake_send(SIGUSR1);
	assert_int_equal(pending(), USR1);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(pending(), USR1 | TRAP);
	dp_fake_thread(1);
	procmask(BLOCK, ILL);
	dp_fake_send(DP_SIGILL);
	assert_int_equal(pending(), ILL);
}

static void who_defers(void **state)
{
	procmask(BLOCK, TRAP | ILL);
	assert_false(dp_mask_defers());
	dp_fake_send(DP_SIGTRAP);
	dp_fake_send(DP_SIGILL);
	assert_true(dp_mask_defers());
	/* Signals are not lent to a child with their mask. */
	dp_mask_lend();
	dp_fake_vfork(false);
	assert_int_equal(dp_mask_blocked(), TRAP | ILL);
	assert_false(dp_mask_defers());
	dp_fake_vfork(true);
	set_action(DP_SIGTRAP, DP_SIG_IGN, 0, 0);
	set_action(DP_SIGILL, DP_SIG_IGN, 0, 0);
	procmask(UNBLOCK, USR1);
	assert_int_equal(pending(), TRAP | ILL);
	procmask(UNBLOCK, ILL);
	assert_true(dp_mask_defers());
	assert_int_equal(pending(), TRAP);
	procmask(UNBLOCK, TRAP);
	assert_false(dp_mask_defers());
}

/* However its thread pointer is read */
static u64 mine, other;
static u32 taken_at, step;

/* Another thread takes the slot, in which ours has nothing yet. */
static void take_slot(void)
{
	u64 *slot = &dp_private.masks[dp_mask_slot(mine)];

	if (step++ == taken_at && *slot == mine)
		*slot = other;
}

static void block_trap(void)
{
	dp_mask_set_virtual(TRAP);
}

static void a_slot_that_is_taken_meanwhile(void **state)
{
	u64 *slot;

	taken_at = 0;
	do {
		begin(NULL);
		mine = dp_mask_thread();
		other = mine + 64;
		slot = &dp_private.masks[dp_mask_slot(mine)];
		*slot = mine;
		step = 0;
		steps(block_trap, take_slot);
		assert_true(*slot == other || (*slot & ~DP_MASK_STATE) == mine);
		assert_int_equal(dp_mask_blocked(), TRAP);
	} while (taken_at++ < step);
	assert_in_range(step, 10, 5000);
}

static void known_by_its_pointer(void **state)
{
	u64 thread = dp_mask_thread();

	dp_arena.control.fsgsbase = 1;
	assert_int_equal(dp_mask_thread(), thread);
	dp_fake_thread(1);
	assert_int_not_equal(dp_mask_thread(), thread);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(never_blocked_really, begin),
		cmocka_unit_test_setup(only_asked, begin),
		cmocka_unit_test_setup(refused, begin),
		cmocka_unit_test_setup(masks_elsewhere, begin),
		cmocka_unit_test_setup(no_room, begin),
		cmocka_unit_test_setup(room_for_one_more, begin),
		cmocka_unit_test_setup(of_one_thread, begin),
		cmocka_unit_test_setup(deferred_until_unblocked, begin),
		cmocka_unit_test_setup(one_of_two, begin),
		cmocka_unit_test_setup(deferred_for_its_thread, begin),
		cmocka_unit_test_setup(one_of_each_is_deferred, begin),
		cmocka_unit_test_setup(others_stay_where_they_are, begin),
		cmocka_unit_test_setup(no_room_for_signals, begin),
		cmocka_unit_test_setup(deferred_by_the_kernel_meanwhile, begin),
		cmocka_unit_test_setup(deferred_for_a_child, begin),
		cmocka_unit_test_setup(own_handler, begin),
		cmocka_unit_test_setup(only_once, begin),
		cmocka_unit_test_setup(own_breakpoint, begin),
		cmocka_unit_test_setup(dies_without_calls, begin),
		cmocka_unit_test_setup(in_the_mask_of_an_action, begin),
		cmocka_unit_test_setup(refused_actions, begin),
		cmocka_unit_test_setup(given_back, begin),
		cmocka_unit_test_setup(nothing_to_note, begin),
		cmocka_unit_test_setup(thread_ends, begin),
		cmocka_unit_test_setup(ends_with_signals, begin),
		cmocka_unit_test_setup(new_thread, begin),
		cmocka_unit_test_setup(around_an_exec, begin),
		cmocka_unit_test_setup(deferred_across_an_exec, begin),
		cmocka_unit_test_setup(ignored_across_an_exec, begin),
		cmocka_unit_test_setup(ignored_by_a_child, begin),
		cmocka_unit_test_setup(begins_with_a_mask, begin),
		cmocka_unit_test_setup(while_we_come, begin),
		cmocka_unit_test_setup(what_is_caught, begin),
		cmocka_unit_test_setup(pending_in_another_size, begin),
		cmocka_unit_test_setup(pending_of_both, begin),
		cmocka_unit_test_setup(who_defers, begin),
		cmocka_unit_test_setup(a_slot_that_is_taken_meanwhile, begin),
		cmocka_unit_test_setup(known_by_its_pointer, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
