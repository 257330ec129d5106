// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * self: what probes cost in one's own process: a hit of each kind, and many of
 * them on and off. Prints as bench does; last the manual's own table. "self placed": only hits of
 * handlers.
 *
 * Every round measures everything once, the same call without a probe as well.
 */
#include <dprobes/kprobes.h>
#include "bench/self/placed.h"
#include "bench/self/throw.h"
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#define ROUNDS 9
#define CALLS 300000
#define TRAP_CALLS 3000
#define MANY 50000
#define FUNCTION 16

extern char bench_many[];

static __attribute__((noinline)) int bench_function(int a, int b)
{
	__asm__ volatile("");
	return 3 * a + b;
}

/* Another one, whose first probe is a return probe. */
static __attribute__((noinline)) int bench_returns(int a, int b)
{
	__asm__ volatile("");
	return 3 * a + b + 1;
}

static unsigned long count;
static void (*volatile anything)(void);

static int DP_HANDLER_GPR gpr(struct kprobe *p, struct pt_regs *regs)
{
	count += regs->di;
	return 0;
}

static void nothing(void)
{
}

/* Where it leads to cannot be seen, so everything has to be saved. */
static int through_pointer(struct kprobe *p, struct pt_regs *regs)
{
	anything();
	return 0;
}

static void post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	count++;
}

static int returned(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count += regs_return_value(regs);
	return 0;
}

static int entered(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	count += regs->di;
	return 0;
}

static unsigned long long ticks, slowest;

/* How long a call takes, by the processor's clock. */
static int DP_HANDLER_GPR started(struct kretprobe_instance *ri,
				  struct pt_regs *regs)
{
	*(unsigned long long *)ri->data = __builtin_ia32_rdtsc();
	return 0;
}

static int DP_HANDLER_GPR stopped(struct kretprobe_instance *ri,
				  struct pt_regs *regs)
{
	unsigned long long took =
		__builtin_ia32_rdtsc() - *(unsigned long long *)ri->data;

	ticks += took;
	slowest = took > slowest ? took : slowest;
	return 0;
}

static int twin(int a, int b)
{
	count++;
	jprobe_return();
}

double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double call_cost(int calls)
{
	double start = bench_now();
	int i;

	for (i = 0; i < calls; i++)
		bench_function(i, 2);
	return (bench_now() - start) / calls;
}

static double returns_cost(int calls)
{
	double start = bench_now();
	int i;

	for (i = 0; i < calls; i++)
		bench_returns(i, 2);
	return (bench_now() - start) / calls;
}

void bench_die(const char *what, int err)
{
	fprintf(stderr, "self: %s: %d %s\n", what, err, dp_last_diag()->text);
	exit(1);
}

/**
 * struct cost - probes on one function
 * @optimized: as a jump, if it can be one
 * @k, @r, @j: which probes
 */
struct cost {
	const char *name, *note;
	bool optimized;
	kprobe_pre_handler_t pre;
	kprobe_post_handler_t post;
	bool k, r, j;
	kretprobe_handler_t entry, ret;
};

/* A cost a line. */
/* clang-format off */
static const struct cost costs[] = {
	{ .name = "self_counter", .note = "no handler", .optimized = true, .k = true },
	{ .name = "handler_all", .note = "calls through a pointer: all vector state, x87", .optimized = true, .pre = through_pointer, .k = true },
	{ .name = "pair", .note = "entry and return, a handler each", .optimized = true, .r = true, .entry = entered },
	{ .name = "pair_timed", .note = "latency of the call: two timestamps", .optimized = true, .r = true, .entry = started, .ret = stopped },
	{ .name = "self_trap", .note = "breakpoint", .pre = gpr, .k = true },
	{ .name = "k", .note = "kprobe with a post_handler", .optimized = true, .pre = gpr, .post = post, .k = true },
	{ .name = "b", .note = "kprobe by breakpoint", .pre = gpr, .k = true },
	{ .name = "o", .note = "kprobe by jump", .optimized = true, .pre = gpr, .k = true },
	{ .name = "j", .note = "jprobe", .optimized = true, .j = true },
	{ .name = "r", .note = "return probe by breakpoint", .r = true },
	{ .name = "rb", .note = "return probe by breakpoint", .r = true },
	{ .name = "ro", .note = "return probe by jump", .optimized = true, .r = true },
	{ .name = "kr", .note = "kprobe and return probe by breakpoint", .pre = gpr, .k = true, .r = true },
	{ .name = "jr", .note = "jprobe and return probe", .r = true, .j = true },
};
/* clang-format on */

#define NR_COSTS ((int)(sizeof(costs) / sizeof(costs[0])))

static double measure(const struct cost *c)
{
	struct kprobe k = { .addr = (kprobe_opcode_t *)bench_function,
			    .pre_handler = c->pre,
			    .post_handler = c->post };
	bool alone = c->r && !c->k && !c->j;
	double (*call)(int calls) = alone ? returns_cost : call_cost;
	struct kretprobe r = {
		.kp.addr = (kprobe_opcode_t *)(alone ? bench_returns :
						       bench_function),
		.entry_handler = c->entry,
		.handler = c->ret ? c->ret : returned,
		.data_size = sizeof(unsigned long long)
	};
	struct jprobe j = { .kp.addr = (kprobe_opcode_t *)bench_function,
			    .entry = (void *)twin };
	bool slow = !c->optimized || c->post || c->j;
	double cost;
	int err = 0;

	dp_kprobes_optimization(c->optimized);
	/* The jprobe last: it goes elsewhere, and who comes later waits. */
	if (c->r)
		err = register_kretprobe(&r);
	if (!err && c->k)
		err = register_kprobe(&k);
	if (!err && c->j)
		err = register_jprobe(&j);
	if (err)
		bench_die(c->name, err);
	call(10);
	cost = call(slow ? TRAP_CALLS : CALLS);
	if (c->j)
		unregister_jprobe(&j);
	if (c->k)
		unregister_kprobe(&k);
	if (c->r)
		unregister_kretprobe(&r);
	dp_kprobes_optimization(1);
	return cost - call(CALLS);
}

#define THROWS 5000

/* Return probes on all functions that an exception passes. */
static void throw_once(double *bare, double *probed)
{
	struct kretprobe r[] = {
		{ .kp.symbol_name = "bench_throw1", .handler = returned },
		{ .kp.symbol_name = "bench_throw2", .handler = returned },
		{ .kp.symbol_name = "bench_throw3", .handler = returned },
	};
	struct kretprobe *all[] = { &r[0], &r[1], &r[2] };
	int err;

	*bare = bench_throw_cost(THROWS);
	err = register_kretprobes(all, 3);
	if (err)
		bench_die("throw", err);
	*probed = bench_throw_cost(THROWS);
	unregister_kretprobes(all, 3);
}

static struct kprobe probes[MANY], *list[MANY];

static void many(int n, double *on, double *off)
{
	double start;
	int i, err;

	for (i = 0; i < n; i++) {
		probes[i] = (struct kprobe){
			.addr = (kprobe_opcode_t *)bench_many + i * FUNCTION,
			.pre_handler = gpr,
		};
		list[i] = &probes[i];
	}
	start = bench_now();
	err = register_kprobes(list, n);
	*on = (bench_now() - start) / 1e6;
	if (err)
		bench_die("many", err);
	start = bench_now();
	unregister_kprobes(list, n);
	*off = (bench_now() - start) / 1e6;
}

/* Beside @n others, at a site that is new. */
static void one_more(int n, double *on)
{
	double start;
	int err = register_kprobes(list, n);

	start = bench_now();
	err = err ? err : register_kprobe(&probes[n]);
	*on = (bench_now() - start) / 1e6;
	if (err)
		bench_die("one more", err);
	unregister_kprobe(&probes[n]);
	unregister_kprobes(list, n);
}

static void one_by_one(int n, double *on, double *off)
{
	double start = bench_now();
	int i, err = 0;

	for (i = 0; i < n && !err; i++)
		err = register_kprobe(&probes[i]);
	*on = (bench_now() - start) / 1e6;
	if (err)
		bench_die("one by one", err);
	start = bench_now();
	for (i = 0; i < n; i++)
		unregister_kprobe(&probes[i]);
	*off = (bench_now() - start) / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_print(const char *name, const char *unit, double *v, int n,
		   const char *note)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	printf("{\"bench\":\"%s\",\"unit\":\"%s\",\"value\":%.2f,\"min\":%.2f,\"max\":%.2f,\"note\":\"%s\"}\n",
	       name, unit, v[n / 2], v[0], v[n - 1], note);
	return v[n / 2];
}

static long resident_kb(void)
{
	long pages = 0, skip;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%ld %ld", &skip, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return pages * 4;
}

static void print_many(void)
{
	double v[8][ROUNDS], bytes[1];
	long before;
	int i;

	/* What stays of the first batch is what a site costs. */
	many(16, &v[0][0], &v[1][0]);
	before = resident_kb();
	many(10000, &v[0][0], &v[1][0]);
	bytes[0] = (double)(resident_kb() - before) * 1024 / 10000;
	for (i = 0; i < 5; i++) {
		many(10000, &v[0][i], &v[1][i]);
		many(MANY, &v[2][i], &v[3][i]);
	}
	for (i = 0; i < 5; i++)
		one_more(10000, &v[6][i]);
	one_by_one(MANY, &v[4][0], &v[5][0]);
	bench_print("site_bytes", "B", bytes, 1,
		    "resident memory, patched text and all, per site");
	bench_print("on_10k", "ms", v[0], 5, "10,000 kprobes in one batch");
	bench_print("off_10k", "ms", v[1], 5, "and off again");
	bench_print("on_50k", "ms", v[2], 5, "50,000");
	bench_print("off_50k", "ms", v[3], 5, "and off again");
	bench_print("add_one_10k", "ms", v[6], 5, "one more beside 10,000");
	bench_print("on_50k_single", "ms", v[4], 1, "one by one");
	bench_print("off_50k_single", "ms", v[5], 1, "and off again");
}

static void print_throw(void)
{
	double v[3][ROUNDS];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		throw_once(&v[0][i], &v[1][i]);
		v[2][i] = v[1][i] / v[0][i];
	}
	bench_print("throw", "ns", v[0], ROUNDS,
		    "through three functions, no probe");
	bench_print("throw_probed", "ns", v[1], ROUNDS,
		    "and with a return probe on each");
	bench_print("ratio_throw", "1", v[2], ROUNDS, "of the two");
}

static double value_of(const double *values, const char *name)
{
	int i;

	for (i = 0; i < NR_COSTS; i++)
		if (!strcmp(costs[i].name, name))
			return values[i] / 1000;
	return 0;
}

static void model(char *text, size_t size)
{
	char line[256], *colon;
	FILE *f = fopen("/proc/cpuinfo", "re");

	snprintf(text, size, "?");
	while (f && fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) || !colon)
			continue;
		snprintf(text, size, "%s", colon + 2);
		text[strcspn(text, "\n")] = '\0';
		break;
	}
	if (f)
		fclose(f);
}

/* As the manual prints it, in microseconds: text for people, so a note. */
static void print_table(const double *v)
{
	struct utsname u;
	char cpu[128];

	uname(&u);
	model(cpu, sizeof(cpu));
	printf("{\"bench\":\"table\",\"note\":\"%s, %s: k = %.2f usec; j = %.2f; r = %.2f; kr = %.2f; jr = %.2f; b = %.2f; o = %.3f; rb = %.2f; ro = %.3f\"}\n",
	       cpu, u.machine, value_of(v, "k"), value_of(v, "j"),
	       value_of(v, "r"), value_of(v, "kr"), value_of(v, "jr"),
	       value_of(v, "b"), value_of(v, "o"), value_of(v, "rb"),
	       value_of(v, "ro"));
	printf("{\"bench\":\"ratio_j_k\",\"unit\":\"1\",\"value\":%.2f,\"min\":%.2f,\"max\":%.2f}\n",
	       value_of(v, "j") / value_of(v, "k"),
	       value_of(v, "j") / value_of(v, "k"),
	       value_of(v, "j") / value_of(v, "k"));
	printf("{\"bench\":\"ratio_r_k\",\"unit\":\"1\",\"value\":%.2f,\"min\":%.2f,\"max\":%.2f}\n",
	       value_of(v, "r") / value_of(v, "k"),
	       value_of(v, "r") / value_of(v, "k"),
	       value_of(v, "r") / value_of(v, "k"));
}

int main(int argc, char **argv)
{
	static double v[NR_COSTS][ROUNDS];
	double medians[NR_COSTS];
	cpu_set_t set;
	int round, i;
	bool only;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	anything = nothing;
	only = argc > 1 && !strcmp(argv[1], "placed");
	for (round = 0; round < BENCH_PLACED_ROUNDS; round++)
		bench_placed_round();
	bench_placed_print();
	if (only)
		return 0;
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < NR_COSTS; i++)
			v[i][round] = measure(&costs[i]);
	for (i = 0; i < NR_COSTS; i++)
		medians[i] = bench_print(costs[i].name, "ns", v[i], ROUNDS,
					 costs[i].note);
	print_throw();
	print_many();
	print_table(medians);
	return 0;
}
