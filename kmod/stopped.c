// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stopped: text that is written while no CPU does anything else.
 *
 * Nothing can be mapped then. So what is to be written is mapped and noted first, as if it were
 * written, and all of it is copied at once:
 *
 *     the engine writes: a note each ─► stop_machine(): nobody inside? copy, sync each CPU
 *                                          ▲                      │ a task is
 *                                          └── a few milliseconds ┘
 *
 * No breakpoint keeps tasks out beforehand, so only while all CPUs are stopped is it known that none is inside.
 * Nobody else writes text meanwhile, so what the engine has read stays true.
 */
#include "kmod/stopped.h"
#include "kmod/safe.h"
#include "kmod/tasks.h"
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
/* Milliseconds until it is tried again */
#define PACE 5

struct write {
	struct list_head list;
	struct dp_text_alias alias;
	u64 addr;
	u8 bytes[MOST];
	u32 len;
};

/** struct notes - the target that the engine writes to meanwhile
 *  @in: a task is between two instructions that are to be one: nothing has been written */
struct notes {
	struct dp_target target;
	struct list_head writes;
	atomic_t cpus;
	bool done, in;
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
	list_add_tail(&w->list, &notes->writes);
	return 0;
}

/* An NMI may come. The first byte, which is a breakpoint, is written last. */
static void copy_all(const struct notes *notes)
{
	const struct write *w;

	list_for_each_entry(w, &notes->writes, list)
		memcpy(w->alias.at + 1, w->bytes + 1, w->len - 1);
	smp_wmb();
	list_for_each_entry(w, &notes->writes, list)
		WRITE_ONCE(*w->alias.at, w->bytes[0]);
}

static bool is_inside(void *arg, u64 addr)
{
	const struct notes *notes = arg;
	const struct write *w;

	list_for_each_entry(w, &notes->writes,
			    list) if (addr > w->addr &&
				      addr - w->addr < w->len) return true;
	return false;
}

/* On each CPU. Source: Intel SDM vol. 3, 8.1.3. */
static int run(void *arg)
{
	struct notes *notes = arg;

	if (atomic_inc_return(&notes->cpus) == 1) {
		notes->in = dp_tasks_in(is_inside, notes);
		if (!notes->in)
			copy_all(notes);
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
	int err;

	do {
		atomic_set(&notes->cpus, 0);
		notes->done = notes->in = false;
		err = dp_safe_stop(run, notes);
		if (notes->in)
			msleep(PACE);
	} while (!err && notes->in);
	return err;
}

int dp_kmod_stopped(void *engine, const u32 *which, u32 n, bool in)
{
	static const struct dp_target_ops ops = { .read = read_text,
						  .write = note };
	struct notes notes = { .target = { &ops } };
	int err, stopped;

	INIT_LIST_HEAD(&notes.writes);
	err = in ? dp_engine_write_jumps(engine, &notes.target, which, n) :
		   dp_engine_restore(engine, &notes.target, which, n);
	/* What has been noted is in the engine's tables as written. */
	stopped = list_empty(&notes.writes) ? 0 : stop(&notes);
	forget(&notes);
	return err ? err : stopped;
}
