// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * leave: how a thread gets out of us without the tool, in a world in memory: a fork child,
 * and one that is about to install a filter.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include <asm/unistd.h>
#include "engine/layout/marks.h"
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "arch/arch.h"
#include "port/fake/hit/world.h"
#include "port/user/signals/trap.h"
#include "port/user/signals/intercept.h"
#include "port/user/signals/mask.h"
#include "port.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "port_hit.h"
#include "steps.h"

#define AT 0x401000ull
#define PAGE 0x401000ull
#define INT3 0xcc
#define TRAP DP_SIGMASK(DP_SIGTRAP)
#define USR1 DP_SIGMASK(10)
#define SEGV 11
#define HANDLER 0x5000000ull
#define PR_SET_SECCOMP 22
#define PR_SET_SYSCALL_USER_DISPATCH 59

static const u8 program[16] = { [0 ... 15] = 0x90 };
static const u8 patch[] = { INT3 };

static void map(u64 start)
{
	struct dp_arena_control *c = &dp_arena.control;

	c->patched[c->nr_patched].start = start;
	c->patched[c->nr_patched++].size = DP_PAGE;
	dp_fake_text(start, program, sizeof(program));
}

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT_JUMPS);
	map(PAGE);
	dp_arena.control.revertible = 1;
	dp_fake_site(0, AT);
	dp_fake_patch(AT, patch, 1);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	return 0;
}

static void set_action(u64 handler)
{
	struct dp_kernel_sigaction act = { handler, DP_SA_RESTORER, 1, 0 };

	dp_fake_call(__NR_rt_sigaction, DP_SIGTRAP, (u64)&act, 0,
		     DP_SIGSET_BYTES, 0);
}

static void set_mask(u64 blocked)
{
	dp_fake_call(__NR_rt_sigprocmask, DP_SIG_SETMASK, (u64)&blocked, 0,
		     DP_SIGSET_BYTES, 0);
}

static void fork_child(void **state)
{
	set_action(HANDLER);
	set_mask(TRAP | USR1);
	dp_fake_fork();
	dp_fake_breakpoint(AT);
	assert_int_equal(dp_fake_regs()->rip, AT);
	assert_int_equal(dp_fake_byte(AT), 0x90);
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, HANDLER);
	assert_int_equal(dp_fake_action(DP_SIGILL)->handler, DP_SIG_DFL);
	assert_int_equal(dp_fake_mask(), TRAP | USR1);
}

static void note(u32 i, u16 *word, u32 is, u32 how, u32 was)
{
	*word = (u16)is;
	dp_private.semaphores[i] = (struct dp_semaphore){ .addr = (u64)word,
							  .state = how,
							  .was = was };
	dp_private.nr_semaphores = i + 1;
}

/* The child takes off what the tool has added, and no more, once. */
static void child_lowers_semaphores(void **state)
{
	static const u16 wanted[] = { 0, 3, 3, 3, 6, 3, 0, 9 };
	u16 word[8];
	u32 i;

	note(0, &word[0], 1, DP_SEMAPHORE_RAISED, 0);
	note(1, &word[1], 4, DP_SEMAPHORE_RAISED, 3);
	note(2, &word[2], 3, DP_SEMAPHORE_RAISING, 3);
	note(3, &word[3], 3, DP_SEMAPHORE_LOWERING, 4);
	note(4, &word[4], 7, DP_SEMAPHORE_RAISING, 6);
	note(5, &word[5], 4, DP_SEMAPHORE_LOWERING, 4);
	note(6, &word[6], 0, DP_SEMAPHORE_RAISED, 0);
	note(7, &word[7], 9, DP_SEMAPHORE_FREE, 0);
	dp_fake_fork();
	dp_fake_breakpoint(AT);
	dp_hit_leave(NULL);
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(word[i], wanted[i]);
		assert_int_equal(dp_private.semaphores[i].addr, 0);
	}
}

/* Be there any number of them, as a program may have written. */
static void child_with_bad_notes(void **state)
{
	u16 word;

	note(DP_SEMAPHORES - 1, &word, 1, DP_SEMAPHORE_RAISED, 0);
	dp_private.nr_semaphores = ~0ull;
	dp_fake_fork();
	dp_fake_breakpoint(AT);
	assert_int_equal(word, 0);
	assert_int_equal(dp_fake_byte(AT), 0x90);
}

/* Others have changed these pages, so they are not given back. */
static void through_the_copy(void **state)
{
	dp_arena.control.revertible = 0;
	dp_fake_fork();
	dp_fake_breakpoint(AT);
	assert_int_equal(dp_fake_regs()->rip, dp_fake_copy(0));
	assert_int_equal(dp_fake_byte(AT), INT3);
	assert_int_equal(dp_fake_count(0), 0);
	assert_int_not_equal(dp_fake_action(DP_SIGTRAP)->handler, DP_SIG_DFL);
}

/* Where a library was there is something else now, which nobody gives back. */
static void another_library(void **state)
{
	static const u8 other[] = { INT3, 0x55, 0x48 };

	map(PAGE + DP_PAGE);
	dp_fake_site(1, PAGE + DP_PAGE);
	dp_fake_patch(PAGE + DP_PAGE, other, sizeof(other));
	dp_fake_fork();
	dp_fake_breakpoint(AT);
	assert_int_equal(dp_fake_byte(AT), 0x90);
	assert_int_equal(dp_fake_byte(PAGE + DP_PAGE + 1), 0x55);
}

/* Be it the first byte alone that differs, or the last. */
static void one_byte_of_another(void **state)
{
	static const u8 first[] = { 0x55 }, last[] = { 0x55 };
	u32 len = sizeof(dp_site_at(0)->orig);

	dp_fake_fork();
	dp_fake_patch(AT, first, 1);
	assert_true(dp_hit_leave_text());
	assert_int_equal(dp_fake_byte(AT), 0x55);
	dp_fake_patch(AT, patch, 1);
	dp_fake_patch(AT + len - 1, last, 1);
	assert_true(dp_hit_leave_text());
	assert_int_equal(dp_fake_byte(AT), INT3);
	/* Behind what is known nothing is looked at. */
	dp_fake_patch(AT + len - 1, program, 1);
	assert_true(dp_hit_leave_text());
	assert_int_equal(dp_fake_byte(AT), 0x90);
}

/* What follows a patch may be that of the next site. */
static void sites_side_by_side(void **state)
{
	dp_fake_site(1, AT + 1);
	dp_fake_patch(AT + 1, patch, 1);
	dp_fake_fork();
	dp_fake_breakpoint(AT + 1);
	assert_int_equal(dp_fake_regs()->rip, AT + 1);
	assert_int_equal(dp_fake_byte(AT), 0x90);
	assert_int_equal(dp_fake_byte(AT + 1), 0x90);
}

/* A site of which nobody knows whether a jump covers it: that jump is known. */
static void sites_inside_a_jump(void **state)
{
	static const u8 jump[] = { 0xe9, 0x11, 0x22, 0x33, 0x44 };
	struct dp_site_entry *leader = dp_fake_site(1, AT);

	dp_fake_site(0, AT + 2);
	leader->mode = DP_MODE_JUMP;
	leader->patch_len = sizeof(jump);
	memcpy(leader->patch, jump, sizeof(jump));
	memcpy(leader->orig, program, sizeof(leader->orig));
	dp_fake_patch(AT, jump, sizeof(jump));
	dp_fake_fork();
	assert_true(dp_hit_leave_text());
	assert_int_equal(dp_fake_byte(AT), 0x90);
	assert_int_equal(dp_fake_byte(AT + 2), 0x90);
}

/* Where none of our sites is, all is given back, whatever there is next to it. */
static void mapping_without_sites(void **state)
{
	static const u8 twice[] = { INT3, INT3 };
	struct dp_site_entry *behind_the_last = (void *)dp_site_at(1);

	map(PAGE - DP_PAGE);
	dp_fake_patch(PAGE - DP_PAGE, patch, 1);
	*behind_the_last = *dp_site_at(0);
	behind_the_last->addr = PAGE - 1;
	behind_the_last->armed = DP_SITE_GONE;
	dp_arena.control.patched[2].start = AT;
	dp_arena.control.patched[2].size = 1;
	/* Behind a patch of ours there is no breakpoint of ours. */
	dp_fake_patch(AT, twice, sizeof(twice));
	dp_fake_fork();
	assert_true(dp_hit_leave_text());
	assert_int_equal(dp_fake_byte(PAGE - DP_PAGE), 0x90);
	assert_int_equal(dp_fake_byte(AT), INT3);
}

/* A page that cannot be given back, and one that cannot be looked at */
static void unmapped(void **state)
{
	dp_fake_bad(PAGE, DP_PAGE);
	dp_fake_fork();
	assert_true(dp_hit_leave_text());
	assert_int_equal(dp_fake_byte(AT), INT3);
	dp_arena.control.own_process = 1;
	assert_false(dp_hit_leave(NULL));
	assert_int_not_equal(dp_fake_action(DP_SIGTRAP)->handler, DP_SIG_DFL);
}

static void actions_that_are_not_ours(void **state)
{
	dp_fake_action(SEGV)->handler = HANDLER;
	dp_fake_fork();
	assert_true(dp_hit_leave(NULL));
	assert_int_equal(dp_fake_action(SEGV)->handler, HANDLER);
	begin(state);
	dp_private.in_force = 0;
	dp_fake_action(DP_SIGTRAP)->handler = HANDLER;
	dp_fake_fork();
	assert_true(dp_hit_leave(NULL));
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, HANDLER);
	assert_int_equal(dp_fake_action(DP_SIGILL)->handler, DP_SIG_DFL);
}

/* All sites of a mapping have lost their code: it is not that mapping any more. */
static void code_is_gone(void **state)
{
	((struct dp_site_entry *)dp_site_at(0))->armed = DP_SITE_GONE;
	dp_fake_fork();
	assert_true(dp_hit_leave(NULL));
	assert_int_equal(dp_fake_byte(AT), INT3);
}

/* In the middle of a jump it goes back to the instruction that is there. */
static void middle_of_a_jump(void **state)
{
	struct dp_site_entry *s = (struct dp_site_entry *)dp_site_at(0);
	static const u8 jump[] = { 0xe9, INT3, INT3, INT3, INT3 };

	memcpy(s->patch, jump, sizeof(jump));
	s->patch_len = 5;
	s->mode = DP_MODE_JUMP;
	s->traps = 1 << 2;
	*dp_fake_jump(s) = (struct dp_jump){ .base = 0x7000000,
					     .nr = 2,
					     .size = 5,
					     .offset = { 0, 2 },
					     .at = { 0, 0x20 } };
	dp_fake_index(AT + 2, 0);
	dp_fake_patch(AT, jump, sizeof(jump));
	dp_fake_breakpoint(AT + 2);
	assert_int_equal(dp_fake_regs()->rip, 0x7000020);
	assert_int_equal(dp_arena.hit.interior_arrivals, 1);
	assert_int_equal(dp_fake_tally(0, DP_TALLY_MIDDLE), 1);
	dp_fake_fork();
	dp_fake_breakpoint(AT + 2);
	assert_int_equal(dp_fake_regs()->rip, AT + 2);
	assert_int_equal(dp_fake_byte(AT), 0x90);
	assert_int_equal(dp_arena.hit.interior_arrivals, 1);
}

/* The first thing that a child does to the signal's action takes us away. */
static void child_sets_its_action(void **state)
{
	set_action(HANDLER);
	dp_fake_fork();
	set_action(HANDLER + 1);
	assert_int_equal(dp_fake_byte(AT), 0x90);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, HANDLER + 1);
}

static void child_in_our_memory_sets_its_action(void **state)
{
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;

	set_action(HANDLER);
	dp_fake_vfork(false);
	set_action(HANDLER + 1);
	dp_fake_vfork(true);
	assert_int_equal(dp_fake_byte(AT), INT3);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, ours);
	dp_fake_send(DP_SIGTRAP);
	assert_int_equal(dp_fake_seen.handler, HANDLER);
	dp_fake_return();
}

/* Masks of other actions get back what was struck out of them. */
static void masks_of_actions(void **state)
{
	struct dp_kernel_sigaction act = { HANDLER, DP_SA_RESTORER, 1,
					   TRAP | USR1 };

	dp_fake_call(__NR_rt_sigaction, 12, (u64)&act, 0, DP_SIGSET_BYTES, 0);
	assert_int_equal(dp_fake_action(12)->mask,
			 dp_marks_on(TRAP | USR1, TRAP));
	dp_fake_fork();
	dp_fake_breakpoint(AT);
	assert_int_equal(dp_fake_action(12)->mask, TRAP | USR1);
}

static struct dp_site_entry *filter_intercept(struct dp_mcontext *regs)
{
	struct dp_site_entry *s = dp_fake_site(2, AT + 12);

	s->number = DP_ANY_CALL;
	dp_fake_jump(s)->base = 0x7000000;
	dp_fake_jump(s)->at[0] = 0x40;
	*regs = (struct dp_mcontext){ .rax = __NR_prctl,
				      .rdi = PR_SET_SECCOMP };
	return s;
}

/* A filter without a tool that could read it first: it does what a fork child does. */
static void filter_and_no_tool(void **state)
{
	struct dp_mcontext regs;
	struct dp_site_entry *s = filter_intercept(&regs);

	set_action(HANDLER);
	set_mask(TRAP);
	dp_private.in_masks[0] = dp_private.in_masks[DP_CAUGHT - 1] = 1;
	dp_arena.control.tool_futex = DP_TOOL_DIED;
	dp_filter_install(s, &regs);
	assert_int_equal(regs.rip, 0x7000040);
	assert_int_equal(dp_mask_blocked(), 0);
	assert_int_equal(dp_private.in_masks[0], 0);
	assert_int_equal(dp_private.in_masks[DP_CAUGHT - 1], 0);
	assert_int_equal(dp_arena.hit.filter_late, 1);
	assert_int_equal(dp_arena.hit.text_left, 1);
	assert_int_equal(dp_fake_byte(AT), 0x90);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, HANDLER);
}

static void filter_is_permitted(void **state)
{
	struct dp_mcontext regs;
	struct dp_site_entry *s = filter_intercept(&regs);

	dp_arena.control.filter_answered = 1ull << DP_FILTER_NUMBER;
	dp_filter_install(s, &regs);
	assert_int_equal(dp_filter_regs(dp_arena.hit.filter_ask), (u64)&regs);
	assert_int_equal(dp_arena.hit.filter_late, 0);
	assert_int_equal(dp_fake_byte(AT), INT3);
}

static struct {
	struct dp_site_entry *site;
	struct dp_mcontext regs;
	u32 waits, answer; /* after so many waits */
	u32 ms; /* for so long each */
} install;

static void install_filter(void)
{
	dp_filter_install(install.site, &install.regs);
}

/* The tool answers others all the time: the word on which the thread is about to wait is never
 * what it was. */
static void answer_others(void)
{
	u64 *answered = &dp_arena.control.filter_answered, began;

	if (steps_pc != (u64)dp_wait_home)
		return;
	*answered ^= 1ull << 32;
	for (began = dp_port_now(); dp_port_now() - began < install.ms;)
		;
	if (++install.waits == install.answer)
		*answered = dp_arena.hit.filter_ask;
}

/* The tool answers the request that there is, at first for a while nothing. */
static void answer_another(void)
{
	u64 *answered = &dp_arena.control.filter_answered;

	if (steps_pc != (u64)dp_wait_home)
		return;
	if (++install.waits < install.answer) {
		assert_int_equal(dp_arena.hit.filter_ask & 0xffff, 0x1000);
		*answered ^= 1ull << 32;
	} else {
		*answered = dp_arena.hit.filter_ask;
	}
}

static void install_while_others_do(u32 answer, u32 ms, u32 forbidden)
{
	begin(NULL);
	memset(&install, 0, sizeof(install));
	install.answer = answer;
	install.ms = ms;
	install.site = filter_intercept(&install.regs);
	dp_arena.control.forbidden = forbidden;
	steps(install_filter, answer_others);
}

static void filter_and_many_others(void **state)
{
	install_while_others_do(250, 0, 0);
	assert_int_equal(install.waits, 250);
	assert_int_equal(dp_arena.hit.filter_late, 0);
	/* The tool does not answer this thread. */
	install_while_others_do(0, 100, 0);
	assert_in_range(install.waits, 18, 20);
	assert_int_equal(dp_arena.hit.filter_late, 1);
	/* There is no clock. */
	install_while_others_do(0, 0, dp_own_bit(__NR_clock_gettime));
	assert_int_equal(install.waits, 200);
	assert_int_equal(dp_arena.hit.filter_late, 1);
}

/* Which calls install a filter, or have system calls dispatched? */
static void what_installs_a_filter(void **state)
{
	static const struct {
		u64 nr, a, b;
		u32 installs;
	} cases[] = {
		{ __NR_prctl, PR_SET_SECCOMP, 0, 1 },
		{ __NR_prctl, PR_SET_SECCOMP + 1, 0, 0 },
		{ __NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, 1, 1 },
		{ __NR_prctl, PR_SET_SYSCALL_USER_DISPATCH, 0, 0 },
		{ __NR_prctl, PR_SET_SYSCALL_USER_DISPATCH + 1, 1, 0 },
		{ __NR_seccomp, 0, 0, 1 },
		{ __NR_seccomp, 1, 0, 1 },
		{ __NR_seccomp, 2, 0, 0 },
		{ __NR_getpid, 1, 0, 0 },
	};
	struct dp_mcontext regs;
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dp_site_entry *s;

		begin(state);
		s = filter_intercept(&regs);
		dp_arena.control.tool_futex = DP_TOOL_DIED;
		regs.rax = cases[i].nr;
		regs.rdi = cases[i].a;
		regs.rsi = cases[i].b;
		dp_filter_install(s, &regs);
		if (dp_arena.hit.filter_late != cases[i].installs)
			fail_msg("case %u", i);
	}
}

/* Who has nobody to ask, and who does not ask */
static void filter_of_others(void **state)
{
	struct dp_mcontext regs;
	struct dp_site_entry *s = filter_intercept(&regs);
	struct dp_upcalls *upcalls;

	dp_arena.control.own_process = 1;
	dp_filter_install(s, &regs);
	assert_int_equal(dp_arena.hit.filter_late, 0);
	/* With injected handlers, the tool is there, and is woken. */
	upcalls = dp_fake_upcalls(1);
	upcalls->owner = DP_TOOL_OWNER;
	dp_arena.control.filter_answered = 1ull << DP_FILTER_NUMBER;
	dp_filter_install(s, &regs);
	assert_int_equal(upcalls->calls, 1);
	assert_int_equal(dp_arena.hit.filter_late, 0);
	/* It has ended; while it takes the probes out, that is not seen. */
	dp_arena.control.filter_answered = 2ull << DP_FILTER_NUMBER;
	upcalls->owner |= DP_TOOL_DIED;
	dp_arena.control.filter_leaving = 1;
	dp_filter_install(s, &regs);
	assert_int_equal(dp_arena.hit.filter_late, 0);
	dp_arena.control.filter_leaving = 0;
	dp_filter_install(s, &regs);
	assert_int_equal(dp_arena.hit.filter_late, 1);
	/* A thread that must not wait does not. */
	dp_arena.control.nr_upcalls = dp_arena.control.own_process = 0;
	dp_arena.control.filter_answered = 3ull << DP_FILTER_NUMBER;
	dp_arena.control.forbidden = dp_own_bit(__NR_futex);
	dp_filter_install(s, &regs);
	assert_int_equal(dp_arena.hit.filter_late, 2);
	dp_fake_vfork(false);
	dp_filter_install(s, &regs);
	assert_int_equal(dp_arena.hit.filter_late, 2);
}

/* A plain call asks at its last call-out but one, where the arguments are there. */
static void filter_of_a_plain_call(void **state)
{
	struct dp_mcontext regs;
	struct dp_site_entry *s = filter_intercept(&regs);

	s->number = DP_PLAIN_CALL;
	dp_fake_jump(s)->nr = 2;
	dp_fake_jump(s)->at[1] = 0x60;
	dp_fake_jump(s)->at[2] = 0x80;
	dp_arena.control.tool_futex = DP_TOOL_DIED;
	dp_filter_install(s, &regs);
	assert_int_equal(regs.rip, 0x7000060);
}

/* Other threads keep their masks, which are not known here: all stays virtual. */
static void filter_beside_other_threads(void **state)
{
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;
	struct dp_mcontext regs;
	struct dp_site_entry *s = filter_intercept(&regs);

	set_mask(TRAP);
	dp_private.in_masks[0] = 1;
	dp_arena.control.forbidden = dp_own_bit(__NR_unshare);
	dp_arena.control.tool_futex = DP_TOOL_DIED;
	dp_filter_install(s, &regs);
	assert_int_equal(dp_fake_byte(AT), 0x90);
	assert_int_equal(dp_arena.hit.text_left, 1);
	assert_int_equal(dp_mask_blocked(), TRAP);
	assert_int_equal(dp_fake_mask(), 0);
	assert_int_equal(dp_private.in_masks[0], 1);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, ours);
}

/* Another thread's request stands until it is answered: only then this one asks. */
static void filter_behind_another(void **state)
{
	const u64 another = 6ull << DP_FILTER_NUMBER | 0x1000;

	begin(NULL);
	memset(&install, 0, sizeof(install));
	install.answer = 3;
	install.site = filter_intercept(&install.regs);
	dp_arena.hit.filter_ask = another;
	dp_arena.control.filter_answered = 4ull << DP_FILTER_NUMBER;
	steps(install_filter, answer_another);
	assert_int_equal(dp_arena.hit.filter_late, 0);
	assert_int_equal(install.waits, 4);
	assert_int_equal(dp_arena.hit.filter_ask,
			 7ull << DP_FILTER_NUMBER | (u64)&install.regs);
}

/* What others have changed is not taken out, and then no mask is given back. */
static void filter_over_text_that_stays(void **state)
{
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;
	struct dp_mcontext regs;
	struct dp_site_entry *s = filter_intercept(&regs);

	dp_arena.control.revertible = 0;
	dp_arena.control.tool_futex = DP_TOOL_DIED;
	dp_filter_install(s, &regs);
	assert_int_equal(dp_arena.hit.text_left, 0);
	assert_int_equal(dp_fake_action(DP_SIGTRAP)->handler, ours);
}

#define CLONE_THREAD_VM 0x10100ull
#define CLONE_VM_SETTLS 0x80100ull
#define NEW_STACK 0x12340ull

static bool incomplete;

/* As the call-outs before and behind a system call that makes a process or thread do. */
static void observe(u32 nr, bool after, u64 ax)
{
	struct dp_site_entry *s = (struct dp_site_entry *)dp_site_at(0);

	s->number = nr;
	dp_fake_regs()->rax = ax;
	dp_intercept_observe(s, dp_fake_regs(), after);
}

static void make_thread(void)
{
	observe(__NR_clone, false, 0);
}

static void look_at_note(void)
{
	const struct dp_clone *c = &dp_private.clones[0];

	incomplete |= dp_thread_is_bare(c->thread) &&
		      (c->flags != CLONE_THREAD_VM || c->sp != NEW_STACK);
}

/* Another thread, whose stack was that of an earlier note, must not take the new one. */
static void notes_are_complete(void **state)
{
	dp_arena.control.forbidden = dp_own_bit(__NR_arch_prctl);
	observe(__NR_fork, false, 0);
	assert_true(dp_thread_is_bare(dp_private.clones[0].thread));
	observe(__NR_fork, true, 7);
	assert_int_equal(dp_private.clones[0].thread, 0);
	dp_fake_thread(1);
	dp_fake_regs()->rdi = CLONE_THREAD_VM;
	dp_fake_regs()->rsi = NEW_STACK;
	incomplete = false;
	steps(make_thread, look_at_note);
	assert_int_equal(dp_private.clones[0].sp, NEW_STACK);
	assert_false(incomplete);
}

/* Signals that wait for the parent are not the child's. */
static void child_of_one_that_defers(void **state)
{
	u64 set = 0;

	dp_arena.control.revertible = 0;
	set_action(HANDLER);
	set_mask(TRAP);
	dp_fake_send(DP_SIGTRAP);
	observe(__NR_fork, false, 0);
	dp_fake_fork();
	observe(__NR_fork, true, 0);
	dp_fake_call(__NR_rt_sigpending, (u64)&set, DP_SIGSET_BYTES, 0, 0, 0);
	assert_int_equal(set, 0);
	set_mask(0);
	assert_int_equal(dp_fake_seen.entered, 0);
	assert_int_equal(dp_fake_seen.died, 0);
}

/* A child in our memory that has a thread pointer of its own has its parent's mask. */
static void child_with_a_pointer(void **state)
{
	u64 own;

	dp_fake_thread(1);
	own = dp_port_thread_pointer();
	dp_fake_thread(0);
	set_mask(TRAP);
	dp_fake_regs()->rdi = CLONE_VM_SETTLS;
	dp_fake_regs()->r8 = own;
	observe(__NR_clone, false, 0);
	dp_fake_thread(1);
	dp_fake_vfork(false);
	observe(__NR_clone, true, 0);
	assert_int_equal(dp_mask_blocked(), TRAP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(fork_child, begin),
		cmocka_unit_test_setup(child_lowers_semaphores, begin),
		cmocka_unit_test_setup(child_with_bad_notes, begin),
		cmocka_unit_test_setup(through_the_copy, begin),
		cmocka_unit_test_setup(another_library, begin),
		cmocka_unit_test_setup(one_byte_of_another, begin),
		cmocka_unit_test_setup(sites_side_by_side, begin),
		cmocka_unit_test_setup(sites_inside_a_jump, begin),
		cmocka_unit_test_setup(mapping_without_sites, begin),
		cmocka_unit_test_setup(unmapped, begin),
		cmocka_unit_test_setup(actions_that_are_not_ours, begin),
		cmocka_unit_test_setup(code_is_gone, begin),
		cmocka_unit_test_setup(middle_of_a_jump, begin),
		cmocka_unit_test_setup(child_sets_its_action, begin),
		cmocka_unit_test_setup(child_in_our_memory_sets_its_action,
				       begin),
		cmocka_unit_test_setup(masks_of_actions, begin),
		cmocka_unit_test_setup(filter_and_no_tool, begin),
		cmocka_unit_test_setup(filter_is_permitted, begin),
		cmocka_unit_test_setup(filter_and_many_others, begin),
		cmocka_unit_test_setup(what_installs_a_filter, begin),
		cmocka_unit_test_setup(filter_of_others, begin),
		cmocka_unit_test_setup(filter_of_a_plain_call, begin),
		cmocka_unit_test_setup(filter_over_text_that_stays, begin),
		cmocka_unit_test_setup(filter_beside_other_threads, begin),
		cmocka_unit_test_setup(filter_behind_another, begin),
		cmocka_unit_test_setup(child_of_one_that_defers, begin),
		cmocka_unit_test_setup(notes_are_complete, begin),
		cmocka_unit_test_setup(child_with_a_pointer, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
