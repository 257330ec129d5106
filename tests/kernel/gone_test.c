// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gone_test: a probe on another module's function, which goes meanwhile and comes again. */
#include <dprobes/kprobes.h>
#include "tests/kernel/test.h"
#include <linux/module.h>

static unsigned long hits;
module_param(hits, ulong, 0400);

static int count(struct dp_kprobe *p, struct pt_regs *regs)
{
	hits++;
	return 0;
}

static int count_return(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	hits++;
	return 0;
}

/* Those that are left stay when this module goes. */
static struct dp_kprobe one = { .symbol_name = "dpvictim:dpvictim_work",
				.pre_handler = count },
			again = { .symbol_name = "dpvictim:dpvictim_work",
				  .pre_handler = count },
			left = { .symbol_name = "gcd", .pre_handler = count };

static struct dp_kretprobe returns = { .kp.symbol_name =
					       "dpvictim:dpvictim_work",
				       .handler = count_return };
static struct dp_kretprobe returns_left = { .kp.symbol_name = "gcd",
					    .handler = count_return };
static struct dp_jprobe jprobe_left = { .kp.symbol_name = "gcd",
					.entry = count_return };

/* The guest's first program calls it: 1 when the victim has gone, 2 when it is there again */
static int step(const char *value, const struct kernel_param *unused)
{
	unsigned long (*work)(unsigned long);

	switch (*value) {
	case '1':
		check(dp_kprobe_gone(&one) && dp_kprobe_gone(&returns.kp) &&
			      dp_kprobe_disabled(&one) && hits &&
			      dp_enable_kprobe(&one) == -EINVAL &&
			      !dp_disable_kprobe(&one) &&
			      dp_register_kprobe(&one) == -EINVAL,
		      "a module with a probe goes (%lu)\n", hits);
		break;
	case '2':
		work = (void *)__symbol_get("dpvictim_work");
		hits = 0;
		check(!dp_register_kprobe(&again) && work && work(3) == 10 &&
			      hits == 1,
		      "it comes again, with another probe (%lu)\n", hits);
		__symbol_put("dpvictim_work");
		dp_unregister_kprobe(&one);
		dp_unregister_kretprobe(&returns);
		dp_unregister_kprobe(&again);
		check(one.addr && dp_kprobe_gone(&one) &&
			      dp_disable_kprobe(&one) == -EINVAL &&
			      !dp_register_kprobe(&left) &&
			      !dp_register_kretprobe(&returns_left) &&
			      !dp_register_jprobe(&jprobe_left),
		      "and the one that was gone is unregistered\n");
		pr_info("dptest: done\n");
		break;
	}
	return 0;
}

static const struct kernel_param_ops ops = { .set = step };
module_param_cb(step, &ops, NULL, 0200);

static int __init begin(void)
{
	unsigned long (*work)(unsigned long) =
		(void *)__symbol_get("dpvictim_work");
	int err = dp_register_kprobe(&one);

	err = err ?: dp_register_kretprobe(&returns);
	check(!err && work && work(3) == 10 && hits == 2,
	      "a probe is on a module's function (%d)\n", err);
	if (work)
		__symbol_put("dpvictim_work");
	return err;
}

/* Probes of its are left: dprobes.ko takes them away. */
static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests probes whose code goes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
