// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module that others use. */
#include <linux/module.h>
#include <linux/kernel.h>

int gives_base = 40;
EXPORT_SYMBOL(gives_base);

/* The C library has a function of that name, and this module its own. */
int getppid(void);
int getppid(void)
{
	return -7;
}
EXPORT_SYMBOL(getppid);

noinline int gives_sum(int n);
int gives_sum(int n)
{
	return gives_base + n;
}
EXPORT_SYMBOL_GPL(gives_sum);

static int __init begin(void)
{
	pr_info("gives %d, %d\n", gives_sum(1), getppid());
	return 0;
}

static void __exit end(void)
{
	pr_info("gave %d\n", gives_sum(0));
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
