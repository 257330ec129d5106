// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kprobes_test: probes with handlers in C, as another module has them. */
#include <dprobes/kprobes.h>
#include "engine/insn/insn.h"
#include "kmod/session.h"
#include "port/kernel/compat.h"
#include "tests/kernel/test.h"
#include "tests/kernel/victim.h"
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#define CALLS 5000

static unsigned long (*volatile call_gcd)(unsigned long, unsigned long) = gcd;
static unsigned long (*volatile call_sqrt)(unsigned long) = int_sqrt;

static struct {
	unsigned long before, after, wrong;
	struct pt_regs regs;
} seen;

static int count(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	seen.regs = *regs;
	seen.wrong += regs->ip != (unsigned long)p->addr + 1 ||
		      user_mode(regs) || preemptible();
	return 0;
}

static void count_after(struct dp_kprobe *p, struct pt_regs *regs,
			unsigned long flags)
{
	seen.after++;
	seen.wrong += flags || user_mode(regs) || preemptible();
}

static const char *mode_of(const struct dp_kprobe *p)
{
	return dp_kprobe_optimized(p) ? "jump" : "trap";
}

static void errors(void)
{
	struct dp_kprobe none = { .pre_handler = count },
			 both = { .symbol_name = "gcd", .addr = (u8 *)gcd },
			 unknown = { .symbol_name = "dptest_is_not_there" },
			 inner = { .symbol_name = "dptest_victim",
				   .offset = 1 },
			 notifier = { .symbol_name = "notify_die" },
			 good = { .symbol_name = "gcd", .pre_handler = count };
	struct dp_kprobe *list[] = { &good, NULL };
	int err;

	check(dp_register_kprobe(NULL) == -EINVAL &&
		      dp_register_kprobe(&none) == -EINVAL &&
		      dp_register_kprobe(&both) == -EINVAL &&
		      dp_register_kprobes(list, 0) == -EINVAL &&
		      dp_register_kprobes(list, 2) == -EINVAL && !good.addr,
	      "what makes no sense is not registered\n");
	check(dp_register_kprobe(&unknown) == -ENOENT &&
		      dp_register_kprobe(&inner) == -EILSEQ &&
		      dp_register_kprobe(&notifier) == -EINVAL,
	      "nor is what may not be probed\n");
	err = dp_register_kprobe(&good);
	check(!err && good.addr >= (u8 *)gcd && good.addr < (u8 *)gcd + 16 &&
		      dp_register_kprobe(&good) == -EINVAL,
	      "a probe is registered once (%d)\n", err);
	dp_unregister_kprobe(&good);
	dp_unregister_kprobe(&good);
	check(!good.addr && dp_enable_kprobe(&good) == -EINVAL &&
		      dp_disable_kprobe(&good) == -EINVAL,
	      "and unregistered once\n");
}

/* All or none */
static void batches(void)
{
	struct dp_kprobe a = { .symbol_name = "gcd", .pre_handler = count },
			 b = { .symbol_name = "int_sqrt",
			       .pre_handler = count },
			 c = { .symbol_name = "dptest_is_not_there" };
	struct dp_kprobe *list[] = { &a, &b, &c }, *twice[] = { &a, &b, &a };
	u8 was[16];
	int err;

	memcpy(was, gcd, 16);
	err = dp_register_kprobes(list, 3);
	check(err == -ENOENT && !a.addr && !memcmp(was, gcd, 16),
	      "of a batch all are registered, or none (%d)\n", err);
	check(dp_register_kprobes(twice, 3) == -EINVAL && !a.addr,
	      "one that has a probe twice is refused\n");
	err = dp_register_kprobes(list, 2);
	seen.before = 0;
	call_gcd(12, 18);
	call_sqrt(144);
	check(!err && seen.before >= 2, "a batch is armed (%d, %lu)\n", err,
	      seen.before);
	dp_unregister_kprobes(twice, 3);
	check(!memcmp(was, gcd, 16), "and goes\n");
}

static unsigned long in[DPTEST_REGS], out[DPTEST_REGS];

/* Return: how many registers are not what they were, or are to be. */
static unsigned int differ(const unsigned long *is, const unsigned long *want)
{
	unsigned int i, n = 0;

	for (i = 0; i < DPTEST_REGS; i++)
		if (is[i] != want[i]) {
			note("register %u: %lx, not %lx\n", i, is[i], want[i]);
			n++;
		}
	return n;
}

static void take(const struct pt_regs *r, unsigned long *to)
{
	const unsigned long all[DPTEST_REGS] = { r->ax,	 r->bx,	 r->cx,	 r->dx,
						 r->si,	 r->di,	 r->bp,	 r->r8,
						 r->r9,	 r->r10, r->r11, r->r12,
						 r->r13, r->r14, r->r15 };

	memcpy(to, all, sizeof(all));
}

/* Each register is replaced by its complement. */
static int change(struct dp_kprobe *p, struct pt_regs *r)
{
	unsigned long *all[DPTEST_REGS] = { &r->ax,  &r->bx,  &r->cx,  &r->dx,
					    &r->si,  &r->di,  &r->bp,  &r->r8,
					    &r->r9,  &r->r10, &r->r11, &r->r12,
					    &r->r13, &r->r14, &r->r15 };
	unsigned int i;

	count(p, r);
	for (i = 0; i < DPTEST_REGS; i++)
		*all[i] = ~*all[i];
	r->flags ^= X86_EFLAGS_CF;
	return 0;
}

/* As if the function had returned */
static int leave(struct dp_kprobe *p, struct pt_regs *r)
{
	count(p, r);
	r->ip = *(unsigned long *)r->sp;
	r->sp += sizeof(long);
	r->ax = 77;
	return 1;
}

static void registers(const char *how, bool traps)
{
	struct dp_kprobe p = { .addr = (u8 *)dptest_victim,
			       .pre_handler = count,
			       .post_handler = traps ? count_after : NULL };
	unsigned long want[DPTEST_REGS], is[DPTEST_REGS], carry[2];
	unsigned int i;
	int err;

	for (i = 0; i < DPTEST_REGS; i++)
		in[i] = 0x0123456789abcdefull * (i + 3);
	dptest_call(in, want);
	err = dp_register_kprobe(&p);
	memset(&seen, 0, sizeof(seen));
	dptest_call(in, out);
	take(&seen.regs, is);
	check(!err && seen.before == 1 && !differ(is, in) &&
		      !strcmp(mode_of(&p), traps ? "trap" : "jump"),
	      "%s: a handler sees all registers (%d, %s)\n", how, err,
	      mode_of(&p));
	check(!differ(out, want), "%s: and they go on as they were\n", how);
	check(!seen.wrong && seen.after == traps &&
		      seen.regs.cs == __KERNEL_CS &&
		      seen.regs.ss == __KERNEL_DS,
	      "%s: it is called as the kernel's are (but %lu, %lu)\n", how,
	      seen.wrong, seen.after);
	dp_unregister_kprobe(&p);
	p.pre_handler = change;
	err = dp_register_kprobe(&p);
	carry[0] = dptest_carry(0);
	carry[1] = dptest_carry(1);
	dptest_call(in, out);
	for (i = 0; i < DPTEST_REGS; i++)
		is[i] = ~in[i];
	dp_unregister_kprobe(&p);
	dptest_call(is, want);
	check(!err && !differ(out, want), "%s: what it changes is in force\n",
	      how);
	check(carry[0] == 1 && !carry[1], "%s: flags, too\n", how);
	p.pre_handler = leave;
	seen.before = seen.after = 0;
	err = dp_register_kprobe(&p);
	dptest_call(in, out);
	dp_unregister_kprobe(&p);
	in[0] = 77;
	check(!err && !differ(out, in) && seen.before == 1 && !seen.after,
	      "%s: it says where to go on\n", how);
}

/* The handler calls a function that has a probe, too. */
static unsigned long inner_hits;

static int call_another(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	seen.wrong += call_sqrt(144) != 12;
	return 0;
}

static int count_inner(struct dp_kprobe *p, struct pt_regs *regs)
{
	inner_hits++;
	return 0;
}

static void nested(const char *how, bool traps)
{
	struct dp_kprobe outer = { .symbol_name = "gcd",
				   .pre_handler = call_another,
				   .post_handler = traps ? count_after : NULL },
			 inner = { .symbol_name = "int_sqrt",
				   .pre_handler = count_inner };
	struct dp_kprobe *list[] = { &outer, &inner };
	unsigned long i, others;
	int err;

	memset(&seen, 0, sizeof(seen));
	inner_hits = 0;
	err = dp_register_kprobes(list, 2);
	for (i = 0; i < CALLS / 10; i++)
		seen.wrong += call_gcd(12, 18) != 6;
	others = inner_hits;
	seen.wrong += call_sqrt(144) != 12;
	dp_unregister_kprobes(list, 2);
	check(!err && !seen.wrong && seen.before >= CALLS / 10 &&
		      inner.nmissed >= seen.before && !outer.nmissed &&
		      seen.after == (traps ? seen.before : 0),
	      "%s: a hit within a handler is missed (%d, %lu of %lu)\n", how,
	      err, inner.nmissed, seen.before);
	check(inner_hits > others && others < CALLS / 10,
	      "%s: and one outside is not (%lu, %lu)\n", how, others,
	      inner_hits);
}

/* Bytes of a probe are no instructions. */
static void within_a_function(void)
{
	struct dp_kprobe p[8] = { { .pre_handler = count } };
	unsigned int at = 0, n = 0, wrong = 0, i;
	struct insn_facts facts;
	u8 code[64];
	int err = 0;

	memcpy(code, dptest_victim, sizeof(code));
	memset(&seen, 0, sizeof(seen));
	/* Behind endbr64, where the kernel has been built with it */
	if (code[1] == 0x0f)
		at = 4;
	for (i = 0; i < 3 && !err; i++) {
		err = dp_insn_facts(code + at, DP_INSN_MAX, &facts);
		p[i] = (struct dp_kprobe){ .symbol_name = "dptest_victim",
					   .offset = at,
					   .pre_handler = count };
		err = err ?: dp_register_kprobe(&p[i]);
		n += !err;
		wrong += p[i].addr != (u8 *)dptest_victim + at;
		at += facts.len;
	}
	dptest_call(in, out);
	check(!err && n == 3 && !wrong && seen.before == 3 && !seen.wrong,
	      "each instruction of a function has a probe (%d, %lu, %s %s %s)\n",
	      err, seen.before, mode_of(&p[0]), mode_of(&p[1]), mode_of(&p[2]));
	for (i = 0; i < n; i++)
		dp_unregister_kprobe(&p[i]);
	check(!memcmp(code, dptest_victim, sizeof(code)),
	      "and what it was again\n");
}

static int say_first(struct dp_kprobe *p, struct pt_regs *regs)
{
	inner_hits = seen.before;
	return 0;
}

/* Probes at one address, of handlers and of a session */
static void together(enum dp_kmod_arming arming, bool session_first)
{
	struct dp_kprobe a = { .symbol_name = "gcd", .pre_handler = count },
			 b = { .symbol_name = "gcd", .pre_handler = say_first };
	u32 probe = 0, i;
	u64 bad, hits;
	int err = session_first ? dp_kmod_begin(arming) : 0;
	bool ok;

	memset(&seen, 0, sizeof(seen));
	inner_hits = ~0ul;
	err = err ?: dp_register_kprobe(&a);
	err = err ?: dp_register_kprobe(&b);
	if (!session_first)
		err = err ?: dp_kmod_begin(arming);
	err = err ?: dp_kmod_add((u64)gcd, &probe, NULL);
	err = err ?: dp_kmod_commit(&bad);
	for (i = 0; i < CALLS; i++)
		call_gcd(12, 18);
	hits = dp_kmod_hits(probe);
	check(!err && seen.before == CALLS && hits == CALLS &&
		      inner_hits == CALLS - 1,
	      "a session and two handlers are at one address (%d, %lu, %llu, %lu)\n",
	      err, seen.before, hits, inner_hits);
	err = dp_kmod_end();
	call_gcd(12, 18);
	ok = seen.before == CALLS + 1;
	err = err ?: dp_kmod_begin(arming);
	err = err ?: dp_kmod_add((u64)int_sqrt, &probe, NULL);
	err = err ?: dp_kmod_commit(&bad);
	dp_unregister_kprobe(&a);
	call_sqrt(144);
	ok &= dp_kmod_hits(probe) && inner_hits == CALLS;
	err = err ?: dp_kmod_end();
	call_gcd(12, 18);
	dp_unregister_kprobe(&b);
	check(!err && ok && seen.before == CALLS + 1,
	      "each goes without the other (%d, %lu)\n", err, seen.before);
}

static void turns(void)
{
	struct dp_kprobe p = { .symbol_name = "gcd",
			       .pre_handler = count,
			       .flags = KPROBE_FLAG_DISABLED };
	u8 was[16];
	bool off;
	int err;

	memcpy(was, gcd, 16);
	memset(&seen, 0, sizeof(seen));
	err = dp_register_kprobe(&p);
	call_gcd(12, 18);
	off = !seen.before && dp_kprobe_disabled(&p) && !memcmp(was, gcd, 16);
	err = err ?: dp_enable_kprobe(&p);
	call_gcd(12, 18);
	check(!err && off && seen.before == 1 && !dp_kprobe_disabled(&p),
	      "a probe is registered disabled, and enabled (%d, %lu)\n", err,
	      seen.before);
	err = dp_disable_kprobe(&p);
	call_gcd(12, 18);
	check(!err && seen.before == 1 && dp_kprobe_disabled(&p) &&
		      !memcmp(was, gcd, 16),
	      "and disabled (%d, %lu)\n", err, seen.before);
	dp_unregister_kprobe(&p);
}

/* The kernel's own probe, on another instruction of the function */
static unsigned long theirs;

static int count_theirs(struct kprobe *p, struct pt_regs *regs)
{
	theirs++;
	return 0;
}

static noinline unsigned long dptest_both(unsigned long a, unsigned long b)
{
	WRITE_ONCE(out[0], a + b);
	WRITE_ONCE(out[1], a ^ b);
	WRITE_ONCE(out[2], a | b);
	WRITE_ONCE(out[3], a & b);
	return a + b;
}

/* Instructions of a function that are not in one jump */
static unsigned int far_instruction(const u8 *function)
{
	struct insn_facts facts;
	unsigned int at = 0;

	while (at < 24 && !dp_insn_facts(function + at, DP_INSN_MAX, &facts))
		at += facts.len;
	return at;
}

static void beside_the_kernels(bool traps)
{
	unsigned long (*volatile both)(unsigned long, unsigned long) =
		dptest_both;
	struct kprobe other = { .addr = (kprobe_opcode_t *)dptest_both,
				.offset = far_instruction((u8 *)dptest_both),
				.pre_handler = count_theirs };
	struct dp_kprobe p = { .addr = (u8 *)dptest_both,
			       .pre_handler = count,
			       .post_handler = traps ? count_after : NULL };
	unsigned long i, sum = 0;
	int err[2];

	memset(&seen, 0, sizeof(seen));
	theirs = 0;
	err[0] = register_kprobe(&other);
	err[1] = dp_register_kprobe(&p);
	for (i = 0; i < CALLS; i++)
		sum += both(0, i);
	dp_unregister_kprobe(&p);
	unregister_kprobe(&other);
	check(!err[0] && !err[1] && theirs == CALLS && seen.before == theirs &&
		      sum == CALLS * (CALLS - 1ul) / 2,
	      "the kernel's own probe counts the same (%d %d, %lu, %lu, %s)\n",
	      err[0], err[1], theirs, seen.before, mode_of(&p));
}

/* On both CPUs, while probes come and go */
static unsigned long calls[2];
static DEFINE_PER_CPU(unsigned long, hits);

static int count_here(struct dp_kprobe *p, struct pt_regs *regs)
{
	this_cpu_inc(hits);
	return 0;
}

static void count_here_after(struct dp_kprobe *p, struct pt_regs *regs,
			     unsigned long flags)
{
}

static int call_on(void *cpu)
{
	unsigned long wrong = 0;

	while (!kthread_should_stop()) {
		wrong += call_gcd(12, 18) != 6;
		calls[(long)cpu]++;
		cond_resched_tasks_rcu_qs();
	}
	return wrong != 0;
}

static struct task_struct *start(int (*function)(void *), long cpu)
{
	struct task_struct *task =
		kthread_create(function, (void *)cpu, "dptest/%ld", cpu);

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, cpu);
	wake_up_process(task);
	return task;
}

static unsigned long hits_of_all(void)
{
	return per_cpu(hits, 0) + per_cpu(hits, 1);
}

/* What a handler counts after its probe has gone is wrong. */
static void under_fire(const char *how, bool traps)
{
	struct dp_kprobe *p = kzalloc(sizeof(*p), GFP_KERNEL);
	struct task_struct *task[2];
	unsigned long before, late = 0, total = 0;
	unsigned int i, bad = 0;

	p->symbol_name = "gcd";
	p->pre_handler = count_here;
	p->post_handler = traps ? count_here_after : NULL;
	task[0] = start(call_on, 0);
	task[1] = start(call_on, 1);
	for (i = 0; i < 12; i++) {
		before = hits_of_all();
		p->addr = NULL;
		bad += dp_register_kprobe(p) != 0;
		schedule_timeout_interruptible(1 + i % 3);
		dp_unregister_kprobe(p);
		total += hits_of_all() - before;
		before = hits_of_all();
		schedule_timeout_interruptible(1);
		late += hits_of_all() - before;
	}
	bad += !task[0] || kthread_stop(task[0]);
	bad += !task[1] || kthread_stop(task[1]);
	check(!bad && !late && total > 100,
	      "%s: probes come and go under fire (%u, %lu late of %lu)\n", how,
	      bad, late, total);
	memset(calls, 0, sizeof(calls));
	before = hits_of_all();
	p->addr = NULL;
	bad = dp_register_kprobe(p) != 0;
	task[0] = start(call_on, 0);
	task[1] = start(call_on, 1);
	msleep(300);
	bad += !task[0] || kthread_stop(task[0]);
	bad += !task[1] || kthread_stop(task[1]);
	total = hits_of_all() - before;
	dp_unregister_kprobe(p);
	check(!bad && calls[0] && calls[1] &&
		      total + p->nmissed == calls[0] + calls[1],
	      "%s: calls on two CPUs are counted (%u, %lu and %lu of %lu and %lu)\n",
	      how, bad, total, p->nmissed, calls[0], calls[1]);
	kfree(p);
}

/* Several register at once, and a session comes and goes beside them. */
static int come_and_go(void *which)
{
	struct dp_kprobe *p = kzalloc(sizeof(*p), GFP_KERNEL);
	unsigned int bad = !p, i;

	for (i = 0; i < 6 && p; i++) {
		p->addr = NULL;
		p->symbol_name = which ? "int_sqrt" : "gcd";
		p->pre_handler = count_here;
		bad += dp_register_kprobe(p) != 0;
		call_gcd(12, 18);
		call_sqrt(144);
		dp_unregister_kprobe(p);
	}
	kfree(p);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return (int)bad;
}

static void at_once(void)
{
	struct task_struct *task[2] = { start(come_and_go, 0),
					start(come_and_go, 1) };
	unsigned int bad = 0, i;
	u8 was[16];
	u32 probe;
	u64 where;
	int err;

	memcpy(was, gcd, 16);
	for (i = 0; i < 4; i++) {
		err = dp_kmod_begin(DP_KMOD_JUMP);
		err = err ?: dp_kmod_add((u64)gcd, &probe, NULL);
		err = err ?: dp_kmod_commit(&where);
		call_gcd(12, 18);
		bad += err || !dp_kmod_hits(probe);
		err = dp_kmod_end();
		bad += err != 0;
	}
	bad += !task[0] || kthread_stop(task[0]);
	bad += !task[1] || kthread_stop(task[1]);
	check(!bad && !memcmp(was, gcd, 16), "several register at once (%u)\n",
	      bad);
}

/* Interrupts hit, in whatever the CPU does. */
static void interrupts(bool traps)
{
	struct dp_kprobe p = { .symbol_name = "update_process_times",
			       .pre_handler = count,
			       .post_handler = traps ? count_after : NULL };
	unsigned long until;
	int err;

	memset(&seen, 0, sizeof(seen));
	err = dp_register_kprobe(&p);
	until = jiffies + HZ / 4;
	while (time_before(jiffies, until)) /* An idle CPU has no ticks. */
		cpu_relax();
	dp_unregister_kprobe(&p);
	check(!err && seen.before > 5 && !seen.wrong &&
		      (!traps || seen.after == seen.before),
	      "interrupts call handlers (%d, %lu, %lu, %lu missed)\n", err,
	      seen.before, seen.after, p.nmissed);
}

static int __init begin(void)
{
	errors();
	batches();
	registers("jump", false);
	registers("trap", true);
	nested("jump", false);
	nested("trap", true);
	together(DP_KMOD_TRAP, true);
	together(DP_KMOD_JUMP, true);
	together(DP_KMOD_JUMP, false);
	within_a_function();
	turns();
	if (DP_KERNEL_HAS_KPROBES) {
		beside_the_kernels(false);
		beside_the_kernels(true);
	} else {
		skip("the kernel's own probe counts the same", NO_KPROBES);
	}
	interrupts(false);
	interrupts(true);
	under_fire("jump", false);
	under_fire("trap", true);
	at_once();
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests probes with handlers");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
