// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hw_breakpoint: data and instructions of this process that debug registers watch.
 *
 *     access ─► debug trap ─► event counts ─► SIGTRAP ─► the agent ─► dp_call_site() ─► on_hit()
 *                      └─ no events: the thread's own register ─► SIGTRAP ─► which one? ─┘
 *
 * The engine has a site of its own for each, which is never armed. The events of the threads are
 * opened, or their registers set, when that is known to the agent, and stop before it is taken away.
 *
 * Lock: "the library" holds for the list.
 */
#include "lib/own_registers.h"
#include "lib/register_child.h"
#include "lib/self.h"
#include "proc/watch.h"
#include <dprobes/hw_breakpoint.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/** struct watched - @event comes first; @list: it, and NULL; @owner: the process
 *  @by_register: it has no events, but @slot; @lost: dp_own_registers_lost() when it began */
struct watched {
	struct perf_event event;
	struct perf_event *list[2];
	struct dp_watch_events events;
	struct watched *next;
	pid_t owner;
	u32 probe, slot;
	bool by_register;
	u64 lost;
};

static struct watched *all;

static struct watched *of(const struct perf_event *bp)
{
	return bp && !dp_hw_breakpoint_error(bp) ? (struct watched *)bp : NULL;
}

/* Called as a pre_handler is. */
static int on_hit(struct watched *w, struct pt_regs *regs)
{
	struct perf_sample_data data = { .addr = w->event.attr.bp_addr };

	w->event.overflow_handler(&w->event, &data, regs);
	return 0;
}

static u8 kind_of(const struct perf_event_attr *attr)
{
	return attr->bp_type == HW_BREAKPOINT_W	 ? DP_SITE_WRITTEN :
	       attr->bp_type == HW_BREAKPOINT_RW ? DP_SITE_ACCESSED :
						   DP_SITE_EXECUTED;
}

static bool is_length(u64 len)
{
	return len && len <= 8 && !(len & (len - 1));
}

static int check(const struct perf_event_attr *attr,
		 perf_overflow_handler_t triggered)
{
	bool executed = attr && attr->bp_type == HW_BREAKPOINT_X;

	if (!attr || !triggered)
		return dp_fail(-EINVAL, "there is no attribute, or no handler");
	if (attr->type != PERF_TYPE_BREAKPOINT)
		return dp_fail(
			-EINVAL,
			"the attribute is of another type; hw_breakpoint_init() begins one");
	if (attr->disabled)
		return dp_fail(-EINVAL, "a watchpoint cannot begin disabled");
	if (!executed && attr->bp_type != HW_BREAKPOINT_W &&
	    attr->bp_type != HW_BREAKPOINT_RW)
		return dp_fail(
			-EINVAL,
			"bp_type is HW_BREAKPOINT_W, HW_BREAKPOINT_RW or HW_BREAKPOINT_X");
	if (executed && attr->bp_len != sizeof(long))
		return dp_fail(-EINVAL,
			       "bp_len of an instruction is sizeof(long)");
	if (!executed && !is_length(attr->bp_len))
		return dp_fail(-EINVAL, "bp_len is 1, 2, 4 or 8");
	if (!executed && attr->bp_addr & (attr->bp_len - 1))
		return dp_fail(-EINVAL,
			       "bp_addr, 0x%llx, is no multiple of bp_len",
			       (unsigned long long)attr->bp_addr);
	return 0;
}

/* Of this agent: traps of other events do not bear it. */
static int choose_number(void)
{
	struct dp_arena_control *c = &dp_self.arena->control;
	u32 number = 0;

	if (c->watch_number)
		return 0;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return dp_fail(-errno, "the kernel gives no random number");
	dp_engine_set_watch_number(dp_self.engine, number | 1);
	__atomic_store_n(&c->watch_number, number | 1, __ATOMIC_RELEASE);
	return 0;
}

static int add_probe(struct watched *w)
{
	const struct dp_handlers h = {
		.kind = DP_KIND_KPROBE,
		.pre_needs = dp_handler_needs((void *)on_hit),
		.user = (u64)w,
		.pre = (u64)on_hit,
		.nmissed = (u64)&w->event.nmissed,
	};
	const struct perf_event_attr *attr = &w->event.attr;
	u32 bad;
	int err = dp_live_add_watch(dp_self.engine, attr->bp_addr,
				    (u8)attr->bp_len, kind_of(attr), &h,
				    &w->probe);

	if (!err)
		err = dp_live_commit(dp_self.engine, &dp_self.text.target,
				     &w->probe, 1, &bad);
	return err ? dp_fail(err, "there are too many probes") : 0;
}

/* When it returns, no handler of it runs. */
static void remove_probe(struct watched *w)
{
	dp_live_remove(dp_self.engine, &dp_self.text.target, &w->probe, 1);
	dp_self_settle();
	dp_live_forget(dp_self.engine, w->probe);
}

static bool is_way(const char *name)
{
	const char *way = secure_getenv("DPROBES_WATCH");

	return way && !strcmp(way, name);
}

static int take_register(struct watched *w, const struct dp_watchpoint *watch)
{
	int err = dp_own_registers_take(watch, &w->slot, dp_last());

	w->by_register = !err;
	w->lost = dp_own_registers_lost();
	return err;
}

static int open_events(struct watched *w, const struct dp_watchpoint *watch)
{
	int err = is_way("registers") ?
			  -EPERM :
			  dp_watch_events_open(&w->events, getpid(), watch, 1,
					       NULL, dp_last());

	if (dp_watch_events_denied(err) && !is_way("events"))
		return take_register(w, watch);
	if (!err)
		dp_watch_events_switch(&w->events, true);
	return err;
}

static int arm(struct watched *w, pid_t tid)
{
	const struct perf_event_attr *attr = &w->event.attr;
	const struct dp_watchpoint watch = {
		.addr = attr->bp_addr,
		.len = (u8)attr->bp_len,
		.access = attr->bp_type == HW_BREAKPOINT_W  ? DP_WATCH_WRITE :
			  attr->bp_type == HW_BREAKPOINT_RW ? DP_WATCH_ACCESS :
							      DP_WATCH_EXECUTE,
		.name = "the watchpoint",
		.tag = dp_engine_watch_tag(dp_self.engine, w->probe),
		.tid = tid,
	};

	return open_events(w, &watch);
}

static int begin(struct watched *w, pid_t tid)
{
	int err = choose_number();

	if (!err)
		err = add_probe(w);
	if (err)
		return err;
	err = arm(w, tid);
	if (err) {
		remove_probe(w);
		return err;
	}
	w->next = all;
	all = w;
	return 0;
}

/* @tid: 0: all threads */
static struct watched *watch(struct perf_event_attr *attr,
			     perf_overflow_handler_t triggered, void *context,
			     pid_t tid)
{
	struct watched *w = NULL;
	int err = check(attr, triggered);

	if (!err)
		err = dp_self_begin(true);
	if (err)
		return (void *)(long)err;
	w = calloc(1, sizeof(*w));
	if (w) {
		w->event = (struct perf_event){
			.attr = *attr,
			.overflow_handler = triggered,
			.overflow_handler_context = context,
		};
		w->list[0] = &w->event;
		w->owner = getpid();
	}
	err = w ? begin(w, tid) : dp_fail(-ENOMEM, "out of memory");
	dp_self_end();
	if (!err)
		return w;
	free(w);
	return (void *)(long)err;
}

struct perf_event **
register_wide_hw_breakpoint(struct perf_event_attr *attr,
			    perf_overflow_handler_t triggered, void *context)
{
	struct watched *w = watch(attr, triggered, context, 0);

	return dp_hw_breakpoint_error(w) ? (void *)w : w->list;
}

struct perf_event *
register_user_hw_breakpoint(struct perf_event_attr *attr,
			    perf_overflow_handler_t triggered, void *context,
			    struct task_struct *tsk)
{
	if (!tsk || tsk->tgid != getpid())
		return (void *)(long)dp_fail(
			-ESRCH, "the thread is none of this process");
	return (void *)watch(attr, triggered, context, tsk->pid);
}

static void leave_list(const struct watched *w)
{
	struct watched **link = &all;

	while (*link && *link != w)
		link = &(*link)->next;
	if (*link)
		*link = w->next;
}

/* Where the engine cannot be entered, its handler is switched off, and the memory stays. */
static void end(struct watched *w)
{
	dp_watch_events_close(&w->events);
	if (!dp_self_begin(false)) {
		if (w->by_register)
			dp_own_registers_drop(w->slot);
		remove_probe(w);
		leave_list(w);
		dp_self_end();
		free(w);
	} else if (dp_self.engine) {
		dp_live_switch_off(dp_self.engine, w->probe, (u64)w);
		if (w->by_register)
			dp_own_registers_mute(w->slot);
	}
}

void unregister_hw_breakpoint(struct perf_event *bp)
{
	struct watched *w = of(bp);

	if (!w)
		return;
	if (w->owner != getpid()) {
		free(w);
		return;
	}
	/* A fork child may have the descriptors, too: to close ours is not enough. */
	dp_watch_events_switch(&w->events, false);
	if (w->by_register && dp_self_in_handler())
		dp_own_registers_mute(w->slot);
	if (!dp_self_in_handler())
		end(w);
}

void unregister_wide_hw_breakpoint(struct perf_event **events)
{
	if (events && !dp_hw_breakpoint_error(events))
		unregister_hw_breakpoint(*events);
}

/* Without events nothing but the handler's side counts. */
static u64 count(const struct watched *w, u64 ran)
{
	return w->by_register ? ran + w->event.nmissed +
					(dp_own_registers_lost() - w->lost) :
				dp_watch_events_count(&w->events, 0);
}

unsigned long dp_hw_breakpoint_hits(const struct perf_event *bp,
				    unsigned long *missed)
{
	const struct watched *w = of(bp);
	u64 hits = 0, ran = 0;

	if (w && w->owner == getpid() && !dp_self_begin_look()) {
		ran = dp_live_hits(dp_self.engine, w->probe);
		hits = count(w, ran);
		dp_self_end();
	}
	if (missed)
		*missed = hits > ran ? hits - ran : 0;
	return hits;
}

unsigned long dp_hw_breakpoint_bare(const struct perf_event *bp)
{
	const struct watched *w = of(bp);
	u64 bare = 0;

	if (w && w->by_register && w->owner == getpid() &&
	    !dp_self_begin_look()) {
		bare = dp_own_registers_bare();
		dp_self_end();
	}
	return bare;
}

/* The child's descriptors would keep the registers of its parent's threads taken. */
static void close_in_child(void)
{
	struct watched *w;

	for (w = all; w; w = w->next)
		dp_watch_events_close(&w->events);
	all = NULL;
	dp_register_anew();
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(NULL, NULL, close_in_child);
}
