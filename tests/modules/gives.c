// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module that others use. */
#include <linux/module.h>
#include <linux/kernel.h>

extern int gives_base;
int gives_sum(int n);
/* The C library has a function of that name, and this module its own. */
int getppid(void);

/* Of clang's visibility nothing can be said behind the definition. */
#ifdef __clang__
EXPORT_SYMBOL(gives_base);
EXPORT_SYMBOL(getppid);
EXPORT_SYMBOL_GPL(gives_sum);
#endif

int gives_base = 40;

int getppid(void)
{
	return -7;
}

noinline int gives_sum(int n)
{
	return gives_base + n;
}

#ifndef __clang__
EXPORT_SYMBOL(gives_base);
EXPORT_SYMBOL(getppid);
EXPORT_SYMBOL_GPL(gives_sum);
#endif

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
