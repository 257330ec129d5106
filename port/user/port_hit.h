/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_hit: what the hit half asks of Linux, by raw system calls. */
#ifndef DP_PORT_HIT_H
#define DP_PORT_HIT_H

#include "port_types.h"
#include "port_calls.h"
#include "engine/layout/base.h"
#include "engine/layout/marks.h"
#include "engine/layout/arena.h"
#include "port/raw.h"

#define DP_SIGTRAP 5
#define DP_SIGILL 4
#define DP_SIGFPE 8
#define DP_SIG_SETMASK 2
#define DP_SIGSET_BYTES 8
#define DP_PROT_READ_WRITE 3
#define DP_MAP_FIXED_ZEROS 0x32 /* MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS */
#define DP_MADV_DONTNEED 4
#define DP_MADV_POPULATE_WRITE 23
#define DP_SS_DISABLE 2
#define DP_CLOCK_MONOTONIC 1
#define DP_FUTEX_WAIT 0
#define DP_FUTEX_WAKE 1
#define DP_CLONE_VM 0x100
#define DP_ARCH_SET_FS 0x1002
#define DP_ARCH_GET_FS 0x1003
#define DP_ARCH_GET_GS 0x1004

/* A call for which a seccomp filter may kill is not made: dp_syscall() fails. A call that
 * the program itself asked for is made, unless all are forbidden. */
#ifdef DP_AGENT
extern struct dp_arena dp_arena __attribute__((visibility("hidden")));
#define DP_FORBIDDEN dp_arena.control.forbidden
#define DP_SIGNAL_FREE_ID dp_arena.control.owner
#define DP_SIGNAL_FREE_BASES dp_arena.control.fsgsbase
#else
#define DP_FORBIDDEN 0u
#define DP_SIGNAL_FREE_ID 0
#define DP_SIGNAL_FREE_BASES 0
#endif
#define DP_NO_CALL (-38) /* ENOSYS */
#define DP_TIMED_OUT (-110) /* ETIMEDOUT */
#define DP_INVALID (-22) /* EINVAL */

static inline bool dp_port_may(long nr)
{
	return !(DP_FORBIDDEN & dp_own_bit(nr));
}

static inline long dp_syscall_six(long nr, u64 a, u64 b, u64 c, u64 d, u64 e,
				  u64 f)
{
	if (!dp_port_may(nr))
		return DP_NO_CALL;
	return dp_raw_call(nr, a, b, c, d, e, f);
}

/** dp_syscall() - make a call with up to six arguments, numbers or pointers */
#define dp_syscall(...) DP_SYSCALL(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define DP_SYSCALL(nr, a, b, c, d, e, f, ...)                                \
	dp_syscall_six(nr, (u64)(a), (u64)(b), (u64)(c), (u64)(d), (u64)(e), \
		       (u64)(f))

static inline u32 dp_port_cpu(void)
{
	return dp_raw_cpu();
}

/** dp_port_may_kill() - can a thread be given a signal with its usual effect? */
static inline bool dp_port_may_kill(void)
{
	return dp_port_may(__NR_rt_sigaction) &&
	       dp_port_may(__NR_rt_sigprocmask) &&
	       dp_port_may(__NR_rt_tgsigqueueinfo);
}

/* Where the call is forbidden, all threads get the id of the process. */
static inline u32 dp_port_pid(void)
{
	if (!dp_port_may(__NR_getpid))
		return DP_SIGNAL_FREE_ID;
	return (u32)dp_syscall(__NR_getpid);
}

struct dp_iovec {
	u64 base;
	u64 len;
};

static inline int dp_port_copy(long nr, void *ours, u64 theirs, size_t len)
{
	struct dp_iovec local = { (u64)ours, len };
	struct dp_iovec remote = { theirs, len };
	long n = dp_syscall(nr, dp_port_pid(), &local, 1, &remote, 1);

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

/* Two vectors, cut at a page, so that the first bad address is known exactly. */
static inline u64 dp_port_read(void *to, u64 from, u64 len)
{
	u64 first = DP_PAGE - from % DP_PAGE;
	struct dp_iovec local = { (u64)to, len };
	struct dp_iovec remote[2];
	long n;

	if (first > len)
		first = len;
	remote[0].base = from;
	remote[0].len = first;
	remote[1].base = from + first;
	remote[1].len = len - first;
	n = dp_syscall(__NR_process_vm_readv, dp_port_pid(), &local, 1, remote,
		       len > first ? 2 : 1);
	return n > 0 ? (u64)n : 0;
}

#include "port/user/port_io.h"
#include "port/user/port_name.h"

/* The kernel copies a mask in before it looks at what is to be done with it. */
static inline bool dp_port_readable(u64 addr)
{
	return dp_syscall(__NR_rt_sigprocmask, -1, addr, 0, sizeof(u64)) ==
	       DP_INVALID;
}

/* Populates the pages as a write would, and writes nothing. */
static inline bool dp_port_writable(u64 addr, u64 len)
{
	u64 page = addr & ~(u64)(DP_PAGE - 1);

	return !dp_syscall(__NR_madvise, page,
			   ((addr + len - 1) | (DP_PAGE - 1)) + 1 - page,
			   DP_MADV_POPULATE_WRITE);
}

static inline u64 dp_port_base(u64 which)
{
	u64 base = 0;
	bool signal_free = !dp_port_may(__NR_arch_prctl);

	if (signal_free && DP_SIGNAL_FREE_BASES && which == DP_ARCH_GET_FS)
		base = dp_raw_thread_pointer();
	else if (signal_free && DP_SIGNAL_FREE_BASES)
		base = dp_raw_second_base();
	else
		dp_syscall(__NR_arch_prctl, which, &base);
	return base;
}

static inline u64 dp_port_thread_pointer(void)
{
	return dp_port_base(DP_ARCH_GET_FS);
}

static inline u64 dp_port_thread_self(void)
{
	return dp_raw_thread_self();
}

static inline u32 dp_port_thread_half(s64 offset)
{
	return dp_raw_thread_half(offset);
}

static inline u64 dp_port_gs_base(void)
{
	return dp_port_base(DP_ARCH_GET_GS);
}

struct dp_port_stack {
	u64 sp;
	s32 flags, pad;
	u64 size;
};

static inline void dp_port_altstack(u64 *sp, u64 *size)
{
	struct dp_port_stack stack = { 0 };

	dp_syscall(__NR_sigaltstack, 0, &stack);
	*sp = stack.sp;
	*size = stack.size;
}

static inline void dp_port_set_altstack(u64 sp, u64 size)
{
	struct dp_port_stack stack = { sp, size ? 0 : DP_SS_DISABLE, 0, size };

	dp_syscall(__NR_sigaltstack, &stack);
}

static inline bool dp_port_thread_lives(u32 tid)
{
	return !dp_syscall(__NR_tgkill, dp_port_pid(), tid);
}

static inline int dp_port_unlock(u64 addr, u64 size)
{
	return (int)dp_syscall(__NR_mprotect, addr, size, DP_PROT_READ_WRITE);
}

static inline u64 dp_port_ticks(void)
{
	return dp_raw_ticks();
}

static inline u64 dp_port_now(void)
{
	s64 now[2] = { 0 };

	dp_syscall(__NR_clock_gettime, DP_CLOCK_MONOTONIC, now);
	return (u64)now[0] * 1000 + (u64)now[1] / 1000000;
}

static inline bool dp_port_wait(const u32 *word, u32 is, u64 ms)
{
	s64 timeout[2] = { (s64)(ms / 1000), (s64)(ms % 1000 * 1000000) };

	return dp_syscall(__NR_futex, word, DP_FUTEX_WAIT, is, timeout) ==
	       DP_TIMED_OUT;
}

/* unshare(CLONE_VM) succeeds, and does nothing, in a thread that shares its memory with no
 * other thread or process. */
static inline bool dp_port_alone(void)
{
	return !dp_syscall(__NR_unshare, DP_CLONE_VM);
}

static inline void dp_port_wake(const u32 *word, u32 n)
{
	dp_syscall(__NR_futex, word, DP_FUTEX_WAKE, n);
}

static inline u32 dp_port_tid(void)
{
	if (!dp_port_may(__NR_gettid))
		return DP_SIGNAL_FREE_ID;
	return (u32)dp_syscall(__NR_gettid);
}

static inline int dp_port_sigaction(u32 sig,
				    const struct dp_kernel_sigaction *act)
{
	return (int)dp_syscall(__NR_rt_sigaction, sig, act, 0, DP_SIGSET_BYTES);
}

/** dp_port_swap_sigmask() - set the thread's mask. Return: the mask before */
static inline u64 dp_port_swap_sigmask(u64 mask)
{
	u64 was = 0;

	dp_syscall(__NR_rt_sigprocmask, DP_SIG_SETMASK, &mask, &was,
		   DP_SIGSET_BYTES);
	return was;
}

/* Blocks every signal; with @faults, all but caught ones that are not sent: dp_marks_trap(). */
static inline u64 dp_port_defer(bool faults)
{
	return dp_port_swap_sigmask(faults ? dp_marks_trap(false) : ~0ull);
}

static inline void dp_port_defer_end(u64 deferred)
{
	dp_port_swap_sigmask(deferred);
}

static inline void dp_port_requeue(int sig, const void *siginfo)
{
	dp_syscall(__NR_rt_tgsigqueueinfo, dp_port_pid(), dp_port_tid(), sig,
		   siginfo);
}

static inline void dp_port_fill(u64 start, u64 size)
{
	dp_syscall(__NR_mmap, start, size, DP_PROT_READ_WRITE,
		   DP_MAP_FIXED_ZEROS, ~0ull);
}

static inline int dp_port_drop(u64 start, u64 size)
{
	return (int)dp_syscall(__NR_madvise, start, size, DP_MADV_DONTNEED);
}

#endif
