/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* victim: what the benchmark driver and the process it measures share. */
#ifndef BENCH_VICTIM_H
#define BENCH_VICTIM_H

#include <stdint.h>

/* Functions to probe, by what they begin with. They are called with the address of BENCH_NUMBER. */
enum bench_function {
	BENCH_PUSH,
	BENCH_NOP5,
	BENCH_ENDBR64,
	BENCH_JUMPS, /* as BENCH_PUSH, by way of two jumps */
	BENCH_LOOP, /* BENCH_LOOP_TURNS times around a loop */
	BENCH_FUNCTIONS,
};

/* Functions that are the same as BENCH_PUSH, one behind the other */
#define BENCH_MANY 10000
#define BENCH_MANY_STEP 64
/* So many of them, the first ones, have symbols. */
#define BENCH_NAMED 1000

#define BENCH_NUMBER 7
#define BENCH_TEXT "sixteen bytes ok"
#define BENCH_CROWD 8 /* threads that are more than two */

/* What a call costs depends on where function and caller lie: at so many places, 8 bytes apart, each
 * of which is measured as often. BENCH_NOP5 and BENCH_ENDBR64 lie at one. */
#define BENCH_PLACES 8

/* The loop of BENCH_LOOP: its instructions, from the second of the function on; one is before them
 * and one behind them */
#define BENCH_LOOP_TURNS 100
#define BENCH_LOOP_INSNS 9

#define BENCH_SHARED_FD 3

/**
 * struct bench_shared - a page that both map
 * @at: addresses of the functions, at each place, set once by the victim; @many: of the first of many
 * @addr, @place: addresses at the place that is being measured, and which it is, set by the driver
 * @ready: the victim has begun
 * @asked: the driver's request number; @function and @calls belong to it, and @threads,
 *	which make so many calls each, at once: two on a CPU of their own, more on both;
 *	@deep: so many frames more lie around the calls of one thread;
 *	@text: the functions are called with the address of BENCH_TEXT
 * @answered: the last request that is done; @ns is what its calls take, from the
 *	median of some parts; of two threads, the mean; of more, that of their time on a CPU
 * @watched: bytes to look at, BENCH_MANY_STEP apart from @watch on, until all of them
 *	are others than they were when the victim saw the request; 0: none
 * @watching: the victim looks at so many
 * @changed: when they were, by CLOCK_MONOTONIC, in ns; 0: they are not yet
 * @gap_ns: longest time that the idle victim did not run; the driver clears it
 */
struct bench_shared {
	uint64_t at[BENCH_FUNCTIONS][BENCH_PLACES], many;
	uint64_t addr[BENCH_FUNCTIONS];
	uint32_t place;
	uint32_t ready;
	uint32_t asked, answered;
	uint32_t function, threads, text, deep;
	uint64_t calls;
	uint64_t ns;
	uint64_t gap_ns;
	uint64_t watch, changed;
	uint32_t watched, watching;
};

#endif
