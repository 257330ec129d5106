// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* many_test: probes on one of so many functions of the kernel, as long as this module is there. */
#include "kmod/session.h"
#include "port/kernel/compat.h"
#include "tests/kernel/test.h"
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define MOST 4000
#define BYTES 16

static unsigned int each = 25, first, arming;
module_param(each, uint, 0);
module_param(first, uint, 0);
module_param(arming, uint, 0);

static struct site {
	unsigned long addr;
	u8 was[BYTES];
} * sites;
static unsigned int nr, seen, refused;

static int add(DP_COMPAT_SYMBOL)
{
	const char *why = NULL;
	u32 probe;
	u8 was[BYTES];

	if (nr == MOST || seen++ % each != first)
		return 0;
	if (copy_from_kernel_nofault(was, (void *)addr, BYTES))
		return 0;
	if (dp_kmod_add(addr, &probe, &why)) {
		refused++;
		return 0;
	}
	sites[nr].addr = addr;
	memcpy(sites[nr++].was, was, BYTES);
	cond_resched();
	return 0;
}

static int __init begin(void)
{
	int (*each_symbol)(int (*fn)(DP_COMPAT_SYMBOL), void *data) =
		(void *)dp_kmod_symbol("kallsyms_on_each_symbol");
	unsigned int jumps = 0, i;
	u64 bad = 0, begun, added;
	int err;

	sites = vzalloc(MOST * sizeof(*sites));
	err = sites && each_symbol ? dp_kmod_begin(arming) : -ENOMEM;
	if (err)
		return err;
	begun = ktime_get_ns();
	each_symbol(add, NULL);
	added = ktime_get_ns();
	err = dp_kmod_commit(&bad);
	for (i = 0; i < nr; i++)
		jumps += !strcmp(dp_kmod_mode(i), "jump");
	note("%llu us to add, %llu us to arm\n", (added - begun) / 1000,
	     (ktime_get_ns() - added) / 1000);
	note("%u of %u symbols refused, %u probes, %u of them jumps\n", refused,
	     refused + nr, nr, jumps);
	check(!err && nr > 300 && (arming != DP_KMOD_JUMP || jumps > nr / 2),
	      "they are armed (%d at %llx)\n", err, bad);
	return 0;
}

static void __exit end(void)
{
	unsigned int hit = 0, i, other = 0;
	u64 hits = 0, missed = dp_kmod_missed(), arrivals = dp_kmod_arrivals();
	int err;

	for (i = 0; i < nr; i++) {
		hits += dp_kmod_hits(i);
		hit += dp_kmod_hits(i) != 0;
	}
	err = dp_kmod_end();
	for (i = 0; i < nr; i++)
		other += memcmp((void *)sites[i].addr, sites[i].was, BYTES) !=
			 0;
	note("%llu hits at %u, %llu within others, %llu in the middle\n", hits,
	     hit, missed, arrivals);
	check(!err && !other, "the text is what it was (%d, %u)\n", err, other);
	check(hit > 10 && hits > 1000, "some of them are hit\n");
	vfree(sites);
	pr_info("dptest: done\n");
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests many probes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
