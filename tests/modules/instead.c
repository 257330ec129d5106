// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module that lets a function fail without executing it. */
#include <linux/module.h>
#include <linux/kprobes.h>

static char *symbol = "victim_function";
module_param(symbol, charp, 0444);
static long value = -5;
module_param(value, long, 0444);

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	regs_set_return_value(regs, (unsigned long)value);
	override_function_with_return(regs);
	return 1;
}

static struct kprobe kp = { .pre_handler = pre };

static int __init begin(void)
{
	kp.symbol_name = symbol;
	return register_kprobe(&kp);
}

static void __exit end(void)
{
	unregister_kprobe(&kp);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
