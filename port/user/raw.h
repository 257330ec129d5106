/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* raw: the kernel and the processor, by their own instructions: see port/raw.h. */
#ifndef DP_PORT_USER_RAW_H
#define DP_PORT_USER_RAW_H

#include "port_types.h"

/* Selector whose limit holds the CPU number (the vdso's getcpu reads it too). */
#define DP_GDT_CPU_SELECTOR 0x7b

static inline long dp_raw_call(long nr, u64 a, u64 b, u64 c, u64 d, u64 e,
			       u64 f)
{
	register u64 r10 __asm__("r10") = d;
	register u64 r8 __asm__("r8") = e;
	register u64 r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline u32 dp_raw_cpu(void)
{
	u32 limit;

	__asm__("lsl %1, %0" : "=r"(limit) : "r"(DP_GDT_CPU_SELECTOR));
	return limit & 0xfff;
}

static inline u64 dp_raw_ticks(void)
{
	u32 low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (u64)high << 32 | low;
}

static inline u64 dp_raw_thread_pointer(void)
{
	u64 base;

	__asm__ volatile("rdfsbase %0" : "=r"(base));
	return base;
}

static inline u64 dp_raw_second_base(void)
{
	u64 base;

	__asm__ volatile("rdgsbase %0" : "=r"(base));
	return base;
}

static inline u64 dp_raw_thread_self(void)
{
	u64 pointer;

	__asm__ volatile("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline u32 dp_raw_thread_half(s64 offset)
{
	u32 half;

	__asm__ volatile("movl %%fs:(%1), %0" : "=r"(half) : "r"(offset));
	return half;
}

#endif
