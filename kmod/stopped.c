// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stopped: text that is written while no CPU does anything else.
 *
 * Nothing can be mapped then. So what is to be written is mapped and noted first, as if it were
 * written, and all of it is copied at once:
 *
 *     the engine writes: a note each ─► stop_machine(): who is inside? copy the others, sync each CPU
 *                                          ▲                      │ a task is
 *                                          └── a few milliseconds ┘ a few times; then it is late: later.c
 *
 * The sites are breakpoints by then, whose hits go on in detours. So a task that is inside was preempted there
 * before, and leaves when it runs. A copy of a single instruction leads back to inside, too.
 * Nobody else writes text meanwhile, so what the engine has read stays true.
 */
#include "kmod/stopped.h"
#include "kmod/later.h"
#include "kmod/safe.h"
#include "kmod/tasks.h"
#include "engine/layout/base.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"
#include "port/kernel/text.h"
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include <asm/processor.h>
#include <asm/sync_core.h>

#define MOST 16
/* Milliseconds until it is tried again, and how often: others wait for the locks meanwhile. */
#define PACE 5
#define TRIES 10

/** struct write - to a site
 *  @copies: from which a task comes into its bytes
 *  @in: a task is there; @written: the bytes are in the text */
struct write {
	struct list_head list;
	struct dp_text_alias alias;
	struct dp_span copies[DP_COPIES];
	u64 addr;
	u8 bytes[MOST];
	u32 len;
	bool in, written;
};

/** struct notes - the target that the engine writes to meanwhile
 *  @left: how many are not written yet */
struct notes {
	struct dp_target target;
	struct dp_engine *engine;
	struct list_head writes;
	atomic_t cpus;
	bool done;
	u32 left;
};

static int read_text(struct dp_target *target, u64 addr, void *to, size_t len)
{
	return dp_kernel_text()->ops->read(dp_kernel_text(), addr, to, len);
}

static int note(struct dp_target *target, u64 addr, const void *from,
		size_t len)
{
	struct notes *notes = container_of(target, struct notes, target);
	struct write *w = len <= MOST ? kzalloc(sizeof(*w), GFP_KERNEL) : NULL;
	int err = w ? dp_kernel_text_map(&w->alias, addr, len) : -ENOMEM;

	if (err) {
		kfree(w);
		return err;
	}
	memcpy(w->bytes, from, len);
	w->addr = addr;
	w->len = (u32)len;
	dp_engine_copies(notes->engine, addr, w->copies);
	notes->left++;
	list_add_tail(&w->list, &notes->writes);
	return 0;
}

static bool is_now(const struct write *w)
{
	return !w->written && !w->in;
}

/* An NMI may come. The first byte, which is a breakpoint, is written last. */
static void copy_all(struct notes *notes)
{
	struct write *w;

	list_for_each_entry(w, &notes->writes, list) if (is_now(w))
		memcpy(w->alias.at + 1, w->bytes + 1, w->len - 1);
	smp_wmb();
	list_for_each_entry(w, &notes->writes, list)
	{
		if (!is_now(w))
			continue;
		WRITE_ONCE(*w->alias.at, w->bytes[0]);
		w->written = true;
		notes->left--;
	}
}

static bool leads_inside(const struct write *w, u64 addr)
{
	u32 i;

	for (i = 0; i < DP_COPIES; i++)
		if (addr - w->copies[i].start < w->copies[i].size)
			return true;
	return addr > w->addr && addr - w->addr < w->len;
}

/* Return: false: there may be tasks in others. */
static bool mark(void *arg, u64 addr)
{
	struct notes *notes = arg;
	struct write *w;

	list_for_each_entry(w, &notes->writes, list)
		w->in |= leads_inside(w, addr);
	return false;
}

static void write_all(struct notes *notes)
{
	struct write *w;

	list_for_each_entry(w, &notes->writes, list) w->in = false;
	dp_tasks_in(mark, notes);
	copy_all(notes);
}

/* On each CPU. Source: Intel SDM vol. 3, 8.1.3. */
static int run(void *arg)
{
	struct notes *notes = arg;

	if (atomic_inc_return(&notes->cpus) == 1) {
		write_all(notes);
		smp_store_release(&notes->done, true);
	}
	while (!smp_load_acquire(&notes->done))
		cpu_relax();
	sync_core();
	return 0;
}

static void forget(struct notes *notes)
{
	struct write *w, *next;

	list_for_each_entry_safe(w, next, &notes->writes, list)
	{
		dp_kernel_text_unmap(&w->alias);
		kfree(w);
	}
}

/* A task that has been preempted there has to run first. */
static int stop(struct notes *notes)
{
	int err = 0, tries;

	for (tries = 0; tries < TRIES && notes->left && !err; tries++) {
		if (tries)
			msleep(PACE);
		atomic_set(&notes->cpus, 0);
		notes->done = false;
		err = dp_safe_stop(run, notes);
	}
	return err;
}

/* In the engine's tables these are written. */
static void give_up(const struct notes *notes)
{
	const struct write *w;

	list_for_each_entry(w, &notes->writes, list) if (!w->written)
		dp_engine_unwritten(notes->engine, w->addr);
	if (notes->left)
		dp_later_jumps();
}

/* None is taken out so: each goes by way of a breakpoint. */
int dp_kmod_stopped(void *engine, const u32 *which, u32 n, bool in)
{
	static const struct dp_target_ops ops = { .read = read_text,
						  .write = note };
	struct notes notes = { .target = { &ops }, .engine = engine };
	int err, stopped;

	if (!in)
		return -EOPNOTSUPP;
	INIT_LIST_HEAD(&notes.writes);
	err = dp_engine_write_jumps(engine, &notes.target, which, n);
	stopped = stop(&notes);
	give_up(&notes);
	forget(&notes);
	return err ? err : stopped;
}
