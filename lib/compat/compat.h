/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compat: kernel functions that probe modules call, made for a process.
 *
 * All files but module.c, check.c and exports.c run in handlers: inside malloc, in a signal
 * handler, on a stack of 16 KB, in code that holds libc's locks. So they call no function of
 * libc, and take no lock that an interrupted thread may hold. They use general registers
 * only, and make system calls directly. tools/check-compat checks the undefined names.
 */
#ifndef DP_LIB_COMPAT_COMPAT_H
#define DP_LIB_COMPAT_COMPAT_H

/* Leave out what the headers define for modules only. */
#define DP_COMPAT_LIBRARY

/* The library exports all that these headers declare. */
#pragma GCC visibility push(default)
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/sched.h>
#include <linux/cred.h>
#include <linux/uaccess.h>
#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/delay.h>
#include <linux/kallsyms.h>
#include <linux/stacktrace.h>
#include <linux/spinlock.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/sort.h>
#include <linux/rcupdate.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/moduleparam.h>
#include <linux/ptrace.h>
#include "lib/compat/hooks.h"
#pragma GCC visibility pop
#include <asm/unistd.h>

#define DP_SYS_ERROR(result) ((unsigned long)(result) >= -4095ul)

static inline long dp_sys6(long nr, long a, long b, long c, long d, long e,
			   long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define dp_sys3(nr, a, b, c) \
	dp_sys6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)

/** dp_map() - map zeroed memory. Return: NULL if there is none. */
static inline void *dp_map(size_t size, int flags)
{
	/* PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS */
	long p = dp_sys6(__NR_mmap, 0, (long)size, 3, 0x22 | flags, -1, 0);

	return DP_SYS_ERROR(p) ? NULL : (void *)p;
}

static inline void dp_unmap(void *p, size_t size)
{
	dp_sys3(__NR_munmap, p, size, 0);
}

/** dp_map_first() - publish memory of dp_map() at @where. If another thread was first,
 *  unmap @fresh. Return: the published memory. */
static inline void *dp_map_first(void **where, void *fresh, size_t size)
{
	void *none = NULL;

	if (try_cmpxchg(where, &none, fresh))
		return fresh;
	dp_unmap(fresh, size);
	return none;
}

#define DP_MAP_NORESERVE 0x4000

/* Evaluate @call with @args, in a variadic function whose last parameter is @fmt */
#define DP_VARIADIC(call)                  \
	({                                 \
		va_list args;              \
		va_start(args, fmt);       \
		__auto_type result = call; \
		va_end(args);              \
		result;                    \
	})

/** dp_format_count() - parse the width or precision of a conversion, 0 if there is none.
 *  dp_format_length() - parse its length modifier: *@length bytes of an integer.
 *  Return: behind it. */
const char *dp_format_count(const char *f, int *value);
const char *dp_format_length(const char *f, int *length);

/** enum dp_symbol_form - how an address is printed: as %ps, %pS, or %pB does, which takes it for
 *  a return address: the function is that of the call before it */
enum dp_symbol_form { DP_SYMBOL_NAME, DP_SYMBOL_OFFSET, DP_SYMBOL_RETURN };

/** dp_symbol_print() - print an address. Return: length of the text. */
int dp_symbol_print(char *buf, size_t size, unsigned long addr,
		    enum dp_symbol_form form);

#endif
