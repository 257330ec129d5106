// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module that uses another one, and probes it. */
#include <linux/module.h>
#include <linux/kprobes.h>

extern int gives_base;
int gives_sum(int n);
/* A function pointer is found as a call is. */
static int (*volatile sum)(int n) = gives_sum;

static bool fails;
module_param(fails, bool, 0444);
static int hits;

static int pre(struct kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static struct kprobe kp = { .symbol_name = "gives_sum", .pre_handler = pre };

static int __init begin(void)
{
	int err = register_kprobe(&kp), one, two;

	if (err)
		return err;
	gives_base++;
	one = gives_sum(1);
	two = sum(2);
	pr_info("takes %d and %d, %d hits\n", one, two, hits);
	return fails ? -EIO : 0;
}

static void __exit end(void)
{
	unregister_kprobe(&kp);
	gives_base--;
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("Dual MIT/GPL");
