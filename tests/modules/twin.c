// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module that uses what another exports and the process has, too. */
#include <linux/module.h>

int getppid(void);

static int __init begin(void)
{
	return getppid() > 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
