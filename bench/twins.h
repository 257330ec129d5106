/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * twins: two functions alike, of which a peer probes one; calls of both, turn
 * by turn, give what the probe adds.
 */
#ifndef BENCH_TWINS_H
#define BENCH_TWINS_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TWINS_CALLS 4000 /* in one turn */
#define TWINS_WARM 5 /* turns before those that are measured */
#define TWINS_TURNS 15
#define TWINS_HITS (TWINS_CALLS * (TWINS_WARM + TWINS_TURNS))
#define TWINS_ANSWER "/tmp/twins"

static inline double twins_loop(void (*f)(int))
{
	struct timespec a, b;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < TWINS_CALLS; i++)
		f(i);
	clock_gettime(CLOCK_MONOTONIC, &b);
	return ((double)(b.tv_sec - a.tv_sec) * 1e9 +
		(double)(b.tv_nsec - a.tv_nsec)) /
	       TWINS_CALLS;
}

static inline int twins_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** twins_measure() - leaves nanoseconds per hit, a median, in TWINS_ANSWER */
static inline int twins_measure(void (*probed)(int), void (*plain)(int))
{
	double ns[TWINS_TURNS];
	cpu_set_t set;
	FILE *f;
	int i;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (i = 0; i < TWINS_WARM; i++)
		twins_loop(probed);
	for (i = 0; i < TWINS_TURNS; i++) {
		ns[i] = -twins_loop(plain);
		ns[i] += twins_loop(probed);
	}
	qsort(ns, TWINS_TURNS, sizeof(ns[0]), twins_compare);
	f = fopen(TWINS_ANSWER, "we");
	if (!f)
		return 1;
	fprintf(f, "%f\n", ns[TWINS_TURNS / 2]);
	return fclose(f) ? 1 : 0;
}

#endif
