// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A module under the GPL that uses what another exports to those alone. */
#include <linux/module.h>

int gives_sum(int n);

static int __init begin(void)
{
	return gives_sum(1) < 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_AUTHOR("GPL");
MODULE_LICENSE("GPL");
