// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * differ_test: probes count what the kernel's own count at the same functions, while the guest works.
 *
 *     function:  endbr64 ─► call of ftrace ─► the first instruction
 *                           a kprobe counts   a probe of ours counts
 *
 * All counts are read while no CPU does anything else, at the beginning and at the end. A call in between may then be
 * at one of the two only where a task was preempted between them.
 */
#include <dprobes/kprobes.h>
#include "kmod/session.h"
#include "tests/kernel/chosen.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>

/* So many differences are told. */
#define TELL 12

static unsigned int functions = 500, seconds = 20;
module_param(functions, uint, 0);
module_param(seconds, uint, 0);

/** struct site - a function; @counts: by whose probe: hits whose handlers have run; @begun: hits before the
 *  comparison; @ended: at its end */
struct site {
	struct kprobe theirs;
	struct dp_kprobe ours;
	atomic_long_t counts[2];
	unsigned long begun[2], ended[2];
	bool has;
};

static unsigned long *chosen;
static struct site *sites;
static struct dp_kprobe **list;
static unsigned int nr;
static u64 within;

static int count_theirs(struct kprobe *p, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(p, struct site, theirs)->counts[0]);
	return 0;
}

static int count_ours(struct dp_kprobe *p, struct pt_regs *regs)
{
	atomic_long_inc(&container_of(p, struct site, ours)->counts[1]);
	return 0;
}

/* All hits: those that were missed, too */
static void read_counts(const struct site *s, unsigned long to[2])
{
	to[0] = atomic_long_read(&s->counts[0]) + s->theirs.nmissed;
	to[1] = atomic_long_read(&s->counts[1]) + s->ours.nmissed;
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

static void compare(const char *how, unsigned int both, unsigned int jumps,
		    u64 hidden)
{
	unsigned long hits = 0, theirs = 0, ours = 0;
	unsigned int i, differ = 0, hit = 0;
	long less = 0, more = 0;

	for (i = 0; i < nr; i++) {
		const struct site *s = &sites[i];
		unsigned long k = s->ended[0] - s->begun[0],
			      d = s->ended[1] - s->begun[1];

		if (!s->has)
			continue;
		hits += k;
		hit += k != 0;
		theirs += s->theirs.nmissed;
		ours += s->ours.nmissed;
		if (k == d)
			continue;
		if (k > d)
			less += (long)(k - d);
		else
			more += (long)(d - k);
		if (differ++ < TELL)
			note("%s: %pS: %lu by the kernel's, %lu by ours\n", how,
			     (void *)chosen[i], k, d);
	}
	note("%s: %lu hits at %u of %u functions (%u jumps); missed by handlers: %lu theirs, %lu ours; %llu within hits of ours\n",
	     how, hits, hit, both, jumps, theirs, ours, hidden);
	check(both > functions * 9 / 10 && hit > both / 2 && hits > 10000,
	      "%s: functions have both probes (%u), and hits\n", how, both);
	check(!differ,
	      "%s: both count the same (but at %u: %ld less, %ld more)\n", how,
	      differ, less, more);
}

static void take_all(void)
{
	unsigned int i;

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

static int __init begin(void)
{
	chosen = vzalloc(functions * sizeof(*chosen));
	sites = vzalloc(functions * sizeof(*sites));
	list = vzalloc(functions * sizeof(*list));
	if (!chosen || !sites || !list)
		return -ENOMEM;
	nr = dp_chosen_find(chosen, functions, true);
	check(nr == functions, "functions are chosen (%u)\n", nr);
	differ(DP_KMOD_JUMP, "jump");
	differ(DP_KMOD_TRAP, "trap");
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
