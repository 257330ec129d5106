// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* external: a function of a shared object, number 40, that programs call. */
#include <dprobes/external.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/module.h>

static unsigned long calls;

static unsigned long square(void *ctx, const unsigned long *args)
{
	__atomic_fetch_add((unsigned long *)ctx, 1, __ATOMIC_RELAXED);
	return args[0] * args[0];
}

static int __init external_init(void)
{
	return dp_external_register(40, "square", square, &calls, 1);
}

static void __exit external_exit(void)
{
	dp_external_unregister(40);
	pr_info("square: %lu calls\n", calls);
}

module_init(external_init);
module_exit(external_exit);
MODULE_LICENSE("Dual BSD/GPL");
