// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * differ_test: probes count what the kernel's own count at the same functions, and its tracer, while the guest works.
 *
 *     function:  endbr64 ─► call of ftrace ─► the first instruction
 *                           a kprobe counts   a probe of ours counts
 *                           an ftrace_ops counts
 *
 * All counts are read while no CPU does anything else, at the beginning and at the end. A call in between may then be
 * at one of the two only where a task was preempted between them.
 */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "tests/kernel/chosen.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/sort.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>

/* So many differences are told. */
#define TELL 12

static unsigned int functions = 500, seconds = 20;
module_param(functions, uint, 0);
module_param(seconds, uint, 0);

/* Who counts */
enum { THEIRS, OURS, TRACER, COUNTERS };

/** struct site - a function; @counts: hits whose handlers have run; @begun: hits before the comparison; @ended: at its
 *  end; @traced: where ftrace calls from; @has: a kprobe, and the tracer */
struct site {
	struct kprobe theirs;
	struct dp_kprobe ours;
	atomic_long_t counts[COUNTERS];
	unsigned long begun[COUNTERS], ended[COUNTERS];
	unsigned long traced;
	bool has;
};

static unsigned long *chosen;
static struct site *sites;
static struct dp_kprobe **list;
static unsigned int nr;
static u64 within;

static int count_theirs(struct kprobe *p, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(p, struct site, theirs)->counts[THEIRS]);
	return 0;
}

static int count_ours(struct dp_kprobe *p, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(p, struct site, ours)->counts[OURS]);
	return 0;
}

/* Sites are in the order of their addresses. */
static void notrace count_traced(unsigned long ip, unsigned long from,
				 struct ftrace_ops *ops,
				 struct ftrace_regs *regs)
{
	unsigned int low = 0, high = nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (sites[middle].traced < ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < nr && sites[low].traced == ip)
		atomic_long_inc(&sites[low].counts[TRACER]);
}

static struct ftrace_ops tracer = { .func = count_traced,
				    .flags = FTRACE_OPS_FL_RECURSION };

/* All hits: those that were missed, too */
static void read_counts(const struct site *s, unsigned long to[COUNTERS])
{
	to[THEIRS] = atomic_long_read(&s->counts[THEIRS]) + s->theirs.nmissed;
	to[OURS] = atomic_long_read(&s->counts[OURS]) + s->ours.nmissed;
	to[TRACER] = atomic_long_read(&s->counts[TRACER]);
}

static int read_begun(void *unused)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		read_counts(&sites[i], sites[i].begun);
	return 0;
}

static int read_ended(void *unused)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		read_counts(&sites[i], sites[i].ended);
	return 0;
}

/* Return: how many functions have both. Those that the kernel refuses have none. */
static unsigned int put_theirs(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++) {
		struct site *s = &sites[i];

		s->theirs =
			(struct kprobe){ .addr = (kprobe_opcode_t *)chosen[i],
					 .pre_handler = count_theirs };
		s->has = !register_kprobe(&s->theirs);
		n += s->has;
		cond_resched();
	}
	return n;
}

static int put_tracer(void)
{
	unsigned long (*location)(unsigned long addr) =
		(void *)dp_kmod_symbol("ftrace_location");
	int err = location ? 0 : -ENOENT, first = 1;
	unsigned int i;

	for (i = 0; i < nr && !err; i++) {
		sites[i].traced = location(chosen[i]);
		if (!sites[i].has)
			continue;
		err = ftrace_set_filter_ip(&tracer, sites[i].traced, 0, first);
		first = 0;
		cond_resched();
	}
	return err ?: register_ftrace_function(&tracer);
}

static int put_ours(void)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		sites[i].ours = (struct dp_kprobe){ .addr = (u8 *)chosen[i],
						    .pre_handler = count_ours };
		list[i] = &sites[i].ours;
	}
	return dp_register_kprobes(list, nr);
}

/** struct differences - of one counter against ours: at how many functions, and how much */
struct differences {
	unsigned int at;
	long less, more;
};

static void differ_at(unsigned int i, const char *how, const char *whose,
		      unsigned int who, struct differences *d)
{
	const struct site *s = &sites[i];
	unsigned long is = s->ended[who] - s->begun[who],
		      ours = s->ended[OURS] - s->begun[OURS];

	if (is == ours)
		return;
	if (is > ours)
		d->less += (long)(is - ours);
	else
		d->more += (long)(ours - is);
	if (d->at++ < TELL)
		note("%s: %pS: %lu by %s, %lu by ours\n", how,
		     (void *)chosen[i], is, whose, ours);
}

static void compare(const char *how, unsigned int both, unsigned int jumps,
		    u64 hidden)
{
	struct differences probes = { 0 }, traced = { 0 };
	unsigned long hits = 0, theirs = 0, ours = 0;
	unsigned int i, hit = 0;

	for (i = 0; i < nr; i++) {
		const struct site *s = &sites[i];

		if (!s->has)
			continue;
		hits += s->ended[TRACER] - s->begun[TRACER];
		hit += s->ended[TRACER] != s->begun[TRACER];
		theirs += s->theirs.nmissed;
		ours += s->ours.nmissed;
		differ_at(i, how, "the kernel's", THEIRS, &probes);
		differ_at(i, how, "its tracer", TRACER, &traced);
	}
	note("%s: %lu hits at %u of %u functions (%u jumps); missed by handlers: %lu theirs, %lu ours; %llu within hits of ours\n",
	     how, hits, hit, both, jumps, theirs, ours, hidden);
	check(both > functions * 9 / 10 && hit > both / 2 && hits > 10000,
	      "%s: functions have both probes (%u), and hits\n", how, both);
	check(!probes.at,
	      "%s: both count the same (but at %u: %ld less, %ld more)\n", how,
	      probes.at, probes.less, probes.more);
	check(!traced.at,
	      "%s: and what ftrace counts (but at %u: %ld less, %ld more)\n",
	      how, traced.at, traced.less, traced.more);
}

static void take_all(void)
{
	unsigned int i;

	unregister_ftrace_function(&tracer);
	for (i = 0; i < nr; i++)
		if (sites[i].has)
			unregister_kprobe(&sites[i].theirs);
	dp_unregister_kprobes(list, nr);
}

static void differ(enum dp_kmod_arming arming, const char *how)
{
	int err = dp_kmod_begin(arming);
	unsigned int both, jumps = 0, i;
	u64 before;

	memset(sites, 0, nr * sizeof(*sites));
	err = err ?: put_ours();
	check(!err, "%s: probes are there (%d)\n", how, err);
	if (err)
		return;
	both = put_theirs();
	err = put_tracer();
	check(!err, "%s: they are traced (%d)\n", how, err);
	for (i = 0; i < nr; i++)
		jumps += dp_kprobe_optimized(&sites[i].ours);
	before = dp_kmod_missed();
	stop_machine(read_begun, NULL, NULL);
	msleep(seconds * 1000);
	stop_machine(read_ended, NULL, NULL);
	within = dp_kmod_missed() - before;
	take_all();
	err = dp_kmod_end();
	check(!err, "%s: they go (%d)\n", how, err);
	compare(how, both, jumps, within);
}

static int by_address(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a,
		      y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static int __init begin(void)
{
	chosen = vzalloc(functions * sizeof(*chosen));
	sites = vzalloc(functions * sizeof(*sites));
	list = vzalloc(functions * sizeof(*list));
	if (!chosen || !sites || !list)
		return -ENOMEM;
	nr = dp_chosen_find(chosen, functions, true);
	check(nr == functions, "functions are chosen (%u)\n", nr);
	sort(chosen, nr, sizeof(*chosen), by_address, NULL);
	differ(DP_KMOD_JUMP, "jump");
	differ(DP_KMOD_TRAP, "trap");
	/* It can have no other afterwards. */
	ftrace_free_filter(&tracer);
	vfree(list);
	vfree(sites);
	vfree(chosen);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Compares counts with the kernel's own probes");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
