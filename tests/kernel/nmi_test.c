// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nmi_test: probes in NMIs, which come in the middle of other hits. */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#define NMIS 300

static unsigned long (*volatile call_gcd)(unsigned long, unsigned long) = gcd;

static struct {
	unsigned long nmis, before, entered, returned, calls, gcds, after,
		wrong;
} seen;
static bool sends;

static noinline unsigned long dptest_in_nmi(unsigned long a)
{
	barrier();
	return a * 2 + 1;
}

static int nmi(unsigned int what, struct pt_regs *regs)
{
	unsigned long (*volatile call)(unsigned long) = dptest_in_nmi;

	if (!READ_ONCE(sends) || raw_smp_processor_id() != 1)
		return NMI_DONE;
	seen.wrong += call(seen.nmis) != seen.nmis * 2 + 1;
	WRITE_ONCE(seen.nmis, seen.nmis + 1);
	return NMI_HANDLED;
}

static int in_nmi_before(struct dp_kprobe *p, struct pt_regs *regs)
{
	seen.before++;
	seen.wrong += !in_nmi();
	return 0;
}

static int in_nmi_enter(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->di;
	seen.entered++;
	return 0;
}

static int in_nmi_leave(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.wrong += !in_nmi() || regs_return_value(regs) !=
					   *(unsigned long *)ri->data * 2 + 1;
	seen.returned++;
	return 0;
}

/* It takes a while, so that NMIs come here. */
static int gcd_before(struct dp_kprobe *p, struct pt_regs *regs)
{
	unsigned int i;

	for (i = 0; i < 50; i++)
		cpu_relax();
	seen.gcds++;
	return 0;
}

static int gcd_leave(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	seen.after++;
	seen.wrong += regs_return_value(regs) != 6;
	return 0;
}

static int work(void *unused)
{
	while (!kthread_should_stop()) {
		seen.wrong += call_gcd(12, 18) != 6;
		WRITE_ONCE(seen.calls, seen.calls + 1);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void wait_for(const unsigned long *word, unsigned long was)
{
	unsigned long until = jiffies + HZ;

	while (READ_ONCE(*word) == was && time_before(jiffies, until))
		usleep_range(
			20,
			100); /* A virtual CPU that waits lets the other one run. */
}

/* The other CPU gets on between two of them. */
static void send(void)
{
	unsigned long was, calls;
	unsigned int i;

	for (i = 0; i < NMIS; i++) {
		was = READ_ONCE(seen.nmis);
		calls = READ_ONCE(seen.calls);
		apic->send_IPI(1, NMI_VECTOR);
		wait_for(&seen.nmis, was);
		wait_for(&seen.calls, calls);
	}
}

static void interrupt_work(void)
{
	struct task_struct *task = kthread_create(work, NULL, "dptest/nmi");

	kthread_bind(task, 1);
	wake_up_process(task);
	WRITE_ONCE(sends, true);
	send();
	WRITE_ONCE(sends, false);
	kthread_stop(task);
}

/* @alone: the handler that is interrupted is the only one of its site. */
static void nmis(enum dp_kmod_arming arming, bool alone)
{
	struct dp_kprobe p = { .addr = (u8 *)dptest_in_nmi,
			       .pre_handler = in_nmi_before },
			 q = { .symbol_name = "gcd",
			       .pre_handler = gcd_before };
	struct dp_kretprobe r = { .kp.addr = (u8 *)dptest_in_nmi,
				  .entry_handler = in_nmi_enter,
				  .handler = in_nmi_leave,
				  .data_size = sizeof(long) },
			    s = { .kp.symbol_name = "gcd",
				  .handler = gcd_leave };
	int err = dp_kmod_begin(arming);

	memset(&seen, 0, sizeof(seen));
	err = err ?: dp_register_kprobe(&p);
	err = err ?: dp_register_kprobe(&q);
	err = err ?: dp_register_kretprobe(&r);
	if (!alone)
		err = err ?: dp_register_kretprobe(&s);
	interrupt_work();
	if (!alone)
		dp_unregister_kretprobe(&s);
	dp_unregister_kretprobe(&r);
	dp_unregister_kprobe(&q);
	dp_unregister_kprobe(&p);
	err = err ?: dp_kmod_end();
	check(!err && seen.nmis > NMIS / 2 && !seen.wrong &&
		      seen.before + p.nmissed == seen.nmis &&
		      seen.entered + r.kp.nmissed >= seen.nmis &&
		      seen.returned <= seen.entered,
	      "NMIs hit (%d, %lu: %lu and %lu, %lu to %lu and %lu, %lu wrong)\n",
	      err, seen.nmis, seen.before, p.nmissed, seen.entered,
	      seen.returned, r.kp.nmissed, seen.wrong);
	check(p.nmissed && seen.before,
	      "in the middle of handlers, and elsewhere\n");
	check(seen.gcds == seen.calls && !q.nmissed &&
		      seen.after == (alone ? 0 : seen.calls) && !s.nmissed &&
		      !s.kp.nmissed,
	      "and hide no hit of what they interrupt (%lu %lu %lu, %lu %d %lu)\n",
	      seen.calls, seen.gcds, seen.after, q.nmissed, s.nmissed,
	      s.kp.nmissed);
}

/* Without probes of this module: others have some. */
static bool bare;
module_param(bare, bool, 0);
module_param_named(nmis, seen.nmis, ulong, 0400);
module_param_named(calls, seen.calls, ulong, 0400);
module_param_named(wrong, seen.wrong, ulong, 0400);

static int __init begin(void)
{
	int err = register_nmi_handler(NMI_LOCAL, nmi, 0, "dptest");

	if (err)
		return err;
	if (bare) {
		interrupt_work();
	} else {
		nmis(DP_KMOD_JUMP, false);
		nmis(DP_KMOD_TRAP, false);
		nmis(DP_KMOD_JUMP, true);
		nmis(DP_KMOD_TRAP, true);
	}
	unregister_nmi_handler(NMI_LOCAL, "dptest");
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests probes in NMIs");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
