// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hooked_test: a module with hooks in its code.
 *
 *     insmod dphooked.ko    /sys/module/dphooked/parameters/run: a number is written: so many passes
 *                           sum, evaluated: what these have come to
 */
#include <dprobes/kernel/hooks.h>
#include <linux/module.h>

DECLARE_HOOK(dptest_step, unsigned int, unsigned long);
DECLARE_WRITABLE_HOOK(dptest_change, unsigned long);
DECLARE_EXCLUSIVE_HOOK(dptest_alone, int);
DECLARE_HOOK(dptest_end, long);

static struct gkh_hook *const all[] = { GKH_HOOK(dptest_step),
					GKH_HOOK(dptest_change),
					GKH_HOOK(dptest_alone),
					GKH_HOOK(dptest_end) };

static unsigned long sum, evaluated;
module_param(sum, ulong, 0400);
module_param(evaluated, ulong, 0400);

static noinline long end_of(long value)
{
	HOOK_RET(dptest_end, value);
	return value;
}

static noinline void pass(unsigned int i)
{
	unsigned long value = i;

	HOOK(dptest_step, i, (evaluated++, 2ul * i));
	HOOK(dptest_change, &value);
	HOOK(dptest_alone, (int)i);
	sum += (unsigned long)end_of((long)value);
}

/* Return: what the passes add up to */
unsigned long dptest_run(unsigned int n);
unsigned long dptest_run(unsigned int n)
{
	unsigned int i;

	sum = 0;
	for (i = 0; i < n; i++)
		pass(i);
	return sum;
}
EXPORT_SYMBOL_GPL(dptest_run);

static int set_run(const char *value, const struct kernel_param *unused)
{
	unsigned int n;
	int err = kstrtouint(value, 0, &n);

	if (!err)
		dptest_run(n);
	return err;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init begin(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(all) && !err; i++)
		err = gkh_identify(all[i]);
	return err;
}

/* dprobes.ko deletes the hooks. */
static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Has hooks");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
