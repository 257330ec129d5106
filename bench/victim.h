/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* victim: what the benchmark driver and the process it measures share. */
#ifndef BENCH_VICTIM_H
#define BENCH_VICTIM_H

#include <stdint.h>

/* Functions to probe, by what they begin with. */
enum bench_function {
	BENCH_PUSH,
	BENCH_NOP5,
	BENCH_ENDBR64,
	BENCH_FUNCTIONS,
};

#define BENCH_SHARED_FD 3

/**
 * struct bench_shared - a page that both map
 * @addr: of the functions, set once by the victim
 * @ready: the victim has begun
 * @asked: the driver's request number; @function and @calls belong to it
 * @answered: the last request that is done; @ns is what its calls take, from the
 *	median of some parts
 * @gap_ns: longest time that the idle victim did not run; the driver clears it
 */
struct bench_shared {
	uint64_t addr[BENCH_FUNCTIONS];
	uint32_t ready;
	uint32_t asked, answered;
	uint32_t function;
	uint64_t calls;
	uint64_t ns;
	uint64_t gap_ns;
};

#endif
