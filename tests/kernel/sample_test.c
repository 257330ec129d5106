// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* sample_test: a module for the kernel's own probes, as its samples are. It knows of no others. */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/timekeeping.h>

#define MAX_SYMBOL_LEN 64
#define CALLS 1000

static char symbol[MAX_SYMBOL_LEN] = "dpsample_work";
module_param_string(symbol, symbol, sizeof(symbol), 0644);

static unsigned long before, after, sums[4], wrong;

static struct kprobe kp = {
	.symbol_name = symbol,
};

static int handler_pre(struct kprobe *p, struct pt_regs *regs)
{
	before++;
	sums[0] += regs->di;
	sums[1] += regs->si;
	sums[2] += regs->dx;
	sums[3] += regs->cx;
	wrong += p != &kp || kprobe_disabled(p) ||
		 regs->ip - (unsigned long)p->addr > 5;
	return 0;
}

static void handler_post(struct kprobe *p, struct pt_regs *regs,
			 unsigned long flags)
{
	after++;
	wrong += p != &kp || flags;
}

noinline unsigned long dpsample_work(unsigned long a, unsigned long b,
				     unsigned long c, unsigned long d);
noinline unsigned long dpsample_work(unsigned long a, unsigned long b,
				     unsigned long c, unsigned long d)
{
	barrier();
	return a + b * 2 + c * 3 + d * 4;
}

static void __init call_it(void)
{
	unsigned long (*volatile call)(unsigned long, unsigned long,
				       unsigned long,
				       unsigned long) = dpsample_work;
	unsigned long i;

	for (i = 0; i < CALLS; i++)
		wrong += call(i, 1, i, 2) != 4 * i + 10;
}

static void __init work(void)
{
	unsigned long sum = CALLS * (CALLS - 1ul) / 2;

	call_it();
	pr_info("dptest: %s 0 - each call is seen (%lu, %lu)\n",
		before == CALLS && (after == CALLS || !kp.post_handler) ?
			"ok" :
			"not ok",
		before, after);
	pr_info("dptest: %s 0 - with its arguments (%lu %lu %lu %lu)\n",
		sums[0] == sum && sums[1] == CALLS && sums[2] == sum &&
				sums[3] == 2 * CALLS && !wrong ?
			"ok" :
			"not ok",
		sums[0], sums[1], sums[2], sums[3]);
	before = after = 0;
	memset(sums, 0, sizeof(sums));
}

/* How long a function takes */
struct my_data {
	u64 entry_stamp;
	unsigned long a;
};

static unsigned long returned;

static int entry_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct my_data *data = (struct my_data *)ri->data;

	data->entry_stamp = ktime_get_mono_fast_ns();
	data->a = regs->di;
	return 0;
}
NOKPROBE_SYMBOL(entry_handler);

static int ret_handler(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long retval = regs_return_value(regs);
	struct my_data *data = (struct my_data *)ri->data;

	returned++;
	wrong += retval != 4 * data->a + 10 ||
		 ktime_get_mono_fast_ns() < data->entry_stamp ||
		 !get_kretprobe(ri)->handler || !get_kretprobe_retaddr(ri);
	return 0;
}
NOKPROBE_SYMBOL(ret_handler);

static struct kretprobe my_kretprobe = {
	.handler = ret_handler,
	.entry_handler = entry_handler,
	.data_size = sizeof(struct my_data),
	/* Probe up to 20 instances concurrently. */
	.maxactive = 20,
};

static int __init kretprobe_init(void)
{
	int ret;

	my_kretprobe.kp.symbol_name = symbol;
	ret = register_kretprobe(&my_kretprobe);
	if (ret < 0)
		return ret;
	call_it();
	pr_info("dptest: %s 0 - each return is seen (%lu, %d missed)\n",
		returned == CALLS && !my_kretprobe.nmissed && !wrong ? "ok" :
								       "not ok",
		returned, my_kretprobe.nmissed);
	return 0;
}

static int __init kprobe_init(void)
{
	int ret;

	kp.pre_handler = handler_pre;
	ret = register_kprobe(&kp);
	if (ret < 0) {
		pr_err("register_kprobe failed, returned %d\n", ret);
		return ret;
	}
	pr_info("Planted kprobe at %p\n", kp.addr);
	work();
	unregister_kprobe(&kp);
	kp.addr = NULL;
	kp.flags = 0;
	kp.post_handler = handler_post;
	ret = register_kprobe(&kp);
	if (ret < 0)
		return ret;
	work();
	return kretprobe_init();
}

static void __exit kprobe_exit(void)
{
	unregister_kretprobe(&my_kretprobe);
	unregister_kprobe(&kp);
	pr_info("kprobe at %p unregistered\n", kp.addr);
	pr_info("dptest: done\n");
}

module_init(kprobe_init) module_exit(kprobe_exit)
	MODULE_DESCRIPTION("A sample for the kernel's probes");
MODULE_LICENSE("GPL");
