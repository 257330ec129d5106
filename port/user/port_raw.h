/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* raw: system calls without libc. Its functions may be probed, and the caller need not be
 * a thread that libc knows. */
#ifndef DP_PORT_USER_PORT_RAW_H
#define DP_PORT_USER_PORT_RAW_H

#include <sys/syscall.h>
#include "port/raw.h"

/** dp_raw() - make a system call with five arguments at most */
static inline long dp_raw(long nr, long a, long b, long c, long d, long e)
{
	return dp_raw_call(nr, (u64)a, (u64)b, (u64)c, (u64)d, (u64)e, 0);
}

/** dp_raw_clone() - make a child that calls @function, which must not return, on a stack of
 *  its own that ends at @top. Return: of clone(2), in the parent */
static inline long dp_raw_clone(long flags, char *top, void (*function)(void *),
				void *argument)
{
	register void *call __asm__("r12") = (void *)function;
	register void *arg __asm__("r13") = argument;
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;
	long ret = SYS_clone;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "hlt\n"
			 "1:"
			 : "+a"(ret)
			 : "D"(flags), "S"(top), "d"(0), "r"(r10), "r"(r8),
			   "r"(call), "r"(arg)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif
