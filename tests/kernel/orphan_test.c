// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* orphan_test: return probes on functions in which programs sleep and end, as long as this module is there. */
#include <dprobes/kprobes.h>
#include "tests/kernel/test.h"
#include <linux/module.h>

static atomic_t entered, returned;

static int enter(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&entered);
	return 0;
}

static int leave(struct dp_kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_inc(&returned);
	return 0;
}

static struct dp_kretprobe sleeps = { .kp.symbol_name = "hrtimer_nanosleep",
				      .entry_handler = enter,
				      .handler = leave },
			   ends = { .kp.symbol_name = "do_group_exit",
				    .entry_handler = enter,
				    .handler = leave,
				    .maxactive = 4 };

/* What is probed: "sleeps", or "ends" */
static bool is_end;
module_param_named(ends, is_end, bool, 0);

static struct dp_kretprobe *probe(void)
{
	return is_end ? &ends : &sleeps;
}

static int __init begin(void)
{
	int err = dp_register_kretprobe(probe());

	check(!err, "a return probe is there (%d)\n", err);
	return err;
}

static void __exit end(void)
{
	dp_unregister_kretprobe(probe());
	note("%d entered, %d returned, %d missed\n", atomic_read(&entered),
	     atomic_read(&returned), probe()->nmissed);
	if (is_end)
		check(atomic_read(&entered) == 15 && !atomic_read(&returned) &&
			      !probe()->nmissed,
		      "tasks that end inside leave their instances\n");
	else
		check(atomic_read(&entered) == 3 && atomic_read(&returned) == 1,
		      "of three sleepers one has returned\n");
	pr_info("dptest: done\n");
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests return probes that go before their calls do");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
