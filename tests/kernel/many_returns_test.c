// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* many_returns_test: return probes on one of so many functions of the kernel, as long as this module is there. */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "port/kernel/compat.h"
#include "tests/kernel/test.h"
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define MOST 1600
#define BYTES 16
#define ACTIVE 5

static unsigned int each = 25, first;
module_param(each, uint, 0);
module_param(first, uint, 0);

static struct site {
	struct dp_kretprobe rp;
	u8 *start, was[BYTES];
} * sites;
static struct dp_kretprobe **list;
static unsigned int nr, seen;
static DEFINE_PER_CPU(unsigned long[3], counts);

static int enter(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(counts[0]);
	*(unsigned long *)ri->data = regs->sp;
	return 0;
}

/* It returns from where it was entered. */
static int leave(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	this_cpu_inc(counts[1]);
	if (*(unsigned long *)ri->data + sizeof(long) != regs->sp ||
	    ri->task != current)
		this_cpu_inc(counts[2]);
	return 0;
}

/* A batch is refused as a whole, so a session is asked first. */
static int add(DP_COMPAT_SYMBOL)
{
	struct site *s = &sites[nr];
	u32 probe;

	if (nr == MOST || seen++ % each != first)
		return 0;
	/* They return to where they were not called from: see kmod/exits.c. */
	if (strstarts(name, "__switch_to") || !strcmp(name, "ret_from_fork"))
		return 0;
	if (copy_from_kernel_nofault(s->was, (void *)addr, BYTES) ||
	    dp_kmod_add(addr, &probe, NULL))
		return 0;
	s->start = (u8 *)addr;
	s->rp.kp.addr = s->start;
	s->rp.entry_handler = enter;
	s->rp.handler = leave;
	s->rp.maxactive = ACTIVE;
	s->rp.data_size = sizeof(long);
	list[nr++] = &s->rp;
	return 0;
}

static int __init begin(void)
{
	int (*each_symbol)(int (*fn)(DP_COMPAT_SYMBOL), void *data) =
		(void *)dp_kmod_symbol("kallsyms_on_each_symbol");
	unsigned int jumps = 0, i;
	u64 begun;
	int err;

	sites = vzalloc(MOST * sizeof(*sites));
	list = vzalloc(MOST * sizeof(*list));
	if (!sites || !list || !each_symbol)
		return -ENOMEM;
	err = dp_kmod_begin(DP_KMOD_JUMP);
	each_symbol(add, NULL);
	err = err ?: dp_kmod_end();
	begun = ktime_get_ns();
	err = err ?: dp_register_kretprobes(list, nr);
	for (i = 0; i < nr; i++)
		jumps += dp_kprobe_optimized(&list[i]->kp);
	note("%u return probes, %u of them jumps, in %llu us\n", nr, jumps,
	     (ktime_get_ns() - begun) / 1000);
	check(!err && nr > 300 && jumps > nr / 2, "they are armed (%d)\n", err);
	return 0;
}

static unsigned long sum(unsigned int which)
{
	unsigned long n = 0;
	int cpu;

	for_each_possible_cpu(cpu) n += per_cpu(counts, cpu)[which];
	return n;
}

static void __exit end(void)
{
	unsigned int i, other = 0, missed = 0;
	unsigned long hidden = 0;

	dp_unregister_kretprobes(list, nr);
	for (i = 0; i < nr; i++) {
		struct site *s = container_of(list[i], struct site, rp);

		missed += s->rp.nmissed;
		hidden += s->rp.kp.nmissed;
		other += memcmp(s->start, s->was, BYTES) != 0;
	}
	note("%lu entered, %lu returned, %u not followed, %lu within handlers\n",
	     sum(0), sum(1), missed, hidden);
	check(sum(1) > 1000 && !sum(2),
	      "functions return to where they were called (but %lu)\n", sum(2));
	check(!other, "the text is what it was (but %u)\n", other);
	vfree(list);
	vfree(sites);
	pr_info("dptest: done\n");
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests many return probes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
