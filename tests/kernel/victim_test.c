// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* victim_test: a module whose function is probed by another one, see gone_test.c. */
#include <linux/module.h>

unsigned long dpvictim_work(unsigned long a);
noinline unsigned long dpvictim_work(unsigned long a)
{
	barrier();
	return a * 3 + 1;
}
EXPORT_SYMBOL_GPL(dpvictim_work);

static int __init begin(void)
{
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Is probed");
MODULE_LICENSE("Dual BSD/GPL");
