// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * victim_test: a module whose functions are probed from outside.
 *
 *     insmod dpvictim.ko calls=3 fails=1      its init calls dpvictim_work() so often, and fails
 *     /sys/module/dpvictim/parameters/work    a number is written: so many calls
 *     /sys/module/dpvictim/parameters/rest    a number is written: a call that sleeps so many ms, and one to work
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/string.h>

unsigned long dpvictim_work(unsigned long a);
noinline unsigned long dpvictim_work(unsigned long a)
{
	barrier();
	return a * 3 + 1;
}
EXPORT_SYMBOL_GPL(dpvictim_work);

unsigned long dpvictim_rest(unsigned int ms);
noinline unsigned long dpvictim_rest(unsigned int ms)
{
	msleep(ms);
	return ms * 2 + 1;
}

static unsigned int calls;
module_param(calls, uint, 0);
static bool fails;
module_param(fails, bool, 0);

/* By each call of dpvictim_work() once */
static unsigned long dpvictim_written;

static int work(unsigned int n)
{
	int wrong = 0;

	while (n--) {
		WRITE_ONCE(dpvictim_written, n);
		wrong |= dpvictim_work(n) != n * 3ul + 1;
	}
	return wrong ? -EILSEQ : 0;
}

static int set_work(const char *value, const struct kernel_param *unused)
{
	unsigned int n;

	return kstrtouint(value, 0, &n) ?: work(n);
}

#define BYTES 16
static u8 dpvictim_built[BYTES];

/* When the module goes, what others have written into its text is taken out. Return: whether it is */
static bool dpvictim_is_built(void)
{
	unsigned int i;

	for (i = 0; i < 500 && memcmp(dpvictim_built, dpvictim_work, BYTES);
	     i++)
		msleep(10);
	return i < 500;
}

/* The kernel keeps the module's text, not the module, for those who are in here. */
static int set_rest(const char *value, const struct kernel_param *unused)
{
	unsigned int ms;
	int err = kstrtouint(value, 0, &ms);

	if (!err && dpvictim_rest(ms) != ms * 2ul + 1)
		err = -EILSEQ;
	if (!err && READ_ONCE(THIS_MODULE->state) == MODULE_STATE_GOING &&
	    !dpvictim_is_built())
		err = -EUCLEAN;
	return err ?: work(1);
}

static const struct kernel_param_ops work_ops = { .set = set_work },
				     rest_ops = { .set = set_rest };
module_param_cb(work, &work_ops, NULL, 0200);
module_param_cb(rest, &rest_ops, NULL, 0200);

static noinline int __init dpvictim_first(unsigned int n)
{
	barrier();
	return work(n);
}

static int __init begin(void)
{
	memcpy(dpvictim_built, dpvictim_work, BYTES);
	return dpvictim_first(calls) ?: fails ? -ENODEV : 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Is probed");
MODULE_LICENSE("Dual BSD/GPL");
