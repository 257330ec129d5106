// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hook_dispatch: a thread runs through an armed hook, and calls its exits.
 *
 *     hook->list ─► list, since 8 ─older─► list, since 5        epoch 7: the older one
 *
 * Lists are under RCU: preemption is off while one is used. A thread that goes through several hooks finds in all of them
 * what was there before a change, or what is there behind it.
 */
#include "kmod/hooks.h"
#include "engine/hook/hook.h"
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>

/* In how many dispatches the CPU is */
static DEFINE_PER_CPU(unsigned int, depth);
static u64 epoch;

static void sweep(struct work_struct *work)
{
	dp_hooks_sweep();
}

static DECLARE_WORK(sweeping, sweep);

static void queue(struct irq_work *work)
{
	schedule_work(&sweeping);
}

/* From an NMI nothing else can be asked for. */
static DEFINE_IRQ_WORK(asking, queue);

void dp_hook_look_later(void)
{
	irq_work_queue(&asking);
}

void dp_hook_look_end(void)
{
	irq_work_sync(&asking);
	cancel_work_sync(&sweeping);
}

void dp_hook_set_epoch(u64 now)
{
	smp_store_release(&epoch, now);
}

bool dp_hook_in_exit(void)
{
	bool inside;

	preempt_disable_notrace();
	inside = __this_cpu_read(depth);
	preempt_enable_notrace();
	return inside;
}

static int call(struct gkh_rec *rec, struct gkh_hook *h, struct gkh_args *a,
		u32 flags)
{
	unsigned long saved;
	int rc;

	if (!(flags & GKH_DISABLE_IRQS))
		return rec->exit(h, a);
	local_irq_save(saved);
	rc = rec->exit(h, a);
	local_irq_restore(saved);
	return rc;
}

static int call_all(struct gkh_hook *h, const struct dp_hook_list *list,
		    struct gkh_args *a)
{
	u32 i, flags, all = GKH_ARMED;
	int rc = GKH_CONTINUE;

	for (i = 0; i < list->n && rc == GKH_CONTINUE; i++) {
		a->rec = list->rec[i];
		flags = READ_ONCE(a->rec->flags);
		if (flags & GKH_ARMED)
			rc = call(list->rec[i], h, a, flags);
		all &= READ_ONCE(list->rec[i]->flags);
	}
	if (!(all & GKH_ARMED))
		dp_hook_look_later();
	return rc;
}

static const struct dp_hook_list *list_of(const struct gkh_hook *h)
{
	const struct dp_hook_list *list =
		smp_load_acquire((struct dp_hook_list **)&h->list);

	if (list && list->since > smp_load_acquire(&epoch))
		list = list->older;
	return list;
}

int dp_hook_call(struct gkh_hook *h, struct gkh_args *a)
{
	const struct dp_hook_list *list;
	const struct dp_hooked *hooked;
	int rc = GKH_CONTINUE;

	preempt_disable_notrace();
	__this_cpu_inc(depth);
	hooked = READ_ONCE(h->priv[1]);
	list = list_of(h);
	if (hooked && list && list->n) {
		this_cpu_inc(*hooked->hits);
		rc = call_all(h, list, a);
	}
	__this_cpu_dec(depth);
	preempt_enable_notrace();
	return rc;
}
