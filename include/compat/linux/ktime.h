/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Time in nanoseconds. */
#ifndef DP_LINUX_KTIME_H
#define DP_LINUX_KTIME_H

#include <linux/types.h>
#include <linux/time.h>
#include <linux/jiffies.h>

/* Clocks, read without a system call where the system allows it. Context: any. */
ktime_t ktime_get(void) DP_COMPAT(ktime_get);
ktime_t ktime_get_real(void) DP_COMPAT(ktime_get_real);
ktime_t ktime_get_boottime(void) DP_COMPAT(ktime_get_boottime);
ktime_t ktime_get_raw(void) DP_COMPAT(ktime_get_raw);
ktime_t ktime_get_coarse(void) DP_COMPAT(ktime_get_coarse);
#define ktime_get_ns() ((u64)ktime_get())
#define ktime_get_real_ns() ((u64)ktime_get_real())
#define ktime_get_boottime_ns() ((u64)ktime_get_boottime())
#define ktime_get_boot_ns() ((u64)ktime_get_boottime())
#define ktime_get_raw_ns() ((u64)ktime_get_raw())
#define ktime_get_mono_fast_ns() ((u64)ktime_get())
#define ktime_get_seconds() ((time64_t)(ktime_get() / NSEC_PER_SEC))
#define ktime_get_real_seconds() ((time64_t)(ktime_get_real() / NSEC_PER_SEC))
#define get_seconds() ((unsigned long)ktime_get_real_seconds())
#define local_clock() ((u64)ktime_get())
#define sched_clock() ((u64)ktime_get())
#define cpu_clock(cpu) ((void)(cpu), (u64)ktime_get())

#define ktime_get_ts64(ts) ((void)(*(ts) = ns_to_timespec64(ktime_get())))
#define ktime_get_real_ts64(ts) ((void)(*(ts) = ns_to_timespec64(ktime_get_real())))
#define ktime_get_coarse_real_ts64 ktime_get_real_ts64
#define ktime_get_boottime_ts64(ts) \
	((void)(*(ts) = ns_to_timespec64(ktime_get_boottime())))
#define getnstimeofday64 ktime_get_real_ts64
#define ktime_get_ts(ts) ((void)(*(ts) = ns_to_timespec(ktime_get())))
#define getnstimeofday(ts) ((void)(*(ts) = ns_to_timespec(ktime_get_real())))
#define getrawmonotonic(ts) ((void)(*(ts) = ns_to_timespec(ktime_get_raw())))
#define do_gettimeofday(tv) ((void)(*(tv) = ns_to_timeval(ktime_get_real())))
#define current_kernel_time() ns_to_timespec(ktime_get_real())
#define current_kernel_time64() ns_to_timespec64(ktime_get_real())
#define get_monotonic_boottime(ts) \
	((void)(*(ts) = ns_to_timespec(ktime_get_boottime())))

#define KTIME_MAX ((s64)~((u64)1 << 63))

static inline ktime_t ktime_set(s64 secs, unsigned long nsecs)
{
	return secs * NSEC_PER_SEC + (s64)nsecs;
}

static inline s64 ktime_to_ns(ktime_t t)
{
	return t;
}

static inline s64 ktime_to_us(ktime_t t)
{
	return t / NSEC_PER_USEC;
}

static inline s64 ktime_to_ms(ktime_t t)
{
	return t / NSEC_PER_MSEC;
}

static inline s64 ktime_us_delta(ktime_t later, ktime_t earlier)
{
	return (later - earlier) / NSEC_PER_USEC;
}

static inline s64 ktime_ms_delta(ktime_t later, ktime_t earlier)
{
	return (later - earlier) / NSEC_PER_MSEC;
}

static inline int ktime_compare(ktime_t a, ktime_t b)
{
	return a < b ? -1 : a > b;
}

#define ktime_sub(a, b) ((a) - (b))
#define ktime_add(a, b) ((a) + (b))
#define ktime_add_ns(t, ns) ((t) + (s64)(ns))
#define ktime_sub_ns(t, ns) ((t) - (s64)(ns))
#define ktime_add_us(t, us) ((t) + (s64)(us) * NSEC_PER_USEC)
#define ktime_add_ms(t, ms) ((t) + (s64)(ms) * NSEC_PER_MSEC)
#define ktime_equal(a, b) ((a) == (b))
#define ktime_after(a, b) ((a) > (b))
#define ktime_before(a, b) ((a) < (b))
#define ns_to_ktime(ns) ((ktime_t)(ns))
#define ms_to_ktime(ms) ((ktime_t)(ms) * NSEC_PER_MSEC)
#define us_to_ktime(us) ((ktime_t)(us) * NSEC_PER_USEC)
#define ktime_to_timespec64(t) ns_to_timespec64(t)
#define ktime_to_timespec(t) ns_to_timespec(t)
#define ktime_to_timeval(t) ns_to_timeval(t)
#define timespec64_to_ktime(ts) timespec64_to_ns(&(ts))
#define timespec_to_ktime(ts) timespec_to_ns(&(ts))

#endif
