// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * preempted_test: a thread that is preempted where bytes are about to change is waited for, but not for ever.
 *
 *     CPU 1:  a filler ─► preempted by a hog, which has the CPU for a while ─► goes on
 *     CPU 0:                  arm: a breakpoint, by which it is hit          ─► a jump
 *                             end ────────────────────────────────────────────► done
 *
 * A kernel that is not preempted (preempt=voluntary) has the hog run when the filler is elsewhere. There all CPUs
 * stop when the hog lets them.
 */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "port/kernel/compat.h"
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

/* Bytes: a fraction of a second's work for an emulator, in which its CPUs take turns of a tenth */
#define SIZE (1 << 20)
#define LARGE (1 << 24)
/* For so long, in jiffies; and until it is told to end, however slow all else is */
#define HOG (3 * HZ / 2)
#define LONG_HOG (20 * HZ)
/* Of another thread */
#define FEW 100

void dptest_fill(u8 *to, unsigned long bytes);
extern const u8 dptest_fill_site[];

static u8 *area;
static unsigned long fills, size = SIZE, hogs_for = HOG;
static bool hogs, ended, released;
static struct task_struct *hog_task;

static int fill(void *unused)
{
	unsigned long wrong = 0;

	while (!kthread_should_stop()) {
		unsigned long n = READ_ONCE(size);

		area[0] = area[n - 1] = area[n] = 0;
		dptest_fill(area, n);
		wrong += area[0] != 0x5a || area[n - 1] != 0x5a || area[n] != 0;
		WRITE_ONCE(fills, fills + 1);
		cond_resched_tasks_rcu_qs();
	}
	return wrong != 0;
}

static int hog(void *unused)
{
	unsigned long until = jiffies + READ_ONCE(hogs_for);

	WRITE_ONCE(hogs, true);
	while (time_before(jiffies, until) && !READ_ONCE(released))
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
	hogs = ended = released = false;
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

/* Until let_go(), where all CPUs stop without the hog's leave */
static void preempt_long(void)
{
	WRITE_ONCE(hogs_for, preempt_model_full() ? LONG_HOG : HOG);
	preempt();
	WRITE_ONCE(hogs_for, HOG);
}

static void let_go(void)
{
	WRITE_ONCE(released, true);
	kthread_stop(hog_task);
	await_fills();
}

/* Return: the site has become a jump. */
static bool await_jump(u32 probe)
{
	unsigned long until = jiffies + 5 * HZ;

	while (strcmp(dp_kmod_mode(probe), "jump") &&
	       time_before(jiffies, until))
		msleep(10);
	return !strcmp(dp_kmod_mode(probe), "jump");
}

/* Has a probe been armed as it is to be, while a thread is between its bytes? */
static bool is_armed(u32 probe)
{
	bool late = !READ_ONCE(ended), is;
	u8 few[2] = { 0 };
	u32 i;

	is = !strcmp(dp_kmod_mode(probe), late ? "trap" : "jump") &&
	     (!late || strstr(dp_kmod_reason(probe), "tried again"));
	for (i = 0; i < FEW; i++)
		dptest_fill(few, 1);
	/* The filler is where it was. */
	if (!READ_ONCE(ended))
		is &= dp_kmod_hits(probe) == FEW;
	return is && late == preempt_model_full() &&
	       dp_kmod_hits(probe) >= FEW && few[0] == 0x5a && !few[1];
}

static void sessions(void)
{
	bool early, armed;
	u32 probe;
	u64 bad;
	int err;

	preempt_long();
	err = dp_kmod_begin(DP_KMOD_JUMP);
	err = err ?: dp_kmod_add((u64)dptest_fill_site, &probe, NULL);
	err = err ?: dp_kmod_commit(&bad);
	armed = !err && is_armed(probe);
	check(armed,
	      "a breakpoint is where a thread is between a jump's bytes, and is hit (%d, %d, %s %s)\n",
	      err, READ_ONCE(ended), dp_kmod_mode(probe),
	      dp_kmod_reason(probe));
	let_go();
	armed = !err && await_jump(probe);
	check(armed && dp_kmod_hits(probe) > FEW,
	      "which goes on, and the jump comes\n");
	preempt();
	early = READ_ONCE(ended);
	err = dp_kmod_end();
	check(!err && !early && READ_ONCE(ended),
	      "the end waits for a thread in a copy (%d, %d)\n", err, early);
	let_go();
}

/* All CPUs stop nearly always when the filler is inside. It leaves before the last try, and does not come inside again. */
static void short_stays(void)
{
	unsigned int i, late = 0;
	u32 probe;
	u64 bad;
	int err = 0;

	WRITE_ONCE(size, LARGE);
	await_fills();
	for (i = 0; i < 10 && !err; i++) {
		err = dp_kmod_begin(DP_KMOD_JUMP);
		err = err ?: dp_kmod_add((u64)dptest_fill_site, &probe, NULL);
		err = err ?: dp_kmod_commit(&bad);
		late += err || strcmp(dp_kmod_mode(probe), "jump");
		await_fills();
		err = err ?: dp_kmod_end();
	}
	WRITE_ONCE(size, SIZE);
	await_fills();
	check(!err && !late,
	      "a jump waits for a thread that leaves soon (%d, %u of 10)\n",
	      err, late);
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
	let_go();
}

static void nothing(struct dp_kprobe *p, struct pt_regs *regs,
		    unsigned long flags)
{
}

/* The copy of one instruction leads back to the next one, which a jump is to displace. */
static void copies(void)
{
	struct dp_kprobe p = { .addr = (u8 *)dptest_fill_site,
			       .offset = 1,
			       .pre_handler = before },
			 q = { .addr = (u8 *)dptest_fill_site,
			       .offset = 1,
			       .post_handler = nothing };
	int err = dp_register_kprobe(&p);
	unsigned long until;
	bool late;

	err = err ?: dp_register_kprobe(&q);
	preempt_long();
	dp_unregister_kprobe(&q);
	late = !READ_ONCE(ended);
	check(!err && late == preempt_model_full() &&
		      dp_kprobe_optimized(&p) == !late,
	      "a jump waits for a thread whose copy leads between its bytes (%d, %d, %d)\n",
	      err, late, dp_kprobe_optimized(&p));
	let_go();
	until = jiffies + 5 * HZ;
	while (!dp_kprobe_optimized(&p) && time_before(jiffies, until))
		msleep(10);
	check(dp_kprobe_optimized(&p), "and comes\n");
	dp_unregister_kprobe(&p);
}

/* The last probe goes while a thread is in its copy, for longer than who takes it away waits. */
static void others(void)
{
	struct dp_kprobe p = { .addr = (u8 *)dptest_fill_site,
			       .pre_handler = before },
			 q = { .symbol_name = "gcd", .pre_handler = before };
	bool early, second;
	int err = dp_register_kprobe(&p);

	preempt_long();
	dp_unregister_kprobe(&p);
	early = !READ_ONCE(ended);
	err = err ?: dp_register_kprobe(&q);
	second = !READ_ONCE(ended);
	/* Where no thread is preempted in a copy, its end waits for the hog, or not. */
	check(!err && ((early && second) || !preempt_model_full()),
	      "nobody waits long for a thread that is in a copy (%d, %d, %d)\n",
	      err, early, second);
	let_go();
	dp_unregister_kprobe(&q);
}

static int __init begin(void)
{
	struct task_struct *task;
	u8 was[16];

	memcpy(was, dptest_fill, sizeof(was));
	area = vzalloc(LARGE + 1);
	task = area ? make(fill) : NULL;
	if (!task || set_cpus_allowed_ptr(current, cpumask_of(0)))
		return -ENOMEM;
	wake_up_process(task);
	sessions();
	short_stays();
	hits();
	copies();
	others();
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
