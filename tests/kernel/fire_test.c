// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* fire_test: probes of all kinds where programs are all the time and where they sleep, as long as this module is there. */
#include <dprobes/kprobes.h>
#include "tests/kernel/test.h"
#include <linux/module.h>

static atomic_long_t seen;

/* Does this module leave its probes to dprobes.ko when it goes? */
static bool leaves;
module_param(leaves, bool, 0);

static int tell(char *to, const struct kernel_param *unused)
{
	return sysfs_emit(to, "%lu\n", atomic_long_read(&seen));
}

static const struct kernel_param_ops hits_ops = { .get = tell };
module_param_cb(hits, &hits_ops, NULL, 0400);

static int before(struct dp_kprobe *p, struct pt_regs *regs)
{
	atomic_long_inc(&seen);
	return 0;
}

static void after(struct dp_kprobe *p, struct pt_regs *regs,
		  unsigned long flags)
{
}

static int enter(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	*(unsigned long *)ri->data = regs->sp;
	return 0;
}

static int leave(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	WARN_ON_ONCE(*(unsigned long *)ri->data + sizeof(long) != regs->sp);
	atomic_long_inc(&seen);
	return 0;
}

#define BY_JUMP(function)                                        \
	{                                                        \
		.symbol_name = (function), .pre_handler = before \
	}
#define BY_TRAP(function)                                         \
	{                                                         \
		.symbol_name = (function), .pre_handler = before, \
		.post_handler = after                             \
	}
#define RETURN(function)                                                     \
	{                                                                    \
		.kp.symbol_name = (function), .entry_handler = enter,        \
		.handler = leave, .data_size = sizeof(long), .maxactive = 64 \
	}

static struct dp_kprobe probes[] = {
	BY_JUMP("vfs_write"),	     BY_JUMP("try_to_wake_up"),
	BY_JUMP("kmem_cache_alloc"), BY_TRAP("do_sys_openat2"),
	BY_TRAP("ksys_read"),
};
/* In these, programs sleep. */
static struct dp_kretprobe returns[] = {
	RETURN("vfs_read"),
	RETURN("hrtimer_nanosleep"),
	RETURN("do_wait"),
	RETURN("schedule_timeout"),
};
static struct dp_kprobe *probe_list[ARRAY_SIZE(probes)];
static struct dp_kretprobe *return_list[ARRAY_SIZE(returns)];

static int __init begin(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		probe_list[i] = &probes[i];
	for (i = 0; i < ARRAY_SIZE(returns); i++)
		return_list[i] = &returns[i];
	err = dp_register_kprobes(probe_list, ARRAY_SIZE(probes));
	if (err)
		return err;
	err = dp_register_kretprobes(return_list, ARRAY_SIZE(returns));
	if (err)
		dp_unregister_kprobes(probe_list, ARRAY_SIZE(probes));
	return err;
}

static void __exit end(void)
{
	if (leaves)
		return;
	dp_unregister_kretprobes(return_list, ARRAY_SIZE(returns));
	dp_unregister_kprobes(probe_list, ARRAY_SIZE(probes));
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Has probes that are hit all the time");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
