// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* insns_test: each instruction of functions has a probe, in batches, while the guest works. */
#include "engine/insn/insn.h"
#include "kmod/session.h"
#include "tests/kernel/chosen.h"
#include "tests/kernel/test.h"
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#define BYTES (1 << 20)
/* Of an engine; a function with more instructions goes over two batches. */
#define PROBES 4000

static unsigned int functions = 500, ms = 400, arming, from;
module_param(functions, uint, 0);
module_param(ms, uint, 0);
module_param(arming, uint, 0);
module_param(from, uint, 0);

static unsigned long *chosen;
/* Bytes that the functions had, one behind the other */
static u8 *was;
static struct function {
	unsigned long start, size;
	const u8 *was;
} * list;
static unsigned int nr;

static struct {
	unsigned int insns, probes, refused, jumps, hit, batches, other;
	u64 hits, within, arrivals;
	int err;
} sum;

static unsigned long size_of(unsigned long start)
{
	char symbol[KSYM_SYMBOL_LEN];
	unsigned long offset, size;
	const char *plus;

	sprint_symbol(symbol, start);
	plus = strrchr(symbol, '+');
	return plus && sscanf(plus, "+%lx/%lx", &offset, &size) == 2 &&
			       !offset ?
		       size :
		       0;
}

/* No probe is there yet. */
static void read_functions(unsigned int n)
{
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		unsigned long size = size_of(chosen[i]);

		if (!size || size > BYTES - used ||
		    copy_from_kernel_nofault(was + used, (void *)chosen[i],
					     size))
			continue;
		list[nr++] = (struct function){ chosen[i], size, was + used };
		used += size;
	}
}

static void count_batch(unsigned int n)
{
	unsigned int i;
	u64 hits;

	for (i = 0; i < n; i++) {
		hits = dp_kmod_hits(i);
		sum.hits += hits;
		sum.hit += hits != 0;
		sum.jumps += !strcmp(dp_kmod_mode(i), "jump");
	}
	sum.within += dp_kmod_missed();
	sum.arrivals += dp_kmod_arrivals();
	sum.batches++;
}

/* Return: whether it may be armed */
static bool arm(unsigned int n)
{
	u64 bad = 0;
	int err = dp_kmod_commit(&bad);

	if (err)
		note("a batch of %u is not armed: %d at %pS\n", n, err,
		     (void *)bad);
	sum.err = sum.err ?: err;
	return !err;
}

static void run_batch(unsigned int n)
{
	int err;

	if (arm(n)) {
		msleep(ms);
		count_batch(n);
	}
	err = dp_kmod_end();
	sum.err = sum.err ?: err ?: dp_kmod_begin(arming);
}

/* Probes on a function's instructions. Return: how many the batch has then */
static unsigned int put_on(const struct function *f, unsigned int n)
{
	struct insn_facts facts;
	unsigned long at;
	u32 probe;

	for (at = 0; at < f->size && !sum.err; at += facts.len) {
		if (dp_insn_facts(f->was + at, f->size - at, &facts))
			break;
		/* The entry's probe is further on. */
		if (dp_kmod_add(f->start + at, &probe, NULL))
			sum.refused++;
		else
			n++;
		sum.insns++;
		if (n == PROBES) {
			run_batch(n);
			sum.probes += n;
			n = 0;
		}
	}
	return n;
}

static int __init begin(void)
{
	static const char *const names[] = { "trap", "jump", "interior" };
	unsigned int i, n = 0;
	const char *how = names[arming % ARRAY_SIZE(names)];

	chosen = vzalloc(functions * sizeof(*chosen));
	list = vzalloc(functions * sizeof(*list));
	was = vzalloc(BYTES);
	if (!chosen || !list || !was)
		return -ENOMEM;
	read_functions(dp_chosen_find(chosen, functions, false));
	sum.err = dp_kmod_begin(arming);
	for (i = from; i < nr && !sum.err; i++) {
		n = put_on(&list[i], n);
		cond_resched();
	}
	if (n && !sum.err)
		run_batch(n);
	sum.probes += n;
	dp_kmod_end();
	for (i = 0; i < nr; i++)
		sum.other += memcmp((void *)list[i].start, list[i].was,
				    list[i].size) != 0;
	note("%s: %u instructions of %u functions, %u refused, %u probes in %u batches, %u of them jumps\n",
	     how, sum.insns, nr, sum.refused, sum.probes, sum.batches,
	     sum.jumps);
	note("%s: %llu hits at %u, %llu within others, %llu in the middle\n",
	     how, sum.hits, sum.hit, sum.within, sum.arrivals);
	check(nr > functions * 9 / 10 && sum.insns > 10 * nr &&
		      sum.probes > sum.insns / 2,
	      "%s: functions have probes at their instructions (%u of %u)\n",
	      how, sum.probes, sum.insns);
	check(!sum.err, "%s: all batches are armed, and go (%d)\n", how,
	      sum.err);
	check(sum.hit > sum.probes / 20, "%s: many are hit (%u)\n", how,
	      sum.hit);
	check(!arming || sum.jumps > sum.probes / 20,
	      "%s: there are jumps among them (%u)\n", how, sum.jumps);
	check(!sum.other, "%s: the text is what it was (but %u)\n", how,
	      sum.other);
	vfree(was);
	vfree(list);
	vfree(chosen);
	pr_info("dptest: done\n");
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("Tests probes on each instruction");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(DPROBES);
