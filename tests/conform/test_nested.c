// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nested: probes hit in handlers, calls of the library from handlers, and signals. */
#include "conform.h"
#include "victims.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>

/* --- a probe that is hit inside a handler --- [defect 4] */

static int call_other(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.entry);
	if (c_other(2, 1) != 11)
		count(&counts.fault);
	return 0;
}

static void call_other_after(struct kprobe *p, struct pt_regs *regs,
			     unsigned long flags)
{
	call_other(p, regs);
}

static void call_plain(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(c_plain(i, 1), 3 * i + 1);
}

/* @outer's handlers call c_other() @times a hit. */
static void missed_inside(struct kprobe *outer, int times)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe inner = probe_at(c_other);

	inner.post_handler = count_post;
	must(register_kprobe(outer));
	must(register_kprobe(&inner));
	in_threads(call_plain);
	check_eq(counts.entry, wanted * times);
	check_eq(counts.pre, 0);
	check_eq(counts.post, 0);
	check_eq(counts.fault, 0);
	check_eq(inner.nmissed, wanted * times);
	check_eq(outer->nmissed, 0);
	c_other(1, 1);
	check_eq(counts.pre, 1);
	check_eq(inner.nmissed, wanted * times);
	unregister_kprobe(outer);
	unregister_kprobe(&inner);
}

TEST(row_152_a_probe_hit_in_a_pre_handler_is_not_handled)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = call_other };

	missed_inside(&kp, 1);
}

TEST(row_152_nor_one_hit_in_a_post_handler)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = call_other,
			     .post_handler = call_other_after };

	missed_inside(&kp, 2);
}

static int call_itself(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.entry);
	c_plain(1, 1);
	c_plain(1, 1);
	return 0;
}

TEST(row_153_a_handler_that_hits_its_own_probe)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = call_itself };
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();

	must(register_kprobe(&kp));
	in_threads(call_plain);
	check_eq(counts.entry, wanted);
	check_eq(kp.nmissed, 2 * wanted);
	unregister_kprobe(&kp);
}

TEST(row_153_every_probe_at_the_address_counts)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = call_other };
	struct kprobe a = probe_at(c_other), b = probe_at(c_other),
		      off = probe_at(c_other);

	off.flags = KPROBE_FLAG_DISABLED;
	must(register_kprobe(&kp));
	must(register_kprobe(&a));
	must(register_kprobe(&b));
	must(register_kprobe(&off));
	call_plain(0);
	check_eq(a.nmissed, ROUNDS);
	check_eq(b.nmissed, ROUNDS);
	check_eq(off.nmissed, 0);
	unregister_kprobe(&kp);
	unregister_kprobe(&a);
	unregister_kprobe(&b);
	unregister_kprobe(&off);
}

static int ret_call_other(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count(&counts.ret);
	c_other(1, 1);
	return 0;
}

TEST(row_153_probes_hit_in_the_handlers_of_return_probes)
{
	struct kretprobe rp = { .kp.addr = (void *)c_plain,
				.handler = ret_call_other,
				.entry_handler = ret_call_other };
	struct kprobe inner = probe_at(c_other);

	must(register_kretprobe(&rp));
	must(register_kprobe(&inner));
	call_plain(0);
	check_eq(counts.ret, 2 * ROUNDS);
	check_eq(counts.pre, 0);
	check_eq(inner.nmissed, 2 * ROUNDS);
	unregister_kretprobe(&rp);
	unregister_kprobe(&inner);
}

/* A call that is not tracked because of a handler is no want of instances. */
TEST(row_153_return_probes_hit_in_a_handler)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = call_other };
	struct kretprobe rp = retprobe_at(c_other);

	must(register_kprobe(&kp));
	must(register_kretprobe(&rp));
	call_plain(0);
	check_eq(counts.ret, 0);
	check_eq(rp.kp.nmissed, ROUNDS);
	check_eq(rp.nmissed, 0);
	c_other(1, 1);
	check_eq(counts.ret, 1);
	unregister_kprobe(&kp);
	unregister_kretprobe(&rp);
}

/* What handlers usually call, probed: the manual's own example. */
static int print_pre(struct kprobe *p, struct pt_regs *regs)
{
	void *volatile block = malloc(100);
	char text[64];

	snprintf(text, sizeof(text), "%d", 42);
	free(block);
	count(&counts.entry);
	return 0;
}

TEST(row_152_handlers_that_call_probed_library_functions)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = print_pre };
	struct kprobe inner[] = { { .symbol_name = "malloc" },
				  { .symbol_name = "free" },
				  { .symbol_name = "snprintf" } };
	unsigned int i;

	for (i = 0; i < COUNT(inner); i++)
		must(register_kprobe(&inner[i]));
	must(register_kprobe(&kp));
	call_plain(0);
	check_eq(counts.entry, ROUNDS);
	for (i = 0; i < COUNT(inner); i++) {
		check(inner[i].nmissed >= ROUNDS);
		unregister_kprobe(&inner[i]);
	}
	unregister_kprobe(&kp);
}

static int fault_call_other(struct kprobe *p, struct pt_regs *regs, int trapnr)
{
	c_other(1, 1);
	regs->ax = 41;
	regs->ip = (unsigned long)v_load_next;
	return 1;
}

TEST(row_153_probes_hit_in_a_fault_handler)
{
	struct kprobe kp = { .addr = v_load_at,
			     .fault_handler = fault_call_other };
	struct kprobe inner = probe_at(c_other);

	must(register_kprobe(&kp));
	must(register_kprobe(&inner));
	check_eq(v_load(0x10, 0), 42);
	check_eq(counts.pre, 0);
	check_eq(inner.nmissed, 1);
	unregister_kprobe(&kp);
	unregister_kprobe(&inner);
}

/* --- the library, called from handlers --- */

static struct kprobe other_kp;
static struct kretprobe other_rp;
static int rcs[6];

static int register_pre(struct kprobe *p, struct pt_regs *regs)
{
	struct kprobe *kps[1] = { &other_kp };

	count(&counts.entry);
	rcs[0] = register_kprobe(&other_kp);
	rcs[1] = register_kprobes(kps, 1);
	rcs[2] = register_kretprobe(&other_rp);
	return 0;
}

TEST(row_155_registering_in_a_handler_is_eagain)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = register_pre };
	int i;

	other_kp = probe_at(c_other);
	other_rp = retprobe_at(c_other);
	must(register_kprobe(&kp));
	for (i = 0; i < 10; i++)
		c_plain(1, 1);
	check_eq(counts.entry, 10);
	for (i = 0; i < 3; i++)
		check_eq(rcs[i], -EAGAIN);
	check_eq(list_length(), 1);
	c_other(1, 1);
	check_eq(counts.pre, 0);
	must(register_kprobe(&other_kp));
	c_other(1, 1);
	check_eq(counts.pre, 1);
	unregister_kprobe(&kp);
	unregister_kprobe(&other_kp);
}

static int unregister_itself(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	unregister_kprobe(p);
	return 0;
}

static void unregister_itself_after(struct kprobe *p, struct pt_regs *regs,
				    unsigned long flags)
{
	count(&counts.post);
	unregister_kprobe(p);
}

TEST(row_132_a_handler_may_unregister_its_own_probe)
{
	struct conform_text text = text_of(v_mov);
	struct kprobe kp = { .addr = v_mov_at,
			     .pre_handler = unregister_itself };
	int i;

	for (i = 0; i < 20; i++) {
		must(register_kprobe(&kp));
		check_eq(v_mov(0, 0), 7);
		check_eq(v_mov(0, 0), 7);
	}
	check_eq(counts.pre, 20);
	check_eq(list_length(), 0);
	check(text_same(&text));
	kp.pre_handler = NULL;
	kp.post_handler = unregister_itself_after;
	for (i = 0; i < 20; i++) {
		must(register_kprobe(&kp));
		check_eq(v_mov(0, 0), 7);
		check_eq(v_mov(0, 0), 7);
	}
	check_eq(counts.post, 20);
	check_eq(list_length(), 0);
	check(text_same(&text));
}

static int unregister_other(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.entry);
	unregister_kprobe(&other_kp);
	return 0;
}

TEST(row_132_a_handler_may_unregister_another_probe)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = unregister_other };

	other_kp = probe_at(c_other);
	must(register_kprobe(&kp));
	must(register_kprobe(&other_kp));
	c_other(1, 1);
	c_plain(1, 1);
	c_other(1, 1);
	check_eq(counts.pre, 1);
	check_eq(list_length(), 1);
	unregister_kprobe(&kp);
}

/* The library allocates, too, and a handler runs in the middle of its call. */
TEST(row_132_a_handler_hit_by_the_librarys_own_call_may_unregister)
{
	static const char *const names[] = { "malloc", "calloc", "realloc",
					     "free", "getpid" };
	struct kprobe kp[COUNT(names)], other = probe_at(c_plain);
	unsigned int i;
	int rc;

	for (i = 0; i < COUNT(names); i++) {
		kp[i] = (struct kprobe){ .symbol_name = names[i],
					 .pre_handler = unregister_itself };
		must(register_kprobe(&kp[i]));
		rc = register_kprobe(&other);
		check(rc == 0 || rc == -EAGAIN);
		unregister_kprobe(&other);
		other.addr = (void *)c_plain;
		unregister_kprobe(&kp[i]);
		check_eq(list_length(), 0);
	}
}

static int ask_library(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.entry);
	dp_kprobe_hits(p);
	get_kprobe(p->addr);
	dp_kprobes_enabled(-1);
	return 0;
}

TEST(row_132_a_handler_hit_by_the_librarys_own_call_may_ask)
{
	static const char *const names[] = { "malloc", "calloc", "realloc",
					     "free", "getpid" };
	struct kprobe kp[COUNT(names)], other = probe_at(c_plain);
	unsigned int i;

	for (i = 0; i < COUNT(names); i++) {
		kp[i] = (struct kprobe){ .symbol_name = names[i],
					 .pre_handler = ask_library };
		must(register_kprobe(&kp[i]));
		must(register_kprobe(&other));
		unregister_kprobe(&other);
		unregister_kprobe(&kp[i]);
	}
}

static int disable_itself(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.pre);
	rcs[0] = disable_kprobe(p);
	return 0;
}

TEST(row_139_a_handler_that_disables_its_probe)
{
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = disable_itself };
	int i;

	must(register_kprobe(&kp));
	for (i = 0; i < 10; i++)
		check_eq(c_plain(1, 1), 4);
	check(rcs[0] == 0 || rcs[0] == -EAGAIN);
	check_eq(counts.pre, rcs[0] ? 10 : 1);
	unregister_kprobe(&kp);
}

/* --- signals --- */

static unsigned long signals;

static void probed_handler(int sig)
{
	count(&signals);
	c_plain(1, 1);
}

static void catch (int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

static void raise_often(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		raise(SIGUSR1);
}

TEST(row_145_signal_handlers_can_be_probed)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = probe_at((void *)probed_handler),
		      inside = probe_at(c_plain);
	struct kretprobe rp = retprobe_at((void *)probed_handler);

	rp.maxactive = conform_threads();
	inside.post_handler = count_post;
	catch (SIGUSR1, probed_handler, 0);
	must(register_kprobe(&kp));
	must(register_kprobe(&inside));
	must(register_kretprobe(&rp));
	in_threads(raise_often);
	check_eq(signals, wanted);
	check_eq(counts.pre, 2 * wanted);
	check_eq(counts.post, wanted);
	check_eq(counts.ret, wanted);
	unregister_kprobe(&kp);
	unregister_kprobe(&inside);
	unregister_kretprobe(&rp);
}

static void on_alternate_stack(int index)
{
	static char stacks[64][65536];
	stack_t ss = { .ss_sp = stacks[index], .ss_size = sizeof(stacks[0]) };
	stack_t now;

	check(!sigaltstack(&ss, NULL));
	raise_often(index);
	check(!sigaltstack(NULL, &now));
	check(now.ss_sp == ss.ss_sp);
	check_eq(now.ss_size, ss.ss_size);
	check_eq(now.ss_flags, 0);
}

TEST(row_145_also_on_an_alternate_stack)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = probe_at((void *)probed_handler),
		      inside = probe_at(c_plain);

	inside.post_handler = count_post;
	catch (SIGUSR1, probed_handler, SA_ONSTACK);
	must(register_kprobe(&kp));
	must(register_kprobe(&inside));
	in_threads(on_alternate_stack);
	check_eq(counts.pre, 2 * wanted);
	check_eq(counts.post, wanted);
	unregister_kprobe(&kp);
	unregister_kprobe(&inside);
}

/* A thread that has an alternate stack and is not on it: the frame of the trap
 * is there, and a nested trap must not be put over it. */
static void own_alternate_stack(int index)
{
	static char stacks[64][65536];
	stack_t ss = { .ss_sp = stacks[index], .ss_size = sizeof(stacks[0]) };

	check(!sigaltstack(&ss, NULL));
	call_plain(index);
}

TEST(row_153_nested_hits_of_a_thread_with_an_alternate_stack)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = call_other,
			     .post_handler = call_other_after };
	struct kprobe inner = probe_at(c_other);

	inner.post_handler = count_post;
	must(register_kprobe(&kp));
	must(register_kprobe(&inner));
	in_threads(own_alternate_stack);
	check_eq(counts.entry, 2 * wanted);
	check_eq(inner.nmissed, 2 * wanted);
	check_eq(counts.pre, 0);
	unregister_kprobe(&kp);
	unregister_kprobe(&inner);
}

/* The stack comes after the thread's first hit. */
static void later_alternate_stack(int index)
{
	call_plain(index);
	own_alternate_stack(index);
	raise_often(index);
}

TEST(row_153_an_alternate_stack_that_comes_later)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = { .addr = (void *)c_plain,
			     .pre_handler = call_other,
			     .post_handler = call_other_after };
	struct kprobe inner = probe_at(c_other);

	inner.post_handler = count_post;
	catch (SIGUSR1, probed_handler, SA_ONSTACK);
	must(register_kprobe(&kp));
	must(register_kprobe(&inner));
	in_threads(later_alternate_stack);
	check_eq(counts.entry, 6 * wanted);
	check_eq(inner.nmissed, 6 * wanted);
	unregister_kprobe(&kp);
	unregister_kprobe(&inner);
}

/* A signal while a handler runs: it is handled there, and what it hits is
 * missed; or behind the probe, and what it hits is handled. */
static int raising_pre(struct kprobe *p, struct pt_regs *regs)
{
	count(&counts.entry);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	return 0;
}

static void call_other_often(int index)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		check_eq(c_other(i, 1), 5 * i + 1);
}

TEST(row_153_a_signal_that_interrupts_a_handler)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = { .addr = (void *)c_other,
			     .pre_handler = raising_pre };
	struct kprobe inside = probe_at(c_plain);

	catch (SIGUSR1, probed_handler, 0);
	must(register_kprobe(&kp));
	must(register_kprobe(&inside));
	in_threads(call_other_often);
	check_eq(counts.entry, wanted);
	check_eq(signals, wanted);
	check_eq(counts.pre + inside.nmissed, wanted);
	check_eq(kp.nmissed, 0);
	unregister_kprobe(&kp);
	unregister_kprobe(&inside);
}

static __thread sigjmp_buf out;

static void jumping_handler(int sig)
{
	count(&signals);
	c_plain(1, 1);
	siglongjmp(out, 1);
}

static void jump_often(int index)
{
	volatile int i;

	for (i = 0; i < ROUNDS; i++)
		if (!sigsetjmp(out, 1))
			c_other(i, 1);
	for (i = 0; i < ROUNDS; i++)
		c_third(i, 1);
}

static void jumps_out(int flags)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = { .addr = (void *)c_other,
			     .pre_handler = raising_pre };
	struct kprobe inside = probe_at(c_plain),
		      third = { .addr = (void *)c_third };

	catch (SIGUSR1, jumping_handler, flags);
	must(register_kprobe(&kp));
	must(register_kprobe(&inside));
	must(register_kprobe(&third));
	in_threads(jump_often);
	check_eq(signals, wanted);
	check_eq(counts.entry, wanted);
	check_eq(counts.pre + inside.nmissed, wanted);
	/* No thread is unprobed. */
	check_eq(dp_kprobe_hits(&third), wanted);
	check_eq(third.nmissed, 0);
	unregister_kprobe(&kp);
	unregister_kprobe(&inside);
	unregister_kprobe(&third);
}

TEST(row_153_siglongjmp_out_of_a_handler_leaves_no_thread_unprobed)
{
	jumps_out(0);
}

static void jump_on_alternate(int index)
{
	static char stacks[64][65536];
	stack_t ss = { .ss_sp = stacks[index], .ss_size = sizeof(stacks[0]) };
	stack_t now;

	check(!sigaltstack(&ss, NULL));
	jump_often(index);
	check(!sigaltstack(NULL, &now));
	check(now.ss_sp == ss.ss_sp);
	check_eq(now.ss_flags & SS_DISABLE, 0);
}

TEST(row_153_siglongjmp_from_the_alternate_stack)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = { .addr = (void *)c_other,
			     .pre_handler = raising_pre };
	struct kprobe third = { .addr = (void *)c_third };

	catch (SIGUSR1, jumping_handler, SA_ONSTACK);
	must(register_kprobe(&kp));
	must(register_kprobe(&third));
	in_threads(jump_on_alternate);
	check_eq(signals, wanted);
	check_eq(dp_kprobe_hits(&third), wanted);
	check_eq(third.nmissed, 0);
	unregister_kprobe(&kp);
	unregister_kprobe(&third);
}

/* A handler on the alternate stack hits a probe, whose handler is interrupted
 * by a signal that is left by siglongjmp: the alternate stack is there again. */
static void outer_handler(int sig)
{
	c_other(1, 1);
}

static void nest_on_alternate(int index)
{
	static char stacks[64][65536];
	stack_t ss = { .ss_sp = stacks[index], .ss_size = sizeof(stacks[0]) };
	stack_t now;
	volatile int i;

	check(!sigaltstack(&ss, NULL));
	for (i = 0; i < ROUNDS; i++)
		if (!sigsetjmp(out, 1))
			raise(SIGUSR2);
	for (i = 0; i < ROUNDS; i++)
		c_third(i, 1);
	check(!sigaltstack(NULL, &now));
	check(now.ss_sp == ss.ss_sp);
	check_eq(now.ss_flags & SS_DISABLE, 0);
}

TEST(row_153_siglongjmp_leaves_the_alternate_stack_in_force)
{
	unsigned long wanted = (unsigned long)ROUNDS * conform_threads();
	struct kprobe kp = { .addr = (void *)c_other,
			     .pre_handler = raising_pre };
	struct kprobe third = { .addr = (void *)c_third };

	catch (SIGUSR1, jumping_handler, 0);
	catch (SIGUSR2, outer_handler, SA_ONSTACK);
	must(register_kprobe(&kp));
	must(register_kprobe(&third));
	in_threads(nest_on_alternate);
	check_eq(dp_kprobe_hits(&third), wanted);
	unregister_kprobe(&kp);
	unregister_kprobe(&third);
}

/* --- a timer that interrupts wherever it likes --- */

static void tick_handler(int sig)
{
	c_plain(1, 1);
	count(&signals);
}

static void work_under_timer(int index)
{
	long i;

	for (i = 0; i < 20000; i++) {
		check_eq(c_other(i, 1), 5 * i + 1);
		check_eq(v_chain(i, 0), i + 6);
		check_eq(c_recurse(3), 6);
	}
}

TEST(row_145_a_timer_that_interrupts_probed_code_anywhere)
{
	struct itimerspec often = { .it_interval = { 0, 100000 },
				    .it_value = { 0, 100000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR1 };
	struct kprobe kp[] = { probe_at(c_plain), probe_at(c_other),
			       probe_at(v_chain_1) };
	struct kretprobe rp = retprobe_at(c_recurse);
	unsigned long wanted = 20000ul * conform_threads();
	timer_t timer;
	unsigned int i;

	rp.maxactive = 4 * 64;
	kp[1].post_handler = count_post;
	catch (SIGUSR1, tick_handler, SA_RESTART);
	for (i = 0; i < COUNT(kp); i++)
		must(register_kprobe(&kp[i]));
	must(register_kretprobe(&rp));
	check(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	check(!timer_settime(timer, 0, &often, NULL));
	in_threads(work_under_timer);
	timer_delete(timer);
	check_eq(dp_kprobe_hits(&kp[1]) + kp[1].nmissed, wanted);
	check_eq(dp_kprobe_hits(&kp[2]) + kp[2].nmissed, wanted);
	check_eq(dp_kprobe_hits(&kp[0]) + kp[0].nmissed, signals);
	check_eq(counts.ret + rp.nmissed + rp.kp.nmissed, 4 * wanted);
	for (i = 0; i < COUNT(kp); i++)
		unregister_kprobe(&kp[i]);
	unregister_kretprobe(&rp);
}

/* --- a program that handles SIGTRAP itself --- */

static void own_trap(int sig)
{
	count(&signals);
}

TEST(row_011_a_programs_own_breakpoints_stay_its_own)
{
	struct kprobe kp = probe_at(c_plain);
	struct sigaction sa;

	catch (SIGTRAP, own_trap, 0);
	kp.post_handler = count_post;
	must(register_kprobe(&kp));
	c_plain(1, 1);
	__asm__ volatile("int3");
	raise(SIGTRAP);
	c_plain(1, 1);
	check_eq(signals, 2);
	check_eq(counts.pre, 2);
	check(!sigaction(SIGTRAP, NULL, &sa));
	check(sa.sa_handler == own_trap);
	catch (SIGTRAP, SIG_IGN, 0);
	raise(SIGTRAP);
	c_plain(1, 1);
	check_eq(counts.pre, 3);
	check_eq(counts.post, 3);
	catch (SIGTRAP, own_trap, 0);
	unregister_kprobe(&kp);
	__asm__ volatile("int3");
	check_eq(signals, 3);
}
