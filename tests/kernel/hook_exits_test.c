// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hook_exits_test: exits at the hooks of another module, dphooked.ko.
 *
 *     insmod dphookexits.ko          all tests; exits are left armed
 *     insmod dphookexits.ko stay=1   only leaves them: calls, deleted: how often they were called, and orphaned
 */
#include <dprobes/kernel/hooks.h>
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#define PASSES 10
#define CYCLES 50

USE_HOOK(dptest_step, unsigned int, unsigned long);
USE_WRITABLE_HOOK(dptest_change, unsigned long);

static unsigned long (*run)(unsigned int n);

static unsigned long calls, deleted, wrong;
module_param(calls, ulong, 0400);
module_param(deleted, ulong, 0400);

static int count(struct gkh_hook *h, struct gkh_args *a, unsigned int i,
		 unsigned long twice)
{
	calls++;
	wrong += twice != 2ul * i || a->writable || a->count != 2 ||
		 strcmp(h->name, "dptest_step") || preemptible();
	return GKH_CONTINUE;
}
GKH_EXIT(count_exit, dptest_step, count);

static int change(struct gkh_hook *h, struct gkh_args *a, unsigned long *value)
{
	*value += 100;
	return GKH_CONTINUE;
}
GKH_EXIT(change_exit, dptest_change, change);

static char order[16];

/* Its name's first letter */
static int say_order(struct gkh_hook *h, struct gkh_args *a)
{
	size_t n = strlen(order);

	if (n + 1 < sizeof(order))
		order[n] = *a->rec->exit_name;
	return *a->rec->exit_name == 'T' ? GKH_TERMINATE : GKH_CONTINUE;
}

static int return_value(struct gkh_hook *h, struct gkh_args *a)
{
	*a->ret = 7;
	return GKH_RETURN;
}

static int look_at_interrupts(struct gkh_hook *h, struct gkh_args *a)
{
	calls++;
	wrong += !irqs_disabled();
	return GKH_CONTINUE;
}

static int disarm_itself(struct gkh_hook *h, struct gkh_args *a)
{
	calls++;
	a->rec->flags &= ~(u32)GKH_ARMED;
	return GKH_CONTINUE;
}

static struct gkh_rec other = { .hook_name = "dptest_step", .exit = say_order };

static int ask_inside(struct gkh_hook *h, struct gkh_args *a)
{
	calls++;
	wrong += gkh_register(&other) != -EAGAIN ||
		 gkh_arm(&other) != -EAGAIN || gkh_identify(h) != -EAGAIN ||
		 gkh_find(h->name) || gkh_deregister(a->rec) != GKH_DEFERRED;
	return GKH_CONTINUE;
}

static void refuses(void)
{
	struct gkh_rec none = { .hook_name = "no_such", .exit = say_order },
		       nothing = { .hook_name = "dptest_step" },
		       much = { .hook_name = "dptest_step",
				.exit = say_order,
				.count = 3 },
		       stops = { .hook_name = "dptest_step",
				 .exit = say_order,
				 .flags = GKH_STOP_CPUS },
		       odd = { .hook_name = "dptest_step",
			       .exit = say_order,
			       .flags = 0x1000 },
		       good = { .hook_name = "dptest_step",
				.exit = say_order,
				.next = &none };

	check(gkh_register(&none) == -ENOENT &&
		      gkh_register(&nothing) == -EINVAL &&
		      gkh_register(&much) == -EINVAL &&
		      gkh_register(&odd) == -EINVAL &&
		      gkh_register(&stops) == -EOPNOTSUPP,
	      "refused: exits that cannot be\n");
	check(gkh_register(&good) == -ENOENT && gkh_arm(&good) == -EINVAL,
	      "a chain is all or nothing\n");
	good.next = NULL;
	check(!gkh_register(&good) && gkh_register(&good) == -EEXIST &&
		      !gkh_deregister(&good) &&
		      gkh_deregister(&good) == -EINVAL &&
		      gkh_disarm(&good) == -EINVAL,
	      "an exit is registered once\n");
	check(gkh_identify(gkh_find("dptest_step")) == -EEXIST &&
		      gkh_identify(NULL) == -EINVAL &&
		      gkh_delete(NULL, false) == -ENOENT,
	      "and so is a hook\n");
}

static void are_called(void)
{
	struct gkh_rec step = { .hook_name = "dptest_step",
				.exit = count_exit,
				.count = GKH_COUNT(dptest_step) },
		       also = { .hook_name = "dptest_change",
				.exit = change_exit,
				.count = GKH_COUNT(dptest_change) };
	struct gkh_hook *hook = gkh_find("dptest_step");
	unsigned long hits = gkh_hits(hook), plain;
	int err;

	step.next = &also;
	calls = wrong = 0;
	check(hook && !gkh_register(&step) && run(PASSES) == 45 && !calls &&
		      gkh_hits(hook) == hits && !hook->active,
	      "what is not armed is not called\n");
	err = gkh_arm(&step);
	plain = run(PASSES);
	check(!err && hook->active && plain == 45 + 100 * PASSES &&
		      calls == PASSES && !wrong &&
		      gkh_hits(hook) == hits + PASSES,
	      "what is armed is, with the values (%lu, %lu wrong)\n", calls,
	      wrong);
	plain = !gkh_disarm(&step) ? run(PASSES) : 0;
	check(plain == 45 && calls == PASSES && !hook->active &&
		      gkh_hits(hook) == hits + PASSES,
	      "and is not when it has been disarmed\n");
	check(!gkh_deregister(&step), "nor registered any more\n");
}

static void are_ordered(void)
{
	struct gkh_rec rec[6] = {
		{ .exit_name = "a", .flags = GKH_ARMED },
		{ .exit_name = "z", .flags = GKH_LAST },
		{ .exit_name = "f", .flags = GKH_FIRST },
		{ .exit_name = "l", .flags = GKH_LIFO },
		{ .exit_name = "m", .flags = GKH_LIFO },
		{ .exit_name = "b" },
	};
	struct gkh_rec second = { .hook_name = "dptest_step",
				  .exit = say_order,
				  .flags = GKH_FIRST };
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(rec); i++) {
		rec[i].hook_name = "dptest_step";
		rec[i].exit = say_order;
		rec[i].next = i + 1 < ARRAY_SIZE(rec) ? &rec[i + 1] : NULL;
	}
	memset(order, 0, sizeof(order));
	err = gkh_register(rec);
	run(1);
	check(!err && !*order && gkh_register(&second) == -EBUSY,
	      "who registers is not armed by that\n");
	err = err ?: gkh_arm(rec);
	run(1);
	check(!err && !strcmp(order, "fmlabz") && rec[2].index == 1 &&
		      rec[1].index == 6,
	      "exits have an order (%s)\n", order);
	memset(order, 0, sizeof(order));
	rec[4].exit_name = "T";
	run(1);
	check(!strcmp(order, "fT"), "and one may end it (%s)\n", order);
	check(!gkh_deregister(rec), "all go at once\n");
}

static void have_conditions(void)
{
	struct gkh_rec ret = { .hook_name = "dptest_end",
			       .exit = return_value },
		       one = { .hook_name = "dptest_alone",
			       .exit = look_at_interrupts,
			       .flags = GKH_DISABLE_IRQS },
		       two = { .hook_name = "dptest_alone", .exit = say_order };
	int err = gkh_register(&ret) ?: gkh_arm(&ret);

	check(!err && run(PASSES) == 7 * PASSES && !gkh_deregister(&ret),
	      "an exit has the function return\n");
	calls = wrong = 0;
	err = gkh_register(&one) ?: gkh_arm(&one);
	run(PASSES);
	check(!err && calls == PASSES && !wrong &&
		      gkh_register(&two) == -EBUSY && !gkh_deregister(&one),
	      "interrupts are off where that is asked for, and a hook may have one exit\n");
}

static void end_inside(void)
{
	struct gkh_rec itself = { .hook_name = "dptest_step",
				  .exit = disarm_itself },
		       asks = { .hook_name = "dptest_step",
				.exit = ask_inside };
	struct gkh_hook *hook = gkh_find("dptest_step");
	unsigned int i;
	int err = gkh_register(&itself) ?: gkh_arm(&itself);

	calls = wrong = 0;
	run(PASSES);
	for (i = 0; i < 100 && hook->active; i++)
		msleep(10);
	check(!err && calls == 1 && !hook->active && !gkh_deregister(&itself),
	      "an exit disarms itself, and the hook is idle (%lu)\n", calls);
	calls = 0;
	err = gkh_register(&asks) ?: gkh_arm(&asks);
	run(PASSES);
	check(!err && calls == 1 && !wrong && !gkh_deregister(&asks) &&
		      gkh_deregister(&asks) == -EINVAL,
	      "inside, what would wait is deferred, or refused (%lu, %lu)\n",
	      calls, wrong);
}

static int pass_on(void *unused)
{
	while (!kthread_should_stop()) {
		run(PASSES);
		cond_resched();
	}
	return 0;
}

/* Exits come and go, and their memory is another's, while the other CPU runs through the hooks. */
static void race(void)
{
	struct task_struct *task =
		kthread_create(pass_on, NULL, "dptest/hooks");
	struct gkh_rec *rec;
	unsigned int i, failed = 0;

	calls = wrong = 0;
	kthread_bind(task, 1);
	wake_up_process(task);
	for (i = 0; i < CYCLES; i++) {
		rec = kzalloc(2 * sizeof(*rec), GFP_KERNEL);
		rec[0].hook_name = "dptest_step";
		rec[0].exit = count_exit;
		rec[0].next = &rec[1];
		rec[1].hook_name = "dptest_change";
		rec[1].exit = change_exit;
		failed += gkh_register(rec) || gkh_arm(rec);
		usleep_range(500, 1500);
		failed += (i & 1 && gkh_disarm(rec)) || gkh_deregister(rec);
		memset(rec, 0x5a, 2 * sizeof(*rec));
		kfree(rec);
	}
	kthread_stop(task);
	check(!failed && !wrong && calls,
	      "exits come and go while threads run through (%lu calls)\n",
	      calls);
}

static unsigned long told[4];

static void hear(enum gkh_event event, struct gkh_hook *h)
{
	told[event]++;
	/* It may call the interface. */
	wrong += (event == GKH_IDENTIFY || event == GKH_ACTIVATE) &&
		 gkh_find(h->name) != h;
}

static int nobody(struct gkh_hook *h, struct gkh_args *a)
{
	return GKH_CONTINUE;
}

static void forget(struct gkh_rec *rec)
{
	deleted++;
}

static void events(void)
{
	static struct gkh_hook made = { .name = "dptest_made",
					.dispatch = nobody };
	struct gkh_rec rec = { .hook_name = "dptest_made",
			       .exit = say_order,
			       .exit_name = "x",
			       .on_delete = forget };
	struct gkh_args a = { .count = 0 };
	int err = gkh_notify(hear) ?: gkh_identify(&made);

	wrong = deleted = 0;
	err = err ?: gkh_register(&rec) ?: gkh_arm(&rec);
	memset(order, 0, sizeof(order));
	if (!err && READ_ONCE(made.active))
		made.dispatch(&made, &a);
	check(!err && !strcmp(order, "x") && gkh_notify(hear) == -EEXIST,
	      "a hook that was made at run time\n");
	check(gkh_delete(&made, false) == -EBUSY && !gkh_delete(&made, true) &&
		      deleted == 1 && !rec.hook && rec.flags & GKH_DELETED &&
		      !(rec.flags & (GKH_ARMED | GKH_REGISTERED)) &&
		      !gkh_find("dptest_made"),
	      "goes by force, and its exits are told\n");
	check(!gkh_notify_end(hear) && gkh_notify_end(hear) == -ENOENT &&
		      told[GKH_IDENTIFY] == 1 && told[GKH_ACTIVATE] == 1 &&
		      told[GKH_DEACTIVATE] == 1 && told[GKH_DELETE] == 1 &&
		      !wrong,
	      "and those who listen (%lu %lu %lu %lu)\n", told[0], told[1],
	      told[2], told[3]);
}

static struct gkh_rec left = { .hook_name = "dptest_step",
			       .exit = count_exit,
			       .exit_name = "counting",
			       .proc_writable = true,
			       .on_delete = forget },
		      shut = { .hook_name = "dptest_step",
			       .exit = count_exit,
			       .exit_name = "shut" };

static bool stay;
module_param(stay, bool, 0);

static int __init begin(void)
{
	run = (void *)__symbol_get("dptest_run");
	if (!run)
		return -ENOENT;
	if (!stay) {
		refuses();
		are_called();
		are_ordered();
		have_conditions();
		end_inside();
		events();
		race();
	}
	calls = deleted = 0;
	check(!gkh_register(&left) && !gkh_arm(&left) && !gkh_register(&shut),
	      "exits are left\n");
	__symbol_put("dptest_run");
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Has exits at hooks");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
