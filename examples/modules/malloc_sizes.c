// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * malloc_sizes: a kprobe counts calls of malloc by the size that is asked for.
 *
 *     dprobes insmod malloc_sizes.so min=64 -- PROGRAM
 *
 * The counts, a line for each power of two, are printed when the module goes.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/log2.h>

#define CLASSES 40

static char *function = "malloc";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "function whose first argument is a size");

static ulong min_size;
module_param_named(min, min_size, ulong, 0644);
MODULE_PARM_DESC(min, "sizes below this are not counted");

struct counts {
	unsigned long calls[CLASSES];
};

static DEFINE_PER_CPU(struct counts, counts);

/* Sizes from 2^(n-1) to 2^n - 1 are class n; 0 is class 0. */
static int class_of(unsigned long size)
{
	return size ? min(ilog2(size) + 1, CLASSES - 1) : 0;
}

static int __kprobes count_size(struct kprobe *p, struct pt_regs *regs)
{
	unsigned long size = regs_get_kernel_argument(regs, 0);

	if (size >= min_size)
		this_cpu_inc(counts.calls[class_of(size)]);
	return 0;
}

static struct kprobe probe = {
	.pre_handler = count_size,
};

static int __init sizes_init(void)
{
	int err;

	probe.symbol_name = function;
	err = register_kprobe(&probe);
	if (err)
		pr_err("no probe on %s: %d\n", function, err);
	else
		pr_info("counting %s at %pS\n", function, probe.addr);
	return err;
}

static void __exit sizes_exit(void)
{
	unsigned long total;
	int class, cpu;

	unregister_kprobe(&probe);
	for (class = 0; class < CLASSES; class ++) {
		total = 0;
		for_each_possible_cpu(cpu)
			total += per_cpu(counts, cpu).calls[class];
		if (total)
			pr_info("%s(< %lu): %lu\n", function, 1UL << class,
				total);
	}
	if (probe.nmissed)
		pr_warn("%lu calls were missed\n", probe.nmissed);
}

module_init(sizes_init);
module_exit(sizes_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Sizes that a program allocates");
