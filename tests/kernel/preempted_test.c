// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * preempted_test: a thread that is preempted where bytes are about to change is waited for.
 *
 *     CPU 1:  a filler ─► preempted by a hog, which has the CPU for a while ─► goes on
 *     CPU 0:                  arm, or end ─────────────────────────────────────► done
 */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "tests/kernel/test.h"
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define SIZE (1 << 20)
#define HOG (HZ / 2)

void dptest_fill(u8 *to, unsigned long bytes);
extern const u8 dptest_fill_site[];

static u8 *area;
static unsigned long fills;
static bool hogs, ended;
static struct task_struct *hog_task;

static int fill(void *unused)
{
	unsigned long wrong = 0;

	while (!kthread_should_stop()) {
		area[0] = area[SIZE - 1] = 0;
		dptest_fill(area, SIZE);
		wrong += area[0] != 0x5a || area[SIZE - 1] != 0x5a ||
			 area[SIZE] != 0;
		WRITE_ONCE(fills, fills + 1);
		cond_resched_tasks_rcu_qs();
	}
	return wrong != 0;
}

static int hog(void *unused)
{
	unsigned long until = jiffies + HOG;

	WRITE_ONCE(hogs, true);
	while (time_before(jiffies, until))
		cpu_relax();
	WRITE_ONCE(ended, true);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static struct task_struct *make(int (*function)(void *))
{
	struct task_struct *task =
		kthread_create(function, NULL, "dptest/preempted");

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, 1);
	return task;
}

static void make_hog(void)
{
	hogs = ended = false;
	hog_task = make(hog);
	if (hog_task)
		sched_set_fifo(hog_task);
}

static void await(const bool *word)
{
	unsigned long until = jiffies + 5 * HZ;

	while (!READ_ONCE(*word) && time_before(jiffies, until))
		msleep(1);
}

static void await_fills(void)
{
	unsigned long was = READ_ONCE(fills), until = jiffies + 5 * HZ;

	while (READ_ONCE(fills) < was + 2 && time_before(jiffies, until))
		msleep(1);
}

/* The filler is in the middle of it now. */
static void preempt(void)
{
	await_fills();
	make_hog();
	wake_up_process(hog_task);
	await(&hogs);
}

static void sessions(void)
{
	bool early;
	u32 probe;
	u64 bad;
	int err;

	preempt();
	err = dp_kmod_begin(DP_KMOD_JUMP);
	err = err ?: dp_kmod_add((u64)dptest_fill_site, &probe, NULL);
	early = READ_ONCE(ended);
	err = err ?: dp_kmod_commit(&bad);
	check(!err && !early && READ_ONCE(ended) &&
		      !strcmp(dp_kmod_mode(probe), "jump"),
	      "a jump waits for a thread between its bytes (%d, %d, %d, %s %s)\n",
	      err, early, READ_ONCE(ended), dp_kmod_mode(probe),
	      dp_kmod_reason(probe));
	kthread_stop(hog_task);
	await_fills();
	check(dp_kmod_hits(probe), "which goes on, and comes by the jump\n");
	preempt();
	early = READ_ONCE(ended);
	err = dp_kmod_end();
	check(!err && !early && READ_ONCE(ended),
	      "the end waits for a thread in a copy (%d, %d)\n", err, early);
	kthread_stop(hog_task);
	await_fills();
}

static bool wakes;

static void wake(struct irq_work *work)
{
	wake_up_process(hog_task);
}
static DEFINE_IRQ_WORK(waking, wake);

/* The interrupt comes when the handler has returned, or while preemption is off. */
static int before(struct dp_kprobe *p, struct pt_regs *regs)
{
	if (READ_ONCE(wakes)) {
		WRITE_ONCE(wakes, false);
		irq_work_queue(&waking);
	}
	return 0;
}

static void hits(void)
{
	struct dp_kprobe p = { .addr = (u8 *)dptest_fill_site,
			       .pre_handler = before };
	int err = dp_register_kprobe(&p);
	bool early;

	make_hog();
	WRITE_ONCE(wakes, true);
	await(&hogs);
	early = READ_ONCE(ended);
	dp_unregister_kprobe(&p);
	check(!err && !early && READ_ONCE(ended),
	      "the end waits for a thread that is preempted as its hit ends (%d, %d)\n",
	      err, early);
	irq_work_sync(&waking);
	kthread_stop(hog_task);
	await_fills();
}

static int __init begin(void)
{
	struct task_struct *task;
	u8 was[16];

	memcpy(was, dptest_fill, sizeof(was));
	area = vzalloc(SIZE + 1);
	task = area ? make(fill) : NULL;
	if (!task || set_cpus_allowed_ptr(current, cpumask_of(0)))
		return -ENOMEM;
	wake_up_process(task);
	sessions();
	hits();
	check(!kthread_stop(task) && !memcmp(was, dptest_fill, sizeof(was)),
	      "all has been filled, and the text is what it was\n");
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	vfree(area);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests probes on what is preempted");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
