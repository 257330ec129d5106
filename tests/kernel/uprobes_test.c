// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobes_test: handlers of a module at code of the guest's first program, in all processes.
 *
 * They sleep, read the task's memory and change its registers. user_module_init.c makes the hits, and reads what is
 * counted here.
 */
#include <dprobes/uprobes.h>
#include "tests/kernel/test.h"
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define PATH "/init"
/* Arguments that mean something: other registers, another place, a handler that takes long */
#define CHANGES 7777
#define STRAYS 7778
#define SLEEPS 7779
#define CHANGED 1
#define NAP_MS 400

/* Where dp_user_step() and its second instruction are, and one that cannot be probed */
static unsigned long step, lea, bad;
module_param(step, ulong, 0400);
module_param(lea, ulong, 0400);
module_param(bad, ulong, 0400);
/* Go without unregistering */
static bool leaves;
module_param(leaves, bool, 0400);

static unsigned int hits, seconds, wrong, inside;
module_param(hits, uint, 0400);
module_param(seconds, uint, 0400);
module_param(wrong, uint, 0400);
module_param(inside, uint, 0400);

static atomic_t counted[3];

static void publish(void)
{
	hits = atomic_read(&counted[0]);
	seconds = atomic_read(&counted[1]);
	wrong = atomic_read(&counted[2]);
}

static bool is_right(struct pt_regs *regs)
{
	char text[sizeof("stepping")];

	return user_mode(regs) && in_task() && !irqs_disabled() &&
	       !copy_from_user(text, (void __user *)regs->si, sizeof(text)) &&
	       !strcmp(text, "stepping");
}

static void stepped(struct dp_uprobe *u, struct pt_regs *regs)
{
	atomic_inc(&counted[0]);
	if (!is_right(regs))
		atomic_inc(&counted[2]);
	if (regs->di == CHANGES)
		regs->di = CHANGED;
	if (regs->di == STRAYS)
		regs->ip = 0;
	if (regs->di % 64 == 0)
		usleep_range(100, 200);
	if (regs->di == SLEEPS) {
		WRITE_ONCE(inside, 1);
		msleep(NAP_MS);
		WRITE_ONCE(inside, 2);
	}
	publish();
}

static void second(struct dp_uprobe *u, struct pt_regs *regs)
{
	atomic_inc(&counted[1]);
	publish();
}

static struct dp_uprobe probes[] = {
	{ .path = PATH, .handler = stepped },
	{ .path = PATH, .handler = second },
	{ .path = PATH, .handler = second },
};

static int registered(struct dp_uprobe u)
{
	static struct dp_uprobe tried;
	int err;

	tried = u;
	err = dp_register_uprobe(&tried);
	dp_unregister_uprobe(&tried);
	return err;
}

static void refusals(void)
{
	struct dp_uprobe *list[] = { &probes[0], &probes[1] };

	check(registered((struct dp_uprobe){ .path = PATH, .offset = step }) ==
			      -EINVAL &&
		      registered((struct dp_uprobe){
			      .handler = second, .offset = step }) == -EINVAL,
	      "a uprobe has a handler and a file\n");
	check(registered((struct dp_uprobe){ .path = "/nothing",
					     .handler = second,
					     .offset = step }) == -ENOENT,
	      "a uprobe's file is there\n");
	check(registered((struct dp_uprobe){ .path = "/",
					     .handler = second,
					     .offset = step }) == -EINVAL,
	      "a uprobe's file is a regular one\n");
	check(registered((struct dp_uprobe){ .path = PATH,
					     .handler = second,
					     .offset = bad }) == -EINVAL,
	      "a breakpoint has no uprobe\n");
	probes[1].offset = bad;
	check(dp_register_uprobes(list, 2) == -EINVAL && !probes[0].dp_entry &&
		      !dp_register_uprobe(&probes[0]) &&
		      dp_register_uprobe(&probes[0]) == -EEXIST,
	      "all uprobes of a list are registered, or none\n");
	dp_unregister_uprobe(&probes[0]);
	dp_unregister_uprobe(&probes[0]);
	check(!probes[0].dp_entry, "a uprobe is unregistered once\n");
}

static int __init begin(void)
{
	struct dp_uprobe *list[] = { &probes[0], &probes[1], &probes[2] };
	int err;

	probes[0].offset = step;
	refusals();
	probes[1].offset = step;
	probes[2].offset = lea;
	err = dp_register_uprobes(list, 3);
	check(!err, "uprobes are registered (%d)\n", err);
	return err;
}

static void __exit end(void)
{
	struct dp_uprobe *list[] = { &probes[2], &probes[1], &probes[0] };

	if (!leaves)
		dp_unregister_uprobes(list, 3);
	pr_info("dptest: done\n");
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests uprobes of modules");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
