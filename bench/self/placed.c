// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* placed: what hits of handlers cost, wherever the function and its caller lie. */
#include "bench/self/placed.h"
#include <dprobes/kprobes.h>
#include <stdlib.h>

#define PLACES 8
#define PARTS 10
#define CALLS 20000 /* of a part */

typedef void function(long n);

/** struct place - the functions of placed.S */
struct place {
	function *push, *jumps;
	void (*calls)(function *f, unsigned long n);
};

extern const struct place bench_placed[PLACES];

static unsigned long count;
static double sum = 1;

static int followed(struct kprobe *p, struct pt_regs *regs)
{
	count += regs->di;
	return 0;
}

/* The flags are not among the registers of followed handlers. */
static int full(struct kprobe *p, struct pt_regs *regs)
{
	count += regs->di + regs->flags;
	return 0;
}

static int vector(struct kprobe *p, struct pt_regs *regs)
{
	sum = sum * 0.5 + (double)regs->di;
	return 0;
}

static const struct {
	const char *name, *note;
	kprobe_pre_handler_t pre;
} costs[] = {
	{ "self_jumps", "a detour that does nothing", NULL },
	{ "handler_followed", "its code shows that it reads one register",
	  followed },
	{ "handler_full", "any handler: full pt_regs", full },
	{ "handler_vector", "floating point in the handler", vector },
};

#define NR_COSTS ((int)(sizeof(costs) / sizeof(costs[0])))

static double v[NR_COSTS][BENCH_PLACED_ROUNDS];
static int rounds;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of parts, the median: another process on this CPU spoils a few only. */
static double call_cost(const struct place *at, function *f)
{
	double ns[PARTS], start;
	int i;

	at->calls(f, 10);
	for (i = 0; i < PARTS; i++) {
		start = bench_now();
		at->calls(f, CALLS);
		ns[i] = (bench_now() - start) / CALLS;
	}
	qsort(ns, PARTS, sizeof(ns[0]), by_value);
	return ns[PARTS / 2];
}

static double measure(int i, const struct place *at)
{
	struct kprobe p = { .addr = (kprobe_opcode_t *)at->push,
			    .pre_handler = costs[i].pre };
	double bare = call_cost(at, at->push), cost;
	int err;

	if (!p.pre_handler)
		return call_cost(at, at->jumps) - bare;
	err = register_kprobe(&p);
	if (err)
		bench_die(costs[i].name, err);
	cost = call_cost(at, at->push);
	if (dp_kprobe_hits(&p) != PARTS * CALLS + 10)
		bench_die(costs[i].name, 0);
	unregister_kprobe(&p);
	return cost - bare;
}

void bench_placed_round(void)
{
	int i;

	for (i = 0; i < NR_COSTS; i++)
		v[i][rounds] = measure(i, &bench_placed[rounds % PLACES]);
	rounds++;
}

void bench_placed_print(void)
{
	int i;

	for (i = 0; i < NR_COSTS; i++)
		bench_print(costs[i].name, "ns", v[i], rounds, costs[i].note);
}
