// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bytes_test: have functions of the kernel the bytes that they had?
 *
 *     insmod dpbytes.ko functions=gcd,int_sqrt    /sys/module/dpbytes/parameters/changed: how many have not
 */
#include "kmod/session.h"
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define MOST 16
#define BYTES 64

static char *functions[MOST];
static int nr;
module_param_array(functions, charp, &nr, 0);

static struct {
	u64 at;
	u8 was[BYTES];
} sites[MOST];

static int tell(char *to, const struct kernel_param *unused)
{
	unsigned int changed = 0;
	u8 now[BYTES];
	int i;

	for (i = 0; i < nr; i++)
		changed += copy_from_kernel_nofault(now, (void *)sites[i].at,
						    BYTES) ||
			   memcmp(now, sites[i].was, BYTES);
	return sysfs_emit(to, "%u\n", changed);
}

static const struct kernel_param_ops changed_ops = { .get = tell };
module_param_cb(changed, &changed_ops, NULL, 0400);

static int __init begin(void)
{
	int i;

	for (i = 0; i < nr; i++) {
		sites[i].at = dp_kmod_symbol(functions[i]);
		if (!sites[i].at ||
		    copy_from_kernel_nofault(sites[i].was, (void *)sites[i].at,
					     BYTES))
			return -ENOENT;
	}
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tells whether functions have their bytes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
