/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Structures of time. Libc's, where it has them. */
#ifndef DP_LINUX_TIME_H
#define DP_LINUX_TIME_H

#include <linux/types.h>
#include <linux/math64.h>

#define MSEC_PER_SEC 1000L
#define USEC_PER_MSEC 1000L
#define NSEC_PER_USEC 1000L
#define NSEC_PER_MSEC 1000000L
#define USEC_PER_SEC 1000000L
#define NSEC_PER_SEC 1000000000L

/* libc's guards, so that <time.h> and <sys/time.h> may come before or after. */
#ifndef _STRUCT_TIMESPEC
#define _STRUCT_TIMESPEC 1
struct timespec {
	time_t tv_sec;
	long tv_nsec;
};
#endif
#ifndef __timeval_defined
#define __timeval_defined 1
struct timeval {
	time_t tv_sec;
	long tv_usec;
};
#endif

struct timespec64 {
	time64_t tv_sec;
	long tv_nsec;
};

static inline s64 timespec64_to_ns(const struct timespec64 *ts)
{
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

static inline s64 timespec_to_ns(const struct timespec *ts)
{
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

static inline s64 timeval_to_ns(const struct timeval *tv)
{
	return tv->tv_sec * NSEC_PER_SEC + tv->tv_usec * NSEC_PER_USEC;
}

/* For times since an epoch: not negative. */
static inline struct timespec64 ns_to_timespec64(s64 ns)
{
	return (struct timespec64){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
}

static inline struct timespec ns_to_timespec(s64 ns)
{
	return (struct timespec){ ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
}

static inline struct timeval ns_to_timeval(s64 ns)
{
	return (struct timeval){ ns / NSEC_PER_SEC,
				 ns % NSEC_PER_SEC / NSEC_PER_USEC };
}

static inline struct timespec timespec_sub(struct timespec a, struct timespec b)
{
	struct timespec d = { a.tv_sec - b.tv_sec, a.tv_nsec - b.tv_nsec };

	if (d.tv_nsec < 0) {
		d.tv_sec--;
		d.tv_nsec += NSEC_PER_SEC;
	}
	return d;
}

static inline struct timespec64 timespec64_sub(struct timespec64 a,
					       struct timespec64 b)
{
	struct timespec64 d = { a.tv_sec - b.tv_sec, a.tv_nsec - b.tv_nsec };

	if (d.tv_nsec < 0) {
		d.tv_sec--;
		d.tv_nsec += NSEC_PER_SEC;
	}
	return d;
}

#endif
