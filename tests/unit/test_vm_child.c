// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* vm_child: calls that make processes and threads, as their intercepts see them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <asm/unistd.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "port/fake/hit/world.h"
#include "port/user/signals/intercept.h"
#include "port/user/signals/mask.h"
#include "port.h"
#include "port_hit.h"

#define SIGCHLD 17
#define CLONE_VM 0x100ull
#define CLONE_VFORK 0x4000ull
#define CLONE_THREAD 0x10000ull
#define CLONE_SETTLS 0x80000ull
#define CLONE_CLEAR_SIGHAND 0x100000000ull
#define TRAP DP_SIGMASK(DP_SIGTRAP)
#define HANDLER 0x5000000ull
#define STACK 0x12340ull
#define CHILD 7

/* struct clone_args */
static u64 args[8];
enum { FLAGS, STACK_LOW = 5, STACK_SIZE, TLS };

static int begin(void **state)
{
	struct dp_arena_control *c = &dp_arena.control;

	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_site(0, 0x401000);
	c->shard_mask = 1;
	c->counts_alone = 1;
	dp_table[0] = dp_table[1] = dp_table[2] = ~0ull;
	memset(args, 0, sizeof(args));
	dp_fake_regs()->rdi = (u64)args;
	return 0;
}

/* As the call-outs before and behind a system call do. */
static bool observe(u32 nr, bool after, u64 ax)
{
	struct dp_site_entry *s = (struct dp_site_entry *)dp_site_at(0);

	s->number = nr;
	dp_fake_regs()->rax = ax;
	return dp_intercept_observe(s, dp_fake_regs(), after);
}

static void set_mask(u64 blocked)
{
	dp_fake_call(__NR_rt_sigprocmask, DP_SIG_SETMASK, (u64)&blocked, 0,
		     DP_SIGSET_BYTES, 0);
}

static void expect_tables(bool empty)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 counters = (u64)dp_at(c->counter_off);

	assert_true(dp_table[0] == (empty ? 0 : counters));
	assert_true(dp_table[1] == (empty ? 0 : counters + c->shard_stride));
	assert_true(dp_table[2] == ~0ull);
}

static u32 notes(void)
{
	u32 n = 0, i;

	for (i = 0; i < DP_CLONES; i++)
		n += !!dp_private.clones[i].thread;
	return n;
}

/* Detours do not count by themselves as long as there is one. */
static void counted_while_there(void **state)
{
	observe(__NR_vfork, false, 0);
	assert_int_equal(dp_arena.hit.vm_children, 1);
	expect_tables(true);
	dp_fake_thread(1);
	observe(__NR_vfork, false, 0);
	assert_int_equal(dp_arena.hit.vm_children, 2);
	observe(__NR_vfork, true, CHILD);
	assert_int_equal(dp_arena.hit.vm_children, 1);
	expect_tables(true);
	dp_fake_thread(0);
	observe(__NR_vfork, true, (u64)-11);
	assert_int_equal(dp_arena.hit.vm_children, 0);
	expect_tables(false);
	assert_int_equal(notes(), 0);
}

/* Other calls count, too: the tables stay as they are. */
static void tables_of_others(void **state)
{
	dp_arena.control.counts_alone = 0;
	observe(__NR_vfork, false, 0);
	assert_int_equal(dp_arena.hit.vm_children, 1);
	observe(__NR_vfork, true, CHILD);
	assert_int_equal(dp_arena.hit.vm_children, 0);
	assert_true(dp_table[0] == ~0ull);
}

/* One that is not waited for is there until it fails to come. */
static void not_waited_for(void **state)
{
	args[FLAGS] = CLONE_VM;
	observe(__NR_clone3, false, 0);
	observe(__NR_clone3, true, CHILD);
	assert_int_equal(dp_arena.hit.vm_children, 1);
	observe(__NR_clone3, false, 0);
	assert_int_equal(dp_arena.hit.vm_children, 2);
	observe(__NR_clone3, true, (u64)-12);
	assert_int_equal(dp_arena.hit.vm_children, 1);
	/* Neither fork children nor threads are, nor children of fork children. */
	observe(__NR_fork, false, 0);
	observe(__NR_fork, true, CHILD);
	args[FLAGS] = CLONE_VM | CLONE_THREAD;
	observe(__NR_clone3, false, 0);
	observe(__NR_clone3, true, CHILD);
	assert_int_equal(notes(), 0);
	dp_fake_fork();
	observe(__NR_vfork, false, 0);
	observe(__NR_vfork, true, CHILD);
	assert_int_equal(dp_arena.hit.vm_children, 1);
}

static void noted_of_a_call(void **state)
{
	const struct dp_clone *c = dp_private.clones;

	set_mask(TRAP);
	observe(__NR_getpid, false, 0);
	assert_int_equal(notes(), 0);
	args[FLAGS] = CLONE_VFORK;
	args[STACK_LOW] = STACK;
	args[STACK_SIZE] = 0x100;
	observe(__NR_clone3, false, 0);
	assert_int_equal(notes(), 1);
	assert_true(c->flags == CLONE_VFORK);
	assert_true(c->sp == STACK + 0x100);
	assert_true(c->virtual_mask == TRAP);
	observe(__NR_clone3, true, CHILD);
	dp_fake_regs()->rdi = CLONE_VFORK;
	dp_fake_regs()->rsi = 0;
	observe(__NR_clone, false, 0);
	assert_true(c->sp == dp_fake_regs()->rsp);
	observe(__NR_clone, true, CHILD);
	assert_int_equal(notes(), 0);
}

/* What cannot be read is no flags: then the call fails. */
static void unreadable(void **state)
{
	args[FLAGS] = CLONE_VM;
	dp_fake_bad((u64)args, sizeof(args));
	observe(__NR_clone3, false, 0);
	assert_int_equal(notes(), 0);
	assert_int_equal(dp_arena.hit.vm_children, 0);
	observe(__NR_clone3, true, (u64)-14);
	assert_int_equal(dp_arena.hit.vm_children, 0);
}

static void noted_of_a_fork(void **state)
{
	const struct dp_clone *c = dp_private.clones;

	observe(__NR_fork, false, 0);
	assert_int_equal(notes(), 1);
	assert_true(c->flags == SIGCHLD);
	assert_true(c->sp == dp_fake_regs()->rsp);
	assert_int_equal(dp_arena.hit.vm_children, 0);
}

/* Its parent says so before: it begins with the parent's mask. */
static void pointer_of_its_own(void **state)
{
	dp_fake_thread(1);
	args[TLS] = dp_port_thread_pointer();
	dp_fake_thread(0);
	dp_fake_regs()->rdi = (u64)args;
	args[FLAGS] = CLONE_VM | CLONE_THREAD | CLONE_SETTLS;
	set_mask(TRAP);
	observe(__NR_clone3, false, 0);
	assert_int_equal(notes(), 0);
	dp_fake_thread(1);
	assert_true(dp_mask_blocked() == TRAP);
}

/* Whatever the child is: in our memory, or with memory of its own. */
static void pointer_of_a_process(void **state)
{
	u64 pointer;

	dp_fake_thread(1);
	pointer = dp_port_thread_pointer();
	dp_fake_thread(0);
	set_mask(TRAP);
	dp_fake_regs()->rdi = CLONE_VM | CLONE_SETTLS;
	dp_fake_regs()->r8 = pointer;
	observe(__NR_clone, false, 0);
	dp_fake_thread(1);
	assert_true(dp_mask_blocked() == 0);
	dp_fake_vfork(false);
	assert_true(dp_mask_blocked() == TRAP);
	dp_fake_vfork(true);
	dp_fake_thread(0);
	observe(__NR_clone, true, CHILD);
	dp_fake_regs()->rdi = SIGCHLD | CLONE_SETTLS;
	observe(__NR_clone, false, 0);
	dp_fake_thread(1);
	assert_true(dp_mask_blocked() == TRAP);
}

/* With its parent's thread pointer it has its parent's mask, and changes its own. */
static void mask_of_a_child(void **state)
{
	set_mask(TRAP);
	observe(__NR_vfork, false, 0);
	dp_fake_vfork(false);
	observe(__NR_vfork, true, 0);
	assert_true(dp_mask_blocked() == TRAP);
	set_mask(0);
	assert_true(dp_mask_blocked() == 0);
	dp_fake_vfork(true);
	assert_true(dp_mask_blocked() == TRAP);
}

/* The exec of a child in our memory does not return: its note goes with the parent's. */
static void execs(void **state)
{
	observe(__NR_vfork, false, 0);
	dp_fake_vfork(false);
	observe(__NR_vfork, true, 0);
	observe(__NR_execve, false, 0);
	assert_int_equal(notes(), 2);
	observe(__NR_execve, true, (u64)-2);
	assert_int_equal(notes(), 1);
	observe(__NR_execveat, false, 0);
	dp_fake_vfork(true);
	dp_arena.hit.vm_children = 1;
	observe(__NR_vfork, true, 200);
	assert_int_equal(notes(), 0);
	assert_int_equal(dp_arena.hit.vm_children, 0);
}

/* Of another parent's child nothing is forgotten. One without a pointer is known by its
 * id. */
static void execs_of_others(void **state)
{
	struct dp_clone *c = dp_private.clones;

	dp_fake_thread(1);
	dp_fake_vfork(false);
	observe(__NR_execve, false, 0);
	dp_fake_vfork(true);
	dp_fake_thread(0);
	assert_int_equal(notes(), 1);
	c[1] = c[2] = c[0];
	c[1].thread = dp_thread_id(0, 200);
	c[2].thread = dp_thread_id(0, 201);
	observe(__NR_vfork, false, 0);
	assert_int_equal(notes(), 4);
	observe(__NR_vfork, true, 200);
	assert_int_equal(notes(), 2);
	assert_int_equal(c[1].thread, 0);
}

/* It has not become another program: its actions are the agent's again, its mask virtual. */
static void exec_fails(void **state)
{
	u64 ours = dp_fake_action(DP_SIGTRAP)->handler;
	struct dp_mcontext *regs = dp_fake_regs();

	set_mask(TRAP);
	regs->rdi = (u64) "/nowhere";
	assert_false(observe(DP_PLAIN_CALL, false, __NR_execve));
	assert_true(dp_fake_mask() == TRAP);
	assert_string_equal(dp_arena.hit.exec_path, "/nowhere");
	assert_int_equal(dp_arena.hit.exec_pending, 1);
	dp_fake_action(DP_SIGTRAP)->handler = 0;
	observe(DP_PLAIN_CALL, true, (u64)-2);
	assert_true(dp_fake_mask() == 0);
	assert_true(dp_fake_action(DP_SIGTRAP)->handler == ours);
	assert_int_equal(dp_arena.hit.exec_pending, 0);
	assert_int_equal(notes(), 0);
}

static u32 begun, begun_surely;

static void note_begin(u32 sure)
{
	begun++;
	begun_surely += sure;
}

/* A thread of the process, but not its maker, and no child that has a process of its own */
static void threads_begin(void **state)
{
	begun = begun_surely = 0;
	dp_arena.control.thread_begins = (u64)note_begin;
	observe(__NR_clone, false, 0);
	observe(__NR_clone, true, CHILD);
	assert_int_equal(begun, 0);
	observe(__NR_clone, true, 0);
	assert_int_equal(begun, 1);
	assert_int_equal(begun_surely, 1);
	observe(DP_ANY_CALL, true, 0);
	assert_int_equal(begun, 2);
	assert_int_equal(begun_surely, 1);
	observe(__NR_vfork, false, 0);
	dp_fake_vfork(false);
	observe(__NR_vfork, true, 0);
	dp_fake_vfork(true);
	dp_fake_fork();
	observe(__NR_clone, true, 0);
	assert_int_equal(begun, 2);
	dp_arena.control.thread_begins = 0;
}

/* Zeros in place of the parent's variables, which others may be changing. */
static void variables_of_a_fork_child(void **state)
{
	struct dp_arena_control *c = &dp_arena.control;
	u8 *own;

	c->own_off = dp_fake_room(64);
	c->private_off = c->own_off + 56;
	own = dp_at(c->own_off);
	memset(own, 0xee, 64);
	observe(__NR_fork, false, 0);
	observe(__NR_fork, true, CHILD);
	observe(__NR_vfork, false, 0);
	dp_fake_vfork(false);
	observe(__NR_vfork, true, 0);
	dp_fake_vfork(true);
	observe(__NR_vfork, true, 200);
	assert_int_equal(own[0], 0xee);
	observe(__NR_fork, false, 0);
	dp_fake_fork();
	c->own_process = 1;
	observe(__NR_fork, true, 0);
	assert_int_equal(own[0], 0xee);
	c->own_process = 0;
	observe(__NR_fork, true, 0);
	assert_int_equal(own[0] | own[55], 0);
	assert_int_equal(own[56], 0xee);
}

/* Signals that wait are the parent's. */
static void signals_of_a_fork_child(void **state)
{
	u64 set = 0;

	set_mask(TRAP);
	dp_fake_send(DP_SIGTRAP);
	observe(__NR_fork, false, 0);
	observe(__NR_fork, true, CHILD);
	dp_fake_call(__NR_rt_sigpending, (u64)&set, DP_SIGSET_BYTES, 0, 0, 0);
	assert_true(set == TRAP);
	observe(__NR_fork, false, 0);
	dp_fake_fork();
	observe(__NR_fork, true, 0);
	dp_fake_call(__NR_rt_sigpending, (u64)&set, DP_SIGSET_BYTES, 0, 0, 0);
	assert_true(set == 0);
	assert_int_equal(notes(), 0);
}

/* Its text is the program's again as soon as it is there. */
static void text_of_a_fork_child(void **state)
{
	static const u8 program[16] = { [0 ... 15] = 0x90 };
	static const u8 patch = DP_BREAKPOINT;
	struct dp_arena_control *c = &dp_arena.control;

	c->revertible = c->nr_patched = 1;
	c->patched[0].start = 0x401000;
	c->patched[0].size = DP_PAGE;
	dp_fake_text(0x401000, program, sizeof(program));
	dp_fake_patch(0x401000, &patch, 1);
	observe(__NR_fork, false, 0);
	observe(__NR_fork, true, CHILD);
	observe(__NR_vfork, false, 0);
	dp_fake_vfork(false);
	observe(__NR_vfork, true, 0);
	dp_fake_vfork(true);
	observe(__NR_vfork, true, 200);
	assert_int_equal(dp_fake_byte(0x401000), DP_BREAKPOINT);
	observe(__NR_fork, false, 0);
	dp_fake_fork();
	observe(__NR_fork, true, 0);
	assert_int_equal(dp_fake_byte(0x401000), 0x90);
}

/* A fork child without a thread pointer has its parent's mask, under its own id. */
static void fork_child_by_its_stack(void **state)
{
	dp_arena.control.forbidden = dp_own_bit(__NR_arch_prctl);
	dp_fake_thread(1);
	observe(__NR_fork, false, 0); /* is not back yet */
	dp_fake_thread(0);
	set_mask(TRAP);
	observe(__NR_fork, false, 0);
	dp_fake_fork();
	assert_true(dp_mask_blocked() == 0);
	observe(__NR_fork, true, 0);
	assert_true(dp_mask_blocked() == TRAP);
	assert_int_equal(notes(), 1);
}

/* No thread has a pointer: a new thread is known by its stack. */
static void known_by_its_stack(void **state)
{
	dp_arena.control.forbidden = dp_own_bit(__NR_arch_prctl);
	set_mask(TRAP);
	dp_fake_regs()->rdi = CLONE_VM | CLONE_THREAD;
	dp_fake_regs()->rsi = STACK;
	observe(__NR_clone, false, 0);
	assert_int_equal(notes(), 1);
	dp_fake_thread(1);
	dp_fake_regs()->rsp = STACK + 8;
	observe(__NR_clone, true, 0);
	assert_true(dp_mask_blocked() == 0);
	dp_fake_thread(2);
	dp_fake_regs()->rsp = STACK;
	observe(__NR_clone, true, 0);
	assert_true(dp_mask_blocked() == TRAP);
	assert_int_equal(notes(), 0);
}

/* It has lost its parent's actions, and the agent's with them. */
static void without_actions(void **state)
{
	struct dp_kernel_sigaction act = { HANDLER, DP_SA_RESTORER, 1, TRAP };
	struct dp_kernel_sigaction both = { HANDLER, DP_SA_RESTORER, 1,
					    TRAP | DP_SIGMASK(DP_SIGILL) };
	u32 sig;

	dp_fake_call(__NR_rt_sigaction, DP_SIGTRAP, (u64)&act, 0,
		     DP_SIGSET_BYTES, 0);
	dp_fake_call(__NR_rt_sigaction, 12, (u64)&both, 0, DP_SIGSET_BYTES, 0);
	args[FLAGS] = CLONE_CLEAR_SIGHAND | CLONE_VM | CLONE_VFORK;
	observe(__NR_clone3, false, 0);
	dp_fake_action(DP_SIGTRAP)->handler = 0;
	observe(__NR_clone3, true, 0);
	assert_true(dp_fake_action(DP_SIGTRAP)->handler != 0);
	dp_fake_call(__NR_rt_sigaction, DP_SIGTRAP, 0, (u64)&act,
		     DP_SIGSET_BYTES, 0);
	assert_true(act.handler == HANDLER);
	observe(__NR_clone3, true, 200);
	assert_int_equal(dp_arena.hit.vm_children, 0);
	args[FLAGS] = CLONE_CLEAR_SIGHAND;
	observe(__NR_clone3, false, 0);
	dp_fake_fork();
	dp_fake_action(DP_SIGTRAP)->handler = 0;
	dp_fake_action(12)->mask = 0;
	observe(__NR_clone3, true, 0);
	assert_true(dp_fake_action(DP_SIGTRAP)->handler != 0);
	dp_fake_call(__NR_rt_sigaction, DP_SIGTRAP, 0, (u64)&act,
		     DP_SIGSET_BYTES, 0);
	assert_true(act.handler == 0);
	for (sig = 1; sig <= 64; sig++) {
		dp_fake_call(__NR_rt_sigaction, sig, 0, (u64)&act,
			     DP_SIGSET_BYTES, 0);
		assert_true(act.mask == 0);
	}
}

/* There is room for so many calls at a time, and nothing behind it is for them. */
static void notes_stay_in_their_table(void **state)
{
	struct dp_actions *behind = dp_private.actions, was = *behind;
	u32 i;

	for (i = 0; i < DP_CLONES; i++)
		dp_private.clones[i].thread = dp_mask_thread() + 64;
	observe(__NR_fork, false, 0);
	assert_memory_equal(behind, &was, sizeof(was));
	memset(behind, 0, sizeof(*behind));
	observe(__NR_fork, false, 0);
	for (i = 0; i < sizeof(*behind); i++)
		assert_int_equal(((u8 *)behind)[i], 0);
	*behind = was;
}

/* Nor are they set again in a child whose text is the program's. */
static void without_actions_or_probes(void **state)
{
	dp_arena.control.revertible = 1;
	args[FLAGS] = CLONE_CLEAR_SIGHAND;
	observe(__NR_clone3, false, 0);
	dp_fake_fork();
	dp_fake_action(DP_SIGTRAP)->handler = 0;
	observe(__NR_clone3, true, 0);
	assert_true(dp_fake_action(DP_SIGTRAP)->handler == 0);
}

/* While our actions come or go, the kernel's masks are the program's. */
static void without_actions_meanwhile(void **state)
{
	set_mask(TRAP);
	args[FLAGS] = CLONE_CLEAR_SIGHAND | CLONE_VM | CLONE_VFORK;
	observe(__NR_clone3, false, 0);
	dp_private.in_force = 0;
	dp_fake_vfork(false);
	dp_fake_action(DP_SIGTRAP)->handler = 0;
	observe(__NR_clone3, true, 0);
	assert_true(dp_fake_action(DP_SIGTRAP)->handler == 0);
	assert_true(dp_fake_mask() == TRAP);
}

/* A number known only now may be that of a call that is answered here. */
static void any_call(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();
	u64 set = TRAP;

	regs->rdi = DP_SIG_SETMASK;
	regs->rsi = (u64)&set;
	regs->rdx = 0;
	regs->r10 = DP_SIGSET_BYTES;
	assert_true(observe(DP_ANY_CALL, false, __NR_rt_sigprocmask));
	assert_int_equal(regs->rax, 0);
	assert_true(dp_mask_blocked() == TRAP);
	assert_false(observe(DP_ANY_CALL, false, __NR_getpid));
	assert_int_equal(regs->rax, __NR_getpid);
	assert_false(observe(DP_ANY_CALL, false, __NR_vfork));
	assert_int_equal(dp_arena.hit.vm_children, 1);
}

/* Which intercept of a masked wait stands before its call, and which behind it. */
static void sides_of_a_wait(void **state)
{
	u32 enters = DP_CALL_ENTERS | __NR_rt_sigsuspend, returns;
	struct dp_mcontext *regs = dp_fake_regs();
	u64 mask = 0, was;
	bool through;

	for (through = false;; through = true) {
		enters |= through ? DP_CALL_THROUGH : 0;
		returns = DP_CALL_RETURNS | (enters & DP_CALL_THROUGH);
		set_mask(TRAP);
		regs->rdi = regs->rsi = (u64)&mask;
		regs->rdx = DP_SIGSET_BYTES;
		was = through ? regs->rsi : regs->rdi;
		if (!through)
			regs->rsi = DP_SIGSET_BYTES;
		assert_false(observe(enters, through, 0));
		assert_true((through ? regs->rsi : regs->rdi) == was);
		assert_false(observe(enters, !through, 0));
		assert_true((through ? regs->rsi : regs->rdi) != was);
		assert_true(dp_mask_blocked() == 0);
		assert_false(observe(returns, true, 0));
		assert_true(dp_mask_blocked() == 0);
		assert_false(observe(returns, false, 0));
		assert_true(dp_mask_blocked() == TRAP);
		if (through)
			break;
	}
}

/* So may a masked wait, or the installation of a filter. */
static void any_call_may_wait(void **state)
{
	struct dp_mcontext *regs = dp_fake_regs();
	u64 mask = 0;

	dp_fake_jump((struct dp_site_entry *)dp_site_at(0))->nr = 1;
	set_mask(TRAP);
	regs->rdi = (u64)&mask;
	regs->rsi = DP_SIGSET_BYTES;
	assert_false(observe(DP_PLAIN_CALL, false, __NR_rt_sigsuspend));
	assert_true(regs->rdi != (u64)&mask);
	assert_true(dp_mask_blocked() == 0);
	observe(DP_PLAIN_CALL, true, (u64)-4);
	assert_true(regs->rdi == (u64)&mask);
	assert_true(dp_mask_blocked() == TRAP);
	/* The tool has ended: it is not waited for. */
	dp_arena.control.tool_futex = DP_TOOL_DIED;
	regs->rdi = 22; /* PR_SET_SECCOMP */
	observe(DP_PLAIN_CALL, false, __NR_prctl);
	assert_int_equal(dp_arena.hit.filter_late, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(counted_while_there, begin),
		cmocka_unit_test_setup(tables_of_others, begin),
		cmocka_unit_test_setup(not_waited_for, begin),
		cmocka_unit_test_setup(noted_of_a_call, begin),
		cmocka_unit_test_setup(unreadable, begin),
		cmocka_unit_test_setup(noted_of_a_fork, begin),
		cmocka_unit_test_setup(pointer_of_its_own, begin),
		cmocka_unit_test_setup(pointer_of_a_process, begin),
		cmocka_unit_test_setup(mask_of_a_child, begin),
		cmocka_unit_test_setup(execs, begin),
		cmocka_unit_test_setup(execs_of_others, begin),
		cmocka_unit_test_setup(exec_fails, begin),
		cmocka_unit_test_setup(variables_of_a_fork_child, begin),
		cmocka_unit_test_setup(threads_begin, begin),
		cmocka_unit_test_setup(signals_of_a_fork_child, begin),
		cmocka_unit_test_setup(text_of_a_fork_child, begin),
		cmocka_unit_test_setup(fork_child_by_its_stack, begin),
		cmocka_unit_test_setup(known_by_its_stack, begin),
		cmocka_unit_test_setup(without_actions, begin),
		cmocka_unit_test_setup(notes_stay_in_their_table, begin),
		cmocka_unit_test_setup(without_actions_or_probes, begin),
		cmocka_unit_test_setup(without_actions_meanwhile, begin),
		cmocka_unit_test_setup(any_call, begin),
		cmocka_unit_test_setup(sides_of_a_wait, begin),
		cmocka_unit_test_setup(any_call_may_wait, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
