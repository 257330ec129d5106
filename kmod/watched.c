// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watched: watchpoints of other modules, with handlers in C.
 *
 *     access ─► a debug register's event ─► the hit half ─► on_hit(), as a pre_handler ─► the handler
 *
 * Lock: the session's, which is held from dp_kmod_enter() to dp_kmod_leave().
 */
#include "kmod/watched.h"
#include <dprobes/kernel/hw_breakpoint.h>
#include "engine/layout/site.h"
#include "engine/site/live.h"
#include "kmod/session.h"
#include "kmod/table.h"
#include "kmod/watches.h"
#include "port/kernel/text.h"
#include <linux/export.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>

/** struct watched - @event comes first; @list: it, and NULL; @ran: by CPU, how often it was called */
struct watched {
	struct dp_perf_event event;
	struct dp_perf_event *list[2];
	struct list_head all;
	unsigned long __percpu *ran;
	u32 probe;
};

static LIST_HEAD(all);

static int on_hit(struct watched *w, struct pt_regs *regs)
{
	struct dp_perf_sample_data data = { .addr = w->event.attr.bp_addr };

	this_cpu_inc(*w->ran);
	w->event.overflow_handler(&w->event, &data, regs);
	return 0;
}

static int check(const struct perf_event_attr *attr,
		 dp_perf_overflow_handler_t triggered)
{
	if (!attr || !triggered || attr->type != PERF_TYPE_BREAKPOINT ||
	    attr->disabled)
		return -EINVAL;
	if (attr->bp_type == HW_BREAKPOINT_X)
		return -EOPNOTSUPP;
	return attr->bp_type == HW_BREAKPOINT_W ||
			       attr->bp_type == HW_BREAKPOINT_RW ?
		       0 :
		       -EINVAL;
}

static void free_watched(struct watched *w)
{
	if (w)
		free_percpu(w->ran);
	kfree(w);
}

static struct watched *make(const struct perf_event_attr *attr,
			    dp_perf_overflow_handler_t triggered, void *context)
{
	struct watched *w = kzalloc(sizeof(*w), GFP_KERNEL);

	if (!w)
		return NULL;
	w->ran = alloc_percpu(unsigned long);
	if (!w->ran) {
		kfree(w);
		return NULL;
	}
	w->event = (struct dp_perf_event){
		.attr = *attr,
		.overflow_handler = triggered,
		.overflow_handler_context = context,
	};
	w->list[0] = &w->event;
	return w;
}

static int add(struct watched *w)
{
	const struct dp_handlers h = { .kind = DP_KIND_KPROBE,
				       .user = (u64)w,
				       .pre = (u64)on_hit,
				       .nmissed = (u64)&w->event.nmissed };
	const struct perf_event_attr *attr = &w->event.attr;
	const struct dp_data data = {
		.addr = attr->bp_addr,
		.len = attr->bp_len > 8 ? 0 : attr->bp_len,
		.reads = attr->bp_type == HW_BREAKPOINT_RW
	};
	const char *why;
	u32 bad;
	int err = dp_kmod_put_data(NULL, &data, &h, &w->probe, &why);

	if (err)
		return err;
	err = dp_live_commit(dp_kmod_engine(), dp_kernel_text(), &w->probe, 1,
			     &bad);
	if (err) {
		dp_kmod_remove(&w->probe, 1);
		return err;
	}
	dp_kmod_set_watches();
	list_add(&w->all, &all);
	return 0;
}

struct dp_perf_event **
dp_register_wide_hw_breakpoint(const struct perf_event_attr *attr,
			       dp_perf_overflow_handler_t triggered,
			       void *context)
{
	struct watched *w;
	int err = check(attr, triggered);

	if (err)
		return ERR_PTR(err);
	w = make(attr, triggered, context);
	err = w ? dp_kmod_enter(true) : -ENOMEM;
	if (!err) {
		err = add(w);
		dp_kmod_leave();
	}
	if (!err)
		return w->list;
	free_watched(w);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_NS_GPL(dp_register_wide_hw_breakpoint, DPROBES);

static void remove(struct watched *w)
{
	dp_kmod_remove(&w->probe, 1);
	list_del(&w->all);
	free_watched(w);
}

static struct watched *find(const struct dp_perf_event *bp)
{
	struct watched *w;

	list_for_each_entry(w, &all, all) if (&w->event == bp) return w;
	return NULL;
}

void dp_unregister_wide_hw_breakpoint(struct dp_perf_event **events)
{
	struct watched *w;

	if (IS_ERR_OR_NULL(events) || dp_kmod_enter(false))
		return;
	list_for_each_entry(w, &all, all) if (w->list == events) break;
	if (!list_entry_is_head(w, &all, all))
		remove(w);
	dp_kmod_leave();
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_wide_hw_breakpoint, DPROBES);

unsigned long dp_hw_breakpoint_hits(const struct dp_perf_event *bp,
				    unsigned long *missed)
{
	unsigned long hits = 0, ran = 0;
	const struct watched *w;
	unsigned int cpu;

	if (missed)
		*missed = 0;
	if (IS_ERR_OR_NULL(bp) || dp_kmod_enter(false))
		return 0;
	w = find(bp);
	for_each_possible_cpu(cpu)
		ran += w ? READ_ONCE(*per_cpu_ptr(w->ran, cpu)) : 0;
	hits = w ? dp_kmod_data_hits(w->probe) : 0;
	dp_kmod_leave();
	if (missed)
		*missed = hits > ran ? hits - ran : 0;
	return hits;
}
EXPORT_SYMBOL_NS_GPL(dp_hw_breakpoint_hits, DPROBES);

void dp_watched_leave(const struct module *m)
{
	struct watched *w, *next;

	list_for_each_entry_safe(
		w, next, &all,
		all) if (within_module((unsigned long)w->event.overflow_handler,
				       m)) remove(w);
}
