// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * clock: what a stamp of a source's clock is in another clock's time.
 *
 * Each sample is wrong by some ns, and moves all times by as much. Two stamps, one asked for
 * before a sample and one after it, could change places. So the later one is never shown as the earlier.
 */
#include "tracer/clock.h"

#define SAMPLES 16
#define NS 1000000000ll
/* More than a sample's error, and less than any step by which people set a clock. */
#define MOST_ERROR 1000000

/* @width: ticks between which the clock was read */
static struct dp_clock_sample read_both(clockid_t clock, u64 (*ticks)(void),
					u64 *width)
{
	struct timespec t;
	u64 before = ticks();

	clock_gettime(clock, &t);
	*width = ticks() - before;
	return (struct dp_clock_sample){ before + *width / 2,
					 t.tv_sec * NS + t.tv_nsec };
}

/* The first reading of a clock takes longer than others, and any may be interrupted. */
struct dp_clock_sample dp_clock_sample(clockid_t clock, u64 (*ticks)(void))
{
	u64 least, width;
	struct dp_clock_sample best = read_both(clock, ticks, &least), now;
	int i;

	for (i = 1; i < SAMPLES; i++) {
		now = read_both(clock, ticks, &width);
		if (width < least) {
			least = width;
			best = now;
		}
	}
	return best;
}

s64 dp_clock_ns(struct dp_clock *c, u64 stamp)
{
	double span = (double)(c->last.ticks - c->first.ticks);
	double rate = span > 0 ? (double)(c->last.ns - c->first.ns) / span : 0;
	double ago = (double)(s64)(c->last.ticks - stamp) * rate;
	s64 ns;

	/* Neither end is a number of a clock's, or one that s64 does not hold. */
	if (ago >= (double)c->last.ns || ago < -(double)(1ll << 61))
		return 0;
	ns = c->last.ns - (s64)ago;
	if (stamp < c->stamp)
		return ns;
	if (ns < c->shown && c->shown - ns < MOST_ERROR)
		ns = c->shown;
	c->stamp = stamp;
	c->shown = ns;
	return ns;
}
