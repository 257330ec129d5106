// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * quick_test: one handler at a site is called at once, and several by the hit half: what they may do is the same.
 *
 * Each case is tried by both ways: @beside is a second probe at the site, so that the first is not alone.
 */
#include <dprobes/kprobes.h>
#include "engine/insn/insn.h"
#include "engine/vm/ops.h"
#include "kmod/session.h"
#include "tests/kernel/test.h"
#include "tests/kernel/victim.h"
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define CALLS 2000
/* What dptest_words() returns: a word of its stack, and what its three instructions add */
#define WORDS(word, count) (16ul * (word) + (count))

static unsigned long (*volatile call_gcd)(unsigned long, unsigned long) = gcd;

static struct {
	unsigned long before, beside, wrong;
} seen;

static const char *how;

static const char *name_of(enum dp_kmod_arming arming)
{
	return arming == DP_KMOD_TRAP ? "trap" :
	       arming == DP_KMOD_JUMP ? "jump" :
					"interior";
}

/* The first of the three instructions, which are of four bytes each: found before probes are there */
static u8 *first;

static void find_words(void)
{
	static const u8 code[] = { 0x48, 0x8d, 0x40, 0x01 };

	for (first = (u8 *)dptest_words; memcmp(first, code, sizeof(code));)
		first++;
}

static u8 *words_at(unsigned int n)
{
	return first + 4 * n;
}

static int count(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	return 0;
}

static int count_beside(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.beside++;
	return 0;
}

/* What is on top of the stack is left there. */
static int drop_word(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	seen.wrong += *(unsigned long *)regs->sp != 1;
	regs->sp += sizeof(long);
	return 0;
}

/* There is room for it below the stack pointer, in every mode. */
static int push_word(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	regs->sp -= sizeof(long);
	*(unsigned long *)regs->sp = 9;
	return 0;
}

static int drop_and_skip(struct dp_kprobe *p, struct pt_regs *regs)
{
	drop_word(p, regs);
	regs->ip = (unsigned long)words_at(3);
	return 1;
}

/* The next instruction is one that a jump displaces, too. */
static int skip_one(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	regs->ip = (unsigned long)words_at(1);
	return 1;
}

/* Return: what the function does with a probe that calls @handler at its n-th instruction */
static unsigned long words(unsigned int n, dp_kprobe_pre_handler_t handler,
			   bool beside, bool neighbour)
{
	struct dp_kprobe p = { .addr = words_at(n), .pre_handler = handler },
			 q = { .addr = words_at(neighbour ? n - 1 : n),
			       .pre_handler = count_beside };
	struct dp_kprobe *list[] = { &q, &p };
	unsigned int nr = beside || neighbour ? 2 : 1;
	unsigned long is;
	int err;

	memset(&seen, 0, sizeof(seen));
	err = dp_register_kprobes(&list[2 - nr], nr);
	is = dptest_words();
	if (err) {
		note("%s: not registered: %d\n", how, err);
		return 0;
	}
	dp_unregister_kprobes(&list[2 - nr], nr);
	return is;
}

static void stack_pointers(void)
{
	unsigned long one = words(1, drop_word, false, false), two, inner;
	bool good = seen.before == 1 && !seen.wrong;

	two = words(1, drop_word, true, false);
	good &= seen.before == 1 && seen.beside == 1 && !seen.wrong;
	check(good && one == WORDS(2, 7) && two == one,
	      "%s: a handler moves the stack pointer (%lx, %lx)\n", how, one,
	      two);
	inner = words(1, drop_word, false, true);
	check(inner == one && seen.before == 1 && seen.beside == 1 &&
		      !seen.wrong,
	      "%s: behind another probe, too (%lx)\n", how, inner);
	one = words(1, push_word, false, false);
	good = seen.before == 1;
	two = words(1, push_word, true, false);
	check(good && seen.before == 1 && one == WORDS(9, 7) && two == one,
	      "%s: and puts a word on the stack (%lx, %lx)\n", how, one, two);
	one = words(0, drop_and_skip, false, false);
	good = seen.before == 1;
	two = words(0, drop_and_skip, true, false);
	check(good && seen.before == 1 && one == WORDS(2, 0) && two == one,
	      "%s: and says where the code goes on (%lx, %lx)\n", how, one,
	      two);
}

static void skips(void)
{
	unsigned long one = words(0, skip_one, false, false), two;
	bool good = seen.before == 1;

	two = words(0, skip_one, true, false);
	check(good && seen.before == 1 && one == WORDS(1, 6) && two == one,
	      "%s: an instruction is skipped (%lx, %lx)\n", how, one, two);
}

static unsigned long trace[32], caller_of_words;
static unsigned int nr_trace;

static int save_trace(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	seen.wrong += regs->orig_ax != -1ul || regs->cs != __KERNEL_CS ||
		      regs->ss != __KERNEL_DS;
	caller_of_words = *(unsigned long *)regs->sp;
	nr_trace = stack_trace_save(trace, ARRAY_SIZE(trace), 0);
	return 0;
}

/* The first instruction is of one byte: behind it the stack is another.
 * Return: whether a trace that the handler takes has the function's caller */
static bool has_trace(bool beside)
{
	struct dp_kprobe p = { .addr = (u8 *)dptest_words,
			       .pre_handler = save_trace },
			 q = { .addr = (u8 *)dptest_words,
			       .pre_handler = count_beside };
	struct dp_kprobe *list[] = { &p, &q };
	unsigned int i;
	int err = dp_register_kprobes(list, 1 + beside);

	memset(&seen, 0, sizeof(seen));
	nr_trace = 0;
	seen.wrong += err || dptest_words() != WORDS(1, 7);
	dp_unregister_kprobes(list, 1 + beside);
	for (i = 0; i < nr_trace && trace[i] != caller_of_words; i++)
		continue;
	return i < nr_trace && seen.before == 1 && seen.beside == beside &&
	       !seen.wrong;
}

static void traces(void)
{
	bool good = has_trace(false) && has_trace(true);

	check(good, "%s: a handler traces the stack (%u, %lu wrong)\n", how,
	      nr_trace, seen.wrong);
}

/* The handler is in what the hit half itself calls for a program that reads memory. */
static struct task_struct *caller;

static int count_own(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before += current == caller;
	return 0;
}

/* Counts, and reads memory. */
static int bind_reader(u32 *probe, u32 *program)
{
	/* Nothing is at 0xfffffffffffff000, which could be the kernel's. */
	static const u8 code[] = { DP_OPCODE_INC_LV_I,
				   0,
				   0,
				   DP_OPCODE_PUSH,
				   0,
				   0xf0,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   0xff,
				   DP_OPCODE_PUSH_MEM_U64,
				   DP_OPCODE_LOG_I,
				   1,
				   0,
				   DP_OPCODE_EXIT };
	static const u32 start;
	const struct dp_program_spec spec = { .name = "reader",
					      .code = code,
					      .code_len = sizeof(code),
					      .starts = &start,
					      .nr_starts = 1,
					      .nr_lv = 1,
					      .jmpmax = 10,
					      .logmax = 64,
					      .stack = 32 };
	struct dp_binding binding = { .maxhits = ~0u };
	const char *why = NULL;
	u32 offset;
	int err = dp_kmod_add_program(&spec, program, &offset, &why);

	err = err ?: dp_kmod_add((u64)gcd, probe, &why);
	binding.program = *program;
	if (!err)
		dp_kmod_bind(*probe, &binding);
	return err;
}

static void within_hits(enum dp_kmod_arming arming)
{
	struct dp_kprobe p = { .symbol_name = "copy_from_kernel_nofault",
			       .pre_handler = count_own };
	unsigned long word = 5, to, i, direct;
	u64 bad, hits, missed;
	u32 probe = 0, program;
	int err = dp_kmod_begin(arming);

	memset(&seen, 0, sizeof(seen));
	caller = current;
	err = err ?: bind_reader(&probe, &program);
	err = err ?: dp_register_kprobe(&p);
	err = err ?: dp_kmod_commit(&bad);
	seen.before = 0;
	for (i = 0; i < CALLS; i++)
		seen.wrong += call_gcd(12, 18) != 6;
	hits = dp_kmod_hits(probe);
	missed = dp_kmod_missed();
	direct = seen.before;
	copy_from_kernel_nofault(&to, &word, sizeof(to));
	check(!err && !seen.wrong && hits == CALLS && !direct &&
		      seen.before == 1 && missed >= CALLS,
	      "%s: in what a hit calls, no handler runs (%d, %llu: %lu, %llu missed)\n",
	      how, err, hits, direct, missed);
	dp_unregister_kprobe(&p);
	check(!dp_kmod_end(), "%s: and it goes\n", how);
}

/* A handler hits a function with a session's program, which runs. */
static int call_function(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	seen.wrong += call_gcd(12, 18) != 6;
	return 0;
}

static void within_handlers(enum dp_kmod_arming arming, bool beside)
{
	struct dp_kprobe p = { .addr = words_at(1),
			       .pre_handler = call_function },
			 q = { .addr = words_at(1),
			       .pre_handler = count_beside },
			 late = { .symbol_name = "gcd", .pre_handler = count };
	u32 probe = 0, program = 0, i;
	u64 bad, hits, ran;
	int err = dp_kmod_begin(arming);

	memset(&seen, 0, sizeof(seen));
	err = err ?: bind_reader(&probe, &program);
	err = err ?: dp_register_kprobe(&p);
	if (beside)
		err = err ?: dp_register_kprobe(&q);
	err = err ?: dp_kmod_commit(&bad);
	for (i = 0; i < CALLS; i++)
		seen.wrong += dptest_words() != WORDS(1, 7);
	hits = dp_kmod_hits(probe);
	ran = dp_kmod_local(program, 0);
	check(!err && !seen.wrong && seen.before == CALLS && hits == CALLS &&
		      ran == CALLS,
	      "%s: what a handler hits runs programs (%d, %llu of %lu, %llu)\n",
	      how, err, hits, seen.before, ran);
	err = dp_register_kprobe(&late);
	seen.before = 0;
	dptest_words();
	check(!err && seen.before == 1 && late.nmissed == 1 &&
		      dp_kmod_hits(probe) == CALLS + 1,
	      "%s: but no other handler (%d, %lu, %lu)\n", how, err,
	      seen.before, late.nmissed);
	dp_unregister_kprobe(&late);
	if (beside)
		dp_unregister_kprobe(&q);
	dp_unregister_kprobe(&p);
	check(!dp_kmod_end(), "%s: and it goes\n", how);
}

/* Disabled while it is hit on both CPUs */
static bool enabled;
static atomic_t late_calls, calls;

static int count_late(struct dp_kprobe *p, struct pt_regs *regs)
{
	atomic_inc(READ_ONCE(enabled) ? &calls : &late_calls);
	return 0;
}

static int work(void *unused)
{
	unsigned long wrong = 0;

	while (!kthread_should_stop()) {
		wrong += dptest_words() != WORDS(1, 7);
		cond_resched_tasks_rcu_qs();
	}
	return wrong != 0;
}

static struct task_struct *start(int cpu)
{
	struct task_struct *task = kthread_create(work, NULL, "dptest/%d", cpu);

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, cpu);
	wake_up_process(task);
	return task;
}

static void turns(bool beside)
{
	struct dp_kprobe p = { .addr = words_at(1), .pre_handler = count_late },
			 q = { .addr = words_at(1),
			       .pre_handler = count_beside };
	struct task_struct *tasks[2] = { start(0), start(1) };
	int err, i;

	atomic_set(&calls, 0);
	atomic_set(&late_calls, 0);
	WRITE_ONCE(enabled, true);
	err = beside ? dp_register_kprobe(&q) : 0;
	err = err ?: dp_register_kprobe(&p);
	for (i = 0; i < 12 && !err; i++) {
		schedule_timeout_interruptible(1 + i % 3);
		err = dp_disable_kprobe(&p);
		WRITE_ONCE(enabled, false);
		schedule_timeout_interruptible(1);
		WRITE_ONCE(enabled, true);
		err = err ?: dp_enable_kprobe(&p);
	}
	dp_unregister_kprobe(&p);
	if (beside)
		dp_unregister_kprobe(&q);
	for (i = 0; i < 2; i++)
		err = err ?: !tasks[i] || kthread_stop(tasks[i]);
	check(!err && atomic_read(&calls) > 100 && !atomic_read(&late_calls),
	      "%s: a probe is disabled while it is hit (%d, %d, %d late)\n",
	      how, err, atomic_read(&calls), atomic_read(&late_calls));
}

static void try(enum dp_kmod_arming arming)
{
	u8 was[64];
	int err;

	how = name_of(arming);
	memcpy(was, dptest_words, sizeof(was));
	err = dp_kmod_begin(arming);
	check(!err && dptest_words() == WORDS(1, 7), "%s: it begins (%d)\n",
	      how, err);
	stack_pointers();
	skips();
	traces();
	turns(false);
	turns(true);
	err = dp_kmod_end();
	check(!err, "%s: it ends (%d)\n", how, err);
	within_hits(arming);
	within_handlers(arming, false);
	within_handlers(arming, true);
	check(!memcmp(was, dptest_words, sizeof(was)),
	      "%s: the text is what it was\n", how);
}

static u64 inner_at(const u8 *code, size_t len)
{
	const u8 *at = (u8 *)dptest_inner;

	while (memcmp(at, code, len))
		at++;
	return (u64)at;
}

static bool inner_calls(u64 at)
{
	unsigned int (*volatile function)(unsigned int) = (void *)at;
	bool right = true;
	u32 i;

	for (i = 0; i < CALLS; i++)
		right &= function(i) == i + 1;
	return right;
}

static bool inner_is(const u32 *probe, u64 first, u64 second, u64 arrivals)
{
	bool is = dp_kmod_hits(probe[0]) == first * CALLS &&
		  dp_kmod_hits(probe[1]) == second * CALLS &&
		  dp_kmod_arrivals() == arrivals * CALLS;

	if (!is)
		note("%llu and %llu hits, %llu in the middle\n",
		     dp_kmod_hits(probe[0]), dp_kmod_hits(probe[1]),
		     dp_kmod_arrivals());
	return is;
}

/* The breakpoint of the second instruction is a byte of the first one's jump, whether the second has a probe that is
 * on, or off: who comes there from elsewhere has come to the middle of the jump. */
static void inner(void)
{
	const u64 at[] = { inner_at((u8[]){ 0x31, 0xc0 }, 2),
			   inner_at((u8[]){ 0x8d, 0x47, 0x01 }, 3) };
	u32 probe[2];
	bool right;
	u64 bad;
	int err = dp_kmod_begin(DP_KMOD_INTERIOR);

	err = err ?: dp_kmod_add(at[0], &probe[0], NULL);
	err = err ?: dp_kmod_add(at[1], &probe[1], NULL);
	err = err ?: dp_kmod_commit(&bad);
	check(!err && !strcmp(dp_kmod_mode(probe[0]), "jump"),
	      "a jump has a breakpoint inside (%d, %s)\n", err,
	      dp_kmod_reason(probe[0]));
	right = inner_calls(at[1]) && inner_is(probe, 0, 1, 1);
	right = right && inner_calls(at[0]) && inner_is(probe, 1, 2, 1);
	check(right, "what comes there is counted, and told\n");
	dp_kmod_turn(probe[1], false);
	err = dp_kmod_commit(&bad);
	right = !err && inner_calls(at[1]) && inner_is(probe, 1, 2, 2);
	check(right, "also where a probe is off\n");
	check(!dp_kmod_end(), "and it goes\n");
}

static int __init begin(void)
{
	find_words();
	try(DP_KMOD_TRAP);
	try(DP_KMOD_JUMP);
	try(DP_KMOD_INTERIOR);
	inner();
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests handlers that are called at once");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
