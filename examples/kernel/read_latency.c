// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * read_latency: how long a function of the kernel's takes, by powers of two of nanoseconds.
 *
 *     insmod read_latency.ko [function=vfs_read]
 *     cat /sys/module/read_latency/parameters/histogram
 *
 *          from ns      calls
 *              512         31  *************
 *             1024         94  ****************************************
 *
 * A return probe keeps the time of the entry in the data of the call, so calls may sleep, change
 * their CPU, and call themselves.
 */
#include <dprobes/kprobes.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>

#define BINS 40
#define BAR 40

static char function[64] = "vfs_read";
module_param_string(function, function, sizeof(function), 0444);
MODULE_PARM_DESC(function, "whose calls are measured");

static DEFINE_PER_CPU(u64[BINS], counts);

/* Handlers may run in any context: no lock is taken. */
static int enter(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	*(u64 *)ri->data = ktime_get_mono_fast_ns();
	return 0;
}

static int leave(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	u64 took = ktime_get_mono_fast_ns() - *(u64 *)ri->data;

	this_cpu_inc(counts[min_t(u32, ilog2(took | 1), BINS - 1)]);
	return 0;
}

static struct dp_kretprobe probe = {
	.kp.symbol_name = function,
	.entry_handler = enter,
	.handler = leave,
	.data_size = sizeof(u64),
	.maxactive = 256,
};

static u64 sum_of(unsigned int bin)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) sum += READ_ONCE(per_cpu(counts, cpu)[bin]);
	return sum;
}

static int show(char *to, const struct kernel_param *unused)
{
	static const char stars[] = "****************************************";
	u64 sums[BINS], most = 1;
	unsigned int i;
	int n;

	for (i = 0; i < BINS; i++) {
		sums[i] = sum_of(i);
		most = max(most, sums[i]);
	}
	n = scnprintf(to, PAGE_SIZE, "%12s %10s\n", "from ns", "calls");
	for (i = 0; i < BINS; i++)
		if (sums[i])
			n += scnprintf(to + n, PAGE_SIZE - n,
				       "%12llu %10llu  %.*s\n", 1ull << i,
				       sums[i], (int)(sums[i] * BAR / most),
				       stars);
	if (probe.nmissed)
		n += scnprintf(to + n, PAGE_SIZE - n, "%d calls missed\n",
			       probe.nmissed);
	return n;
}

static const struct kernel_param_ops shown = { .get = show };
module_param_cb(histogram, &shown, NULL, 0444);

static int __init begin(void)
{
	return dp_register_kretprobe(&probe);
}

static void __exit end(void)
{
	dp_unregister_kretprobe(&probe);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A histogram of how long a function takes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
