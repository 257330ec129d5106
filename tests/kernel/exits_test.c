// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exits_test: return probes, as another module has them. */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "port/kernel/compat.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#define CALLS 5000
#define DEPTH 9

static unsigned long (*volatile call_gcd)(unsigned long, unsigned long) = gcd;

struct mine {
	unsigned long a, sum;
};

/* @alone: there is no other return probe, whose trampoline would be what a function returns to */
static struct {
	unsigned long entered, returned, wrong;
	bool alone;
} seen;

static int enter(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	struct mine *mine = (void *)ri->data;

	mine->a = regs->di;
	mine->sum = regs->di + regs->si;
	seen.entered++;
	seen.wrong += preemptible() || ri->task != current ||
		      (seen.alone && *(unsigned long *)regs->sp !=
					     dp_get_kretprobe_retaddr(ri));
	return 0;
}

static bool is_of_this_module(unsigned long addr)
{
	return within_module(addr, THIS_MODULE);
}

static int leave(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct mine *mine = (void *)ri->data;
	unsigned long back = dp_get_kretprobe_retaddr(ri);

	seen.returned++;
	seen.wrong += preemptible() || user_mode(regs) || ri->task != current ||
		      regs->ip != back ||
		      (seen.alone && !is_of_this_module(back)) ||
		      mine->a != 12 || mine->sum != 30 ||
		      dp_get_kretprobe_retval(regs) != 6;
	return 0;
}

static int change(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	regs->ax = 99;
	return 0;
}

static int refuse(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.entered++;
	return 1;
}

static unsigned long theirs;

static int leave_theirs(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	theirs += regs_return_value(regs) == 6;
	return 0;
}

/* As the kernel's own, which is on the same function or not */
static void values(const char *how, bool beside)
{
	struct dp_kretprobe a = { .kp.symbol_name = "gcd",
				  .entry_handler = enter,
				  .handler = leave,
				  .data_size = sizeof(struct mine) },
			    b = a;
	struct kretprobe other = { .kp.symbol_name = "gcd",
				   .handler = leave_theirs,
				   .maxactive = 20 };
	unsigned int i, wrong = 0;
	int err;

	memset(&seen, 0, sizeof(seen));
	theirs = 0;
	seen.alone = !beside;
	err = beside ? register_kretprobe(&other) : 0;
	err = err ?: dp_register_kretprobe(&a);
	note("%s: by %s\n", how,
	     dp_kprobe_optimized(&a.kp) ? "jump" : "breakpoint");
	for (i = 0; i < CALLS; i++)
		wrong += call_gcd(12, 18) != 6;
	check(!err && seen.entered == CALLS && seen.returned == CALLS &&
		      !seen.wrong && !wrong && !a.nmissed && !a.kp.nmissed &&
		      theirs == (beside ? CALLS : 0),
	      "%s: each return is seen, with what its entry has left (%d, %lu %lu, %lu, %lu wrong)\n",
	      how, err, seen.entered, seen.returned, theirs, seen.wrong);
	/* The second one finds the first one's stub. */
	seen.alone = false;
	b.entry_handler = NULL;
	b.handler = change;
	err = dp_register_kretprobe(&b);
	wrong = call_gcd(12, 18) != 99;
	dp_unregister_kretprobe(&b);
	wrong += call_gcd(12, 18) != 6;
	check(!err && !wrong && !seen.wrong,
	      "%s: another one changes what is returned (%d, %u)\n", how, err,
	      wrong);
	dp_unregister_kretprobe(&a);
	a.kp.addr = NULL;
	a.entry_handler = refuse;
	seen.entered = seen.returned = 0;
	err = dp_register_kretprobe(&a);
	wrong = call_gcd(12, 18) != 6;
	dp_unregister_kretprobe(&a);
	if (beside)
		unregister_kretprobe(&other);
	check(!err && !wrong && seen.entered == 1 && !seen.returned,
	      "%s: an entry handler refuses a call (%d)\n", how, err);
}

static void errors(void)
{
	struct dp_kretprobe none = { .kp.symbol_name = "gcd" },
			    inner = { .kp.symbol_name = "gcd",
				      .kp.offset = 6,
				      .handler = leave },
			    never = { .kp.symbol_name = "__switch_to",
				      .handler = leave },
			    many = { .kp.symbol_name = "gcd",
				     .handler = leave,
				     .maxactive = 8193 },
			    good = { .kp.symbol_name = "gcd",
				     .handler = change },
			    unknown = { .kp.symbol_name = "dptest_nowhere",
					.handler = leave };
	struct dp_kretprobe *list[] = { &good, &unknown },
			    *twice[] = { &good, &good };
	u8 was[16];

	memcpy(was, gcd, 16);
	check(dp_register_kretprobe(NULL) == -EINVAL &&
		      dp_register_kretprobe(&none) == -EINVAL &&
		      dp_register_kretprobe(&inner) == -EINVAL &&
		      dp_register_kretprobe(&never) == -EINVAL &&
		      dp_register_kretprobe(&many) == -ENOMEM &&
		      dp_register_kretprobe(&unknown) == -ENOENT,
	      "what makes no sense is not registered\n");
	check(dp_register_kretprobes(list, 2) == -ENOENT &&
		      dp_register_kretprobes(twice, 2) == -EINVAL &&
		      !memcmp(was, gcd, 16) && call_gcd(12, 18) == 6,
	      "of several all are, or none\n");
	check(!dp_register_kretprobe(&good) &&
		      dp_register_kretprobe(&good) == -EINVAL &&
		      call_gcd(12, 18) == 99 && !dp_disable_kretprobe(&good) &&
		      call_gcd(12, 18) == 6 && !dp_enable_kretprobe(&good) &&
		      call_gcd(12, 18) == 99,
	      "one is registered once, disabled and enabled\n");
	dp_unregister_kretprobe(&good);
	dp_unregister_kretprobe(&good);
	check(call_gcd(12, 18) == 6 && !memcmp(was, gcd, 16),
	      "and unregistered\n");
}

/* Deeper than there are instances */
static noinline unsigned long dptest_sum(unsigned long n)
{
	unsigned long (*volatile sum)(unsigned long) = dptest_sum;

	return n ? n + sum(n - 1) : 0;
}

static int leave_sum(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long n = *(unsigned long *)ri->data;

	seen.returned++;
	seen.wrong += regs_return_value(regs) != n * (n + 1) / 2;
	return 0;
}

static int enter_sum(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->di;
	return 0;
}

static void recursion(void)
{
	struct dp_kretprobe p = { .kp.addr = (u8 *)dptest_sum,
				  .entry_handler = enter_sum,
				  .handler = leave_sum,
				  .data_size = sizeof(long),
				  .maxactive = DEPTH - 3 };
	unsigned int i, wrong = 0;
	int err;

	memset(&seen, 0, sizeof(seen));
	err = dp_register_kretprobe(&p);
	for (i = 0; i < 100; i++)
		wrong += dptest_sum(DEPTH - 1) != DEPTH * (DEPTH - 1) / 2;
	dp_unregister_kretprobe(&p);
	check(!err && !wrong && !seen.wrong &&
		      seen.returned == 100 * (DEPTH - 3) && p.nmissed == 300,
	      "a function calls itself (%d, %lu, %d missed, %lu wrong)\n", err,
	      seen.returned, p.nmissed, seen.wrong);
}

/* Stack traces: of handlers, and inside */
static char *told;

static bool has_caller(void)
{
	unsigned long entries[32];
	char symbol[KSYM_SYMBOL_LEN];
	unsigned int n = stack_trace_save(entries, ARRAY_SIZE(entries), 0), i;

	for (i = 0; i < n; i++) {
		sprint_symbol(symbol, entries[i]);
		if (strstarts(symbol, "dptest_caller+"))
			return true;
	}
	/* The function itself is cut: see struct dp_kretprobe. */
	for (i = 0; i < n && strcmp(told, "inside"); i++)
		note("%s: %pS\n", told, (void *)entries[i]);
	return false;
}

static bool in_entry, in_return, inside;

static int trace_entry(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	told = "entry";
	in_entry = has_caller();
	return 0;
}

static int trace_return(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	told = "return";
	in_return = has_caller();
	return 0;
}

static noinline __noclone unsigned long dptest_traced(unsigned long a)
{
	told = "inside";
	inside = has_caller();
	barrier();
	return a + 1;
}

static noinline __noclone unsigned long dptest_caller(unsigned long a)
{
	unsigned long b = dptest_traced(a);

	barrier();
	return b * 2;
}

static void traces(enum dp_kmod_arming arming)
{
	struct dp_kretprobe p = { .kp.addr = (u8 *)dptest_traced,
				  .entry_handler = trace_entry,
				  .handler = trace_return };
	bool before;
	int err, wrong;

	dptest_caller(1);
	before = inside;
	in_entry = in_return = false;
	/* Whose engine the probe has */
	err = dp_kmod_begin(arming);
	err = err ?: dp_register_kretprobe(&p);
	wrong = dptest_caller(1) != 4;
	note("traces by %s; inside %s\n",
	     dp_kprobe_optimized(&p.kp) ? "jump" : "breakpoint",
	     inside ? "whole" : "cut");
	err = err ?: dp_kmod_end();
	dp_unregister_kretprobe(&p);
	check(!err && !wrong && before && in_entry && in_return,
	      "stack traces of handlers have the caller (%d, %d %d %d)\n", err,
	      before, in_entry, in_return);
}

/* It sleeps, and wakes up on the other CPU, and when its probe has gone. */
static volatile bool asleep, wakes;

static noinline unsigned long dptest_sleeps(unsigned long a)
{
	set_cpus_allowed_ptr(current, cpumask_of(1));
	asleep = true;
	while (!wakes)
		schedule_timeout_interruptible(1);
	return a + 1;
}

static int sleep_inside(void *unused)
{
	unsigned long (*volatile sleeps)(unsigned long) = dptest_sleeps;
	unsigned long is = sleeps(41);

	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return is != 42;
}

static int leave_sleep(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.returned++;
	seen.wrong += raw_smp_processor_id() != 1 ||
		      regs_return_value(regs) != 42;
	return 0;
}

static struct task_struct *start(int (*function)(void *), long cpu)
{
	struct task_struct *task =
		kthread_create(function, (void *)cpu, "dptest/%ld", cpu);

	if (IS_ERR(task))
		return NULL;
	set_cpus_allowed_ptr(task, cpumask_of(cpu));
	wake_up_process(task);
	return task;
}

static void sleepers(bool unregister)
{
	struct dp_kretprobe *p = kzalloc(sizeof(*p), GFP_KERNEL);
	struct task_struct *task;
	int err;

	memset(&seen, 0, sizeof(seen));
	asleep = wakes = false;
	p->kp.addr = (u8 *)dptest_sleeps;
	p->handler = leave_sleep;
	err = dp_register_kretprobe(p);
	task = start(sleep_inside, 0);
	while (task && !asleep)
		schedule_timeout_interruptible(1);
	if (unregister) {
		dp_unregister_kretprobe(p);
		memset(p, 0xff, sizeof(*p));
		kfree(p);
	}
	wakes = true;
	err |= task ? kthread_stop(task) : -ENOMEM;
	if (!unregister) {
		dp_unregister_kretprobe(p);
		kfree(p);
	}
	check(!err && seen.returned == !unregister && !seen.wrong,
	      "a sleeper returns %s (%d, %lu, %lu)\n",
	      unregister ? "when its probe has gone" : "on another CPU", err,
	      seen.returned, seen.wrong);
}

/* On both CPUs, while probes come and go */
static unsigned long calls[2];
static atomic_long_t returns;

static int count_return(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	if (regs_return_value(regs) == 6)
		atomic_long_inc(&returns);
	return 0;
}

static int call_on(void *cpu)
{
	unsigned long wrong = 0;

	while (!kthread_should_stop()) {
		wrong += call_gcd(12, 18) != 6;
		wrong += dptest_sum(DEPTH - 1) != DEPTH * (DEPTH - 1) / 2;
		calls[(long)cpu]++;
		cond_resched_tasks_rcu_qs();
	}
	return wrong != 0;
}

static unsigned int stop(struct task_struct *const *task)
{
	return (!task[0] || kthread_stop(task[0])) +
	       (!task[1] || kthread_stop(task[1]));
}

static void under_fire(void)
{
	struct dp_kretprobe p = { .kp.symbol_name = "gcd" }, q = p;
	struct dp_kretprobe *list[] = { &p, &q };
	struct task_struct *task[2];
	unsigned long before, late = 0, total = 0;
	unsigned int i, bad = 0;

	p.handler = count_return;
	q.handler = leave_sum;
	q.entry_handler = enter_sum;
	q.data_size = sizeof(long);
	memset(&seen, 0, sizeof(seen));
	task[0] = start(call_on, 0);
	task[1] = start(call_on, 1);
	for (i = 0; i < 12; i++) {
		before = atomic_long_read(&returns);
		p.kp.addr = NULL;
		q.kp.symbol_name = NULL;
		if (!i) /* It stays: that is the entry, too. */
			q.kp.addr = (u8 *)dptest_sum;
		bad += dp_register_kretprobes(list, 2) != 0;
		schedule_timeout_interruptible(1 + i % 3);
		dp_unregister_kretprobes(list, 2);
		total += atomic_long_read(&returns) - before;
		before = atomic_long_read(&returns);
		schedule_timeout_interruptible(1);
		late += atomic_long_read(&returns) - before;
	}
	bad += stop(task);
	check(!bad && !late && total > 100 && !seen.wrong && seen.returned,
	      "return probes come and go under fire (%u, %lu late of %lu, %lu wrong of %lu)\n",
	      bad, late, total, seen.wrong, seen.returned);
	p.kp.addr = NULL;
	p.maxactive = 1;
	memset(calls, 0, sizeof(calls));
	atomic_long_set(&returns, 0);
	bad = dp_register_kretprobe(&p) != 0;
	task[0] = start(call_on, 0);
	task[1] = start(call_on, 1);
	msleep(300);
	bad += stop(task);
	dp_unregister_kretprobe(&p);
	total = atomic_long_read(&returns) + p.nmissed + p.kp.nmissed;
	check(!bad && calls[0] && calls[1] && total == calls[0] + calls[1],
	      "returns on two CPUs are counted (%u, %ld, %d and %lu of %lu and %lu)\n",
	      bad, atomic_long_read(&returns), p.nmissed, p.kp.nmissed,
	      calls[0], calls[1]);
}

/* The handler calls a function that has a return probe, too. */
static int call_another(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.wrong += dptest_sum(3) != 6;
	return 0;
}

static void nested(void)
{
	struct dp_kretprobe outer = { .kp.symbol_name = "gcd",
				      .handler = call_another },
			    inner = { .kp.addr = (u8 *)dptest_sum,
				      .entry_handler = enter_sum,
				      .handler = leave_sum,
				      .data_size = sizeof(long) };
	unsigned int i;
	int err;

	memset(&seen, 0, sizeof(seen));
	err = dp_register_kretprobe(&outer) ?: dp_register_kretprobe(&inner);
	for (i = 0; i < 100; i++)
		call_gcd(12, 18);
	check(!err && !seen.wrong && !seen.returned && inner.kp.nmissed == 400,
	      "what a handler calls is missed (%d, %lu)\n", err,
	      inner.kp.nmissed);
	dp_unregister_kretprobe(&inner);
	dp_unregister_kretprobe(&outer);
}

static int count_tick(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.returned++;
	seen.wrong += !in_hardirq();
	return 0;
}

static void interrupts(void)
{
	struct dp_kretprobe p = { .kp.symbol_name = "update_process_times",
				  .handler = count_tick };
	unsigned long until;
	int err;

	memset(&seen, 0, sizeof(seen));
	err = dp_register_kretprobe(&p);
	until = jiffies + HZ / 4;
	while (time_before(jiffies, until)) /* An idle CPU has no ticks. */
		cpu_relax();
	dp_unregister_kretprobe(&p);
	check(!err && seen.returned > 5 && !seen.wrong,
	      "functions of interrupts return (%d, %lu, %lu)\n", err,
	      seen.returned, seen.wrong);
}

static int __init begin(void)
{
	errors();
	values("alone", false);
	if (DP_KERNEL_HAS_KPROBES)
		values("beside the kernel's", true);
	else
		skip("beside the kernel's own", NO_KPROBES);
	recursion();
	nested();
	traces(DP_KMOD_JUMP);
	traces(DP_KMOD_TRAP);
	sleepers(false);
	sleepers(true);
	interrupts();
	under_fire();
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests return probes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
