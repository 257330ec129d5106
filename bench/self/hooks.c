// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hooks: what hooks cost, dormant and armed, beside what others leave in code.
 *
 * Dormant: a loop runs through a thousand hooks; another one is the same without. Armed: a call of a
 * function with one hook, less the same call when that is dormant.
 */
#include <dprobes/hooks.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if __has_include(<lttng/tracepoint.h>)
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/twins_lttng.h"
#define HAS_LTTNG
#endif

#define ROUNDS 15
#define LOOPS 3000
#define PLACES 1000
#define CALLS 30000
#define PIECES 10
#define EXITS 5

DECLARE_HOOK(dormant, unsigned int);
DECLARE_HOOK(armed, int);

static volatile unsigned int sink;

/* A few instructions that depend on one another, as code has between its hooks */
#define WORK(what)     \
	what;          \
	x = x * 5 + 3; \
	__asm__ volatile("" : "+r"(x));
#define W2(what) WORK(what) WORK(what)
#define W10(what) W2(what) W2(what) W2(what) W2(what) W2(what)
#define W50(what) W10(what) W10(what) W10(what) W10(what) W10(what)
#define W100(what) W50(what) W50(what)
#define W500(what) W100(what) W100(what) W100(what) W100(what) W100(what)
#define THOUSAND(what) W500(what) W500(what)

static unsigned int cold_calls;

static __attribute__((noinline, cold)) void cold(unsigned int n)
{
	cold_calls += n;
}

/* What a static key is: a nop that could be a jump */
#define KEY()                                                       \
	__extension__({                                             \
		__label__ on;                                       \
		__asm__ goto(".byte 0x0f, 0x1f, 0x44, 0, 0\n"       \
			     ".pushsection .discard.keys, \"aw\"\n" \
			     ".quad %l[on]\n"                       \
			     ".popsection\n"                        \
			     :                                      \
			     :                                      \
			     :                                      \
			     : on);                                 \
		if (0) {                                            \
		on:                                                 \
			__attribute__((cold, unused));              \
			cold(x);                                    \
		}                                                   \
	})
/* What <sys/sdt.h> leaves */
#define USDT() __asm__ volatile("nop" : : "r"(x))

#define LOOP(name, what)                                 \
	static __attribute__((noinline)) void name(void) \
	{                                                \
		unsigned int x = sink, i;                \
		for (i = 0; i < LOOPS; i++) {            \
			THOUSAND(what)                   \
		}                                        \
		sink = x;                                \
	}
LOOP(plain, (void)0)
LOOP(hooked, HOOK(dormant, x))
LOOP(keyed, KEY())
LOOP(traced, USDT())
#ifdef HAS_LTTNG
LOOP(lttng, lttng_ust_tracepoint(twin, plain, (int)x))
#endif

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double took(void (*loop)(void))
{
	double start = now();

	loop();
	return (now() - start) / LOOPS / PLACES;
}

static __attribute__((noinline)) void call(int n)
{
	HOOK(armed, n);
	__asm__ volatile("");
}

/* Where others run on this CPU they take longer than all calls do: so, in pieces, the least. */
static double call_took(void)
{
	double least = 1e9, start;
	int i, piece;

	for (piece = 0; piece < PIECES; piece++) {
		start = now();
		for (i = 0; i < CALLS; i++)
			call(i);
		start = (now() - start) / CALLS;
		least = start < least ? start : least;
	}
	return least;
}

static int nothing(struct gkh_hook *h, struct gkh_args *a)
{
	return GKH_CONTINUE;
}

static struct gkh_rec recs[EXITS];

static int arm_one(int i)
{
	recs[i] = (struct gkh_rec){ .hook = GKH_HOOK(armed), .exit = nothing };
	return gkh_register(&recs[i]) || gkh_arm(&recs[i]);
}

/* With no exit, with one, with all */
static int measure_armed(double *one, double *further)
{
	double none = call_took(), first, all;
	int i, err = arm_one(0);

	first = call_took();
	for (i = 1; i < EXITS && !err; i++)
		err = arm_one(i);
	all = call_took();
	*one = first - none;
	*further = (all - first) / (EXITS - 1);
	for (i = 0; i < EXITS; i++)
		gkh_deregister(&recs[i]);
	return err;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *name, double *v, const char *note)
{
	qsort(v, ROUNDS, sizeof(*v), ascending);
	printf("{\"bench\":\"%s\",\"unit\":\"ns\",\"value\":%.2f,\"min\":%.2f,\"max\":%.2f,\"note\":\"%s\"}\n",
	       name, v[ROUNDS / 2], v[0], v[ROUNDS - 1], note);
}

int main(void)
{
	static double v[6][ROUNDS];
	cpu_set_t set;
	double base;
	int i;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (i = 0; i < ROUNDS; i++) {
		base = took(plain);
		v[0][i] = took(hooked) - base;
		v[1][i] = took(keyed) - base;
		v[2][i] = took(traced) - base;
#ifdef HAS_LTTNG
		v[3][i] = took(lttng) - base;
#endif
		if (measure_armed(&v[4][i], &v[5][i])) {
			fprintf(stderr, "hooks: exits cannot be armed\n");
			return 1;
		}
	}
	print("hook_dormant", v[0], "each of a thousand in a loop");
	print("hook_static_key", v[1], "a nop that could be a jump");
	print("hook_usdt_nop", v[2], "a static probe");
#ifdef HAS_LTTNG
	print("hook_lttng_off", v[3], "a disabled tracepoint");
#else
	printf("{\"bench\":\"hook_lttng_off\",\"absent\":\"liblttng-ust-dev is not installed\"}\n");
#endif
	print("hook_armed", v[4], "with one exit, which does nothing");
	print("hook_exit", v[5], "each further exit");
	return 0;
}
