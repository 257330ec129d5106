/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_hit: what the hit half asks of Linux, by raw system calls. */
#ifndef DP_PORT_HIT_H
#define DP_PORT_HIT_H

#include "port_types.h"
#include "engine/layout.h"
#include <asm/unistd.h>

#define DP_SIGTRAP 5
#define DP_SIG_SETMASK 2
#define DP_SIGSET_BYTES 8
#define DP_MADV_DONTNEED 4
/* Selector whose limit holds the CPU number (the vdso's getcpu reads it too). */
#define DP_GDT_CPU_SELECTOR 0x7b

static inline long dp_syscall(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
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

static inline u32 dp_port_cpu(void)
{
	u32 limit;

	__asm__("lsl %1, %0" : "=r"(limit) : "r"(DP_GDT_CPU_SELECTOR));
	return limit & 0xfff;
}

static inline u32 dp_port_pid(void)
{
	return (u32)dp_syscall(__NR_getpid, 0, 0, 0, 0, 0, 0);
}

struct dp_iovec {
	u64 base;
	u64 len;
};

static inline int dp_port_copy(long nr, void *ours, u64 theirs, size_t len)
{
	struct dp_iovec local = { (u64)ours, len };
	struct dp_iovec remote = { theirs, len };
	long n = dp_syscall(nr, dp_port_pid(), (u64)&local, 1, (u64)&remote, 1,
			    0);

	return n == (long)len ? 0 : -EFAULT;
}

static inline int dp_port_copy_in(void *to, u64 from, size_t len)
{
	return dp_port_copy(__NR_process_vm_readv, to, from, len);
}

static inline int dp_port_copy_out(u64 to, const void *from, size_t len)
{
	return dp_port_copy(__NR_process_vm_writev, (void *)from, to, len);
}

static inline int dp_port_sigaction(const struct dp_kernel_sigaction *act)
{
	return (int)dp_syscall(__NR_rt_sigaction, DP_SIGTRAP, (u64)act, 0,
			       DP_SIGSET_BYTES, 0, 0);
}

static inline void dp_port_sigmask(u64 mask)
{
	dp_syscall(__NR_rt_sigprocmask, DP_SIG_SETMASK, (u64)&mask, 0,
		   DP_SIGSET_BYTES, 0, 0);
}

static inline void dp_port_requeue(int sig, const void *siginfo)
{
	u64 tid = (u64)dp_syscall(__NR_gettid, 0, 0, 0, 0, 0, 0);

	dp_syscall(__NR_rt_tgsigqueueinfo, dp_port_pid(), tid, (u64)sig,
		   (u64)siginfo, 0, 0);
}

static inline int dp_port_drop(u64 start, u64 size)
{
	return (int)dp_syscall(__NR_madvise, start, size, DP_MADV_DONTNEED, 0,
			       0, 0);
}

#endif
