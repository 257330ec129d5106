// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* external_test: functions that programs in the kernel call: external_init.c */
#include <dprobes/kernel/external.h>
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

/* See external_init.c */
#define MIX 3
#define COUNT 255
#define LEFT 7

static bool leaves;
module_param(leaves, bool, 0444);
static unsigned int calls, wrong;
module_param(calls, uint, 0444);
module_param(wrong, uint, 0444);

static atomic_t counted;

/* Of six, each is at its place. */
static unsigned long mix(void *ctx, const unsigned long *args)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < DP_EXTERNAL_ARGUMENTS; i++)
		sum = sum * 10 + args[i];
	if (ctx != &counted)
		wrong++;
	return sum;
}

static unsigned long count(void *ctx, const unsigned long *args)
{
	calls = (unsigned int)atomic_inc_return(ctx);
	return calls;
}

static int check(int err, int want)
{
	wrong += err != want;
	return err;
}

static int external_begin(void)
{
	check(dp_external_register(256, mix, NULL, 0), -EINVAL);
	check(dp_external_register(0, NULL, NULL, 0), -EINVAL);
	check(dp_external_register(0, mix, NULL, 7), -EINVAL);
	check(dp_external_unregister(MIX), -ENOENT);
	check(dp_external_register(MIX, mix, &counted, 6), 0);
	check(dp_external_register(MIX, count, &counted, 0), -EBUSY);
	check(dp_external_register(COUNT, count, &counted, 0), 0);
	check(dp_external_register(LEFT, count, &counted, 0), 0);
	check(dp_external_unregister(LEFT), 0);
	check(dp_external_register(LEFT, count, &counted, 0), 0);
	return 0;
}

/* What is left is dprobes.ko's matter. */
static void external_end(void)
{
	if (leaves)
		return;
	dp_external_unregister(LEFT);
	dp_external_unregister(COUNT);
	dp_external_unregister(MIX);
}

module_init(external_begin);
module_exit(external_end);
MODULE_IMPORT_NS(DPROBES);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("Functions that programs call");
