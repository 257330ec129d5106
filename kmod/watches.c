// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watches: debug registers of all CPUs.
 *
 *     access ─► #DB, in which no register is on ─► the event's handler ─► count ─► dp_kernel_watched()
 *
 * The kernel switches all registers off while a debug exception or an NMI is handled. So a hit never raises
 * another one, and accesses by NMIs are not seen.
 *
 * Locks: the kernel's for CPUs that come and go, and below it watches. The session's is above both.
 */
#include "kmod/watches.h"
#include "kmod/files.h"
#include "port/kernel/compat.h"
#include "port/kernel/hit.h"
#include "port/kernel/nofault.h"
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/hw_breakpoint.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

/** struct dp_watch - @used: it is taken; @on: hits come; @tag: see dp_kernel_watched() */
struct dp_watch {
	struct dp_data data;
	bool used, on;
	u32 tag;
};

static DEFINE_MUTEX(watches);
static struct dp_watch all[HBP_NUM];
/* By number of the watch */
static DEFINE_PER_CPU(struct perf_event *[HBP_NUM], events);
static DEFINE_PER_CPU(u64[HBP_NUM], counted);
static int hotplug;

static u32 number(const struct dp_watch *w)
{
	return (u32)(w - all);
}

/* Context: a debug exception. No register is given back while a CPU is here. */
static void on_event(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	const struct dp_watch *w = event->overflow_handler_context;

	this_cpu_inc(counted[number(w)]);
	dp_kernel_watched(regs, READ_ONCE(w->tag));
}

static int open_on(struct dp_watch *w, unsigned int cpu)
{
	struct perf_event_attr attr;
	struct perf_event *event;

	hw_breakpoint_init(&attr);
	attr.bp_addr = w->data.addr;
	attr.bp_len = w->data.len;
	attr.bp_type = w->data.reads ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W;
	attr.disabled = 1;
	event = perf_event_create_kernel_counter(&attr, (int)cpu, NULL,
						 on_event, w);
	if (IS_ERR(event))
		return PTR_ERR(event);
	per_cpu(events, cpu)[number(w)] = event;
	return 0;
}

static void close_on(struct dp_watch *w, unsigned int cpu)
{
	struct perf_event **event = &per_cpu(events, cpu)[number(w)];

	if (*event)
		perf_event_release_kernel(*event);
	*event = NULL;
}

static void turn_on_cpu(struct dp_watch *w, unsigned int cpu, bool on)
{
	struct perf_event *event = per_cpu(events, cpu)[number(w)];

	if (event && on)
		perf_event_enable(event);
	else if (event)
		perf_event_disable(event);
}

/* The log is read by who may not see addresses. */
static void warn(const struct dp_watch *w, unsigned int cpu)
{
	char *label = dp_told_label(w->data.addr);

	pr_warn("dprobes: CPU %u, which has come, has no debug register left: it does not watch %s\n",
		cpu, label ? strim(label) : "data without a name");
	kfree(label);
}

static int come(unsigned int cpu)
{
	struct dp_watch *w;

	mutex_lock(&watches);
	for (w = all; w < all + HBP_NUM; w++) {
		if (!w->used)
			continue;
		if (open_on(w, cpu))
			warn(w, cpu);
		else if (w->on)
			turn_on_cpu(w, cpu, true);
	}
	mutex_unlock(&watches);
	return 0;
}

static int go(unsigned int cpu)
{
	struct dp_watch *w;

	mutex_lock(&watches);
	for (w = all; w < all + HBP_NUM; w++)
		if (w->used)
			close_on(w, cpu);
	mutex_unlock(&watches);
	return 0;
}

int dp_watches_begin(void)
{
	hotplug = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					    "dprobes:watch", come, go);
	return hotplug < 0 ? hotplug : 0;
}

void dp_watches_end(void)
{
	cpuhp_remove_state_nocalls(hotplug);
}

/* What each CPU has for itself of this module */
static bool is_of_cpu(u64 addr)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) if (dp_compat_is_of_cpu(THIS_MODULE, addr,
							   cpu)) return true;
	return false;
}

/* The hit half reads and writes it all the time, and its counts would be those of hits. */
static bool is_own(u64 addr)
{
	return within_module((unsigned long)addr, THIS_MODULE) ||
	       is_of_cpu(addr);
}

static int refuse(int err, const char **why, const char *words)
{
	*why = words;
	return err;
}

static int check(const struct dp_data *d, const char **why)
{
	u64 now;

	if (!d->len || d->len > sizeof(now) || d->len & (d->len - 1))
		return refuse(-EINVAL, why,
			      "a debug register watches 1, 2, 4 or 8 bytes");
	if (d->addr & (d->len - 1))
		return refuse(-EINVAL, why,
			      "the address is no multiple of the length");
	if (d->addr < TASK_SIZE_MAX)
		return refuse(
			-EINVAL, why,
			"it is no address of the kernel's (a variable of CPUs has one for each)");
	if (is_own(d->addr) || is_own(d->addr + d->len - 1))
		return refuse(-EPERM, why, "it is dprobes.ko's own");
	if (dp_kernel_read(&now, d->addr, d->len))
		return refuse(-EFAULT, why, "no memory is there");
	return 0;
}

static struct dp_watch *find_free(void)
{
	struct dp_watch *w;

	for (w = all; w < all + HBP_NUM; w++)
		if (!w->used)
			return w;
	return NULL;
}

static void close_all(struct dp_watch *w)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) close_on(w, cpu);
}

static int open_all(struct dp_watch *w)
{
	unsigned int cpu;
	int err = 0;

	for_each_possible_cpu(cpu) per_cpu(counted, cpu)[number(w)] = 0;
	for_each_online_cpu(cpu)
	{
		err = open_on(w, cpu);
		if (err)
			break;
	}
	if (err)
		close_all(w);
	return err;
}

static int take(const struct dp_data *data, struct dp_watch **watch)
{
	struct dp_watch *w = find_free();
	int err;

	if (!w)
		return -ENOSPC;
	*w = (struct dp_watch){ .data = *data };
	err = open_all(w);
	if (err)
		return err;
	w->used = true;
	*watch = w;
	return 0;
}

int dp_watch_take(const struct dp_data *data, struct dp_watch **watch,
		  const char **why)
{
	int err = check(data, why);

	if (err)
		return err;
	cpus_read_lock();
	mutex_lock(&watches);
	err = take(data, watch);
	mutex_unlock(&watches);
	cpus_read_unlock();
	if (err == -ENOSPC)
		*why = "no debug register is left: there are four, which debuggers and perf have, too";
	else if (err == -EINVAL)
		*why = "the kernel's own way to a debug exception comes by there";
	return err;
}

void dp_watch_set(struct dp_watch *w, u32 tag, bool on)
{
	unsigned int cpu;

	cpus_read_lock();
	mutex_lock(&watches);
	WRITE_ONCE(w->tag, tag);
	if (w->on != on)
		for_each_online_cpu(cpu) turn_on_cpu(w, cpu, on);
	w->on = on;
	mutex_unlock(&watches);
	cpus_read_unlock();
}

bool dp_watch_is_on(const struct dp_watch *w)
{
	return w->on;
}

u64 dp_watch_hits(const struct dp_watch *w)
{
	unsigned int cpu;
	u64 n = 0;

	for_each_possible_cpu(cpu)
		n += READ_ONCE(per_cpu(counted, cpu)[number(w)]);
	return n;
}

struct dp_data dp_watch_data(const struct dp_watch *w)
{
	return w->data;
}

u64 dp_watch_now(const struct dp_watch *w)
{
	u64 now = 0;

	return dp_kernel_read(&now, w->data.addr, w->data.len) ? 0 : now;
}

u64 dp_watch_give(struct dp_watch *w)
{
	u64 hits;

	cpus_read_lock();
	mutex_lock(&watches);
	close_all(w);
	hits = dp_watch_hits(w);
	w->used = w->on = false;
	mutex_unlock(&watches);
	cpus_read_unlock();
	return hits;
}
