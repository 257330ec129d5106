/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw: port/user reaches the kernel and the processor through these functions only.
 *
 * Two worlds implement these functions: port/user/raw.h by the instructions themselves, and
 * port/fake in memory (DP_PORT_FAKE), so that port/user runs in unit tests.
 *
 * Context of every function: any, including signal handlers. Only dp_raw_call() can block,
 * in a call that does.
 */
#ifndef DP_PORT_RAW_H
#define DP_PORT_RAW_H

#include "port_types.h"

#ifdef DP_PORT_FAKE
#define DP_RAW
#else
#define DP_RAW static inline
#endif

/**
 * dp_raw_call() - make a system call of Linux
 * @nr: its number; @a … @f: its arguments
 * Return: what the kernel does: 0 or more, or a negative errno.
 */
DP_RAW long dp_raw_call(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);

/** dp_raw_cpu() - the CPU that this thread ran on a moment ago. Return: from 0 */
DP_RAW u32 dp_raw_cpu(void);

/** dp_raw_ticks() - the clock that all CPUs share, in its own unit; waits for earlier
 *  instructions */
DP_RAW u64 dp_raw_ticks(void);

/** dp_raw_thread_pointer() - base of this thread's local storage. Context: the kernel lets
 *  programs read it by an instruction. */
DP_RAW u64 dp_raw_thread_pointer(void);

/** dp_raw_second_base() - the other base that programs have. Context: as
 *  dp_raw_thread_pointer(). */
DP_RAW u64 dp_raw_second_base(void);

/** dp_raw_thread_self() - the thread pointer, which libc keeps in the first word there */
DP_RAW u64 dp_raw_thread_self(void);

/** dp_raw_thread_half() - load the 32 bits at @offset bytes from the thread pointer */
DP_RAW u32 dp_raw_thread_half(s64 offset);

#ifndef DP_PORT_FAKE
#include "port/user/raw.h"
#endif

#endif
