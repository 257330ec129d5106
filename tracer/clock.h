/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clock: what a stamp of a source's clock is in another clock's time. */
#ifndef DP_TRACER_CLOCK_H
#define DP_TRACER_CLOCK_H

#include "arch/arch.h"
#include <time.h>

/** struct dp_clock_sample - both clocks at one moment: @ticks of the source's, @ns of the other */
struct dp_clock_sample {
	u64 ticks;
	s64 ns;
};

/** dp_clock_sample() - read both clocks. @clock: as of clock_gettime(2); @ticks: reads the source's.
 *  The error is some ns. */
struct dp_clock_sample dp_clock_sample(clockid_t clock, u64 (*ticks)(void));

/**
 * struct dp_clock - a clock that can be set, and a source's, which runs evenly
 * @first, @last: samples
 * @stamp, @shown: the latest stamp that has been asked for, and the answer
 */
struct dp_clock {
	struct dp_clock_sample first, last;
	u64 stamp;
	s64 shown;
};

/**
 * dp_clock_ns() - the time of a stamp
 * @c: with two samples; @stamp: any number, as a target can write any
 *
 * Stamps that ascend have times that do so, unless the clock has been set back in between.
 *
 * Return: ns since the clock's origin, at least 0.
 */
s64 dp_clock_ns(struct dp_clock *c, u64 stamp);

#endif
