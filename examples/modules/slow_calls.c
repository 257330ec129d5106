// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * slow_calls: a kretprobe times a function and keeps the slowest calls.
 *
 *     dprobes insmod slow_calls.so function=fsync above=1000 -- PROGRAM
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/list.h>

static char function[KSYM_NAME_LEN] = "fsync";
module_param_string(function, function, sizeof(function), 0444);
MODULE_PARM_DESC(function, "function to time");

static unsigned int above;
module_param(above, uint, 0644);
MODULE_PARM_DESC(above, "microseconds that a call must take to be kept");

static int keep = 10;
module_param(keep, int, 0644);
MODULE_PARM_DESC(keep, "how many are kept");

static int maxactive;
module_param(maxactive, int, 0444);
MODULE_PARM_DESC(maxactive,
		 "calls that can be followed at once; 0: the default");

struct call {
	struct list_head link;
	s64 us;
	long result;
	pid_t pid;
};

static LIST_HEAD(slowest); /* the slowest first */
static DEFINE_SPINLOCK(lock); /* guards it, and the numbers below */
static int kept;
static unsigned long calls;
static s64 total_us;

static int note_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(ktime_t *)ri->data = ktime_get();
	return 0;
}

static void insert(struct call *call)
{
	struct call *other;

	list_for_each_entry(other, &slowest,
			    link) if (other->us < call->us) break;
	list_add_tail(&call->link, &other->link);
	if (++kept <= keep)
		return;
	other = list_last_entry(&slowest, struct call, link);
	list_del(&other->link);
	kfree(other);
	kept--;
}

static int note_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	s64 us = ktime_us_delta(ktime_get(), *(ktime_t *)ri->data);
	struct call *call = NULL;
	unsigned long flags;

	if (us >= above)
		call = kmalloc(sizeof(*call), GFP_ATOMIC);
	if (call) {
		call->us = us;
		call->result = (long)regs_return_value(regs);
		call->pid = current->pid;
	}
	spin_lock_irqsave(&lock, flags);
	calls++;
	total_us += us;
	if (call)
		insert(call);
	spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static struct kretprobe probe = {
	.kp.symbol_name = function,
	.entry_handler = note_entry,
	.handler = note_return,
	.data_size = sizeof(ktime_t),
};

static int __init slow_init(void)
{
	int err;

	if (keep < 1)
		return -EINVAL;
	probe.maxactive = maxactive;
	err = register_kretprobe(&probe);
	if (err)
		pr_err("no kretprobe on %s: %d\n", function, err);
	return err;
}

static void __exit slow_exit(void)
{
	struct call *call, *next;

	unregister_kretprobe(&probe);
	pr_info("%s: %lu calls, %lld us\n", function, calls, total_us);
	list_for_each_entry_safe(call, next, &slowest, link)
	{
		pr_info("%8lld us in thread %d, returned %ld\n", call->us,
			call->pid, call->result);
		kfree(call);
	}
	if (probe.nmissed)
		pr_warn("%d calls were missed: try a larger maxactive\n",
			probe.nmissed);
}

module_init(slow_init);
module_exit(slow_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("The slowest calls of a function");
