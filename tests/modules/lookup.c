// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module that learns the address of kallsyms_lookup_name() from a kprobe, as those
 * do that are made for kernels which do not export it. */
#include <linux/module.h>
#include <linux/kprobes.h>

static bool counted;
module_param(counted, bool, 0444);

static int hits;

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static int __init begin(void)
{
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long (*lookup)(const char *name), direct;
	int err;

	if (counted)
		kp.pre_handler = pre;
	err = register_kprobe(&kp);
	if (err)
		return err;
	lookup = (void *)kp.addr;
	direct = lookup("malloc");
	unregister_kprobe(&kp);
	pr_info("%d hits, %d same, malloc %d, printk %d, nosuch %d\n", hits,
		(void *)lookup == (void *)kallsyms_lookup_name,
		direct && direct == lookup("malloc"),
		lookup("vprintk") == (unsigned long)vprintk,
		!!lookup("no_such_function_of_anybody"));
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
