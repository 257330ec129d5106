// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* calls: system calls, and what else port/raw.h asks, on the kernel in memory. */
#include "port/fake/hit/kernel.h"
#include "port.h"
#include <asm/unistd.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 0
#define UNBLOCK 1
#define NEVER (DP_SIGMASK(9) | DP_SIGMASK(19))

struct dp_kernel dp_kernel;

static long procmask(u64 how, u64 set, u64 *old)
{
	struct dp_fake_task *t = dp_kernel_task();
	u64 was = t->mask, mask;

	if (set && dp_kernel_read(&mask, set, sizeof(mask)) != sizeof(mask))
		return -EFAULT;
	if (set && how == BLOCK)
		t->mask |= mask;
	else if (set && how == UNBLOCK)
		t->mask &= ~mask;
	else if (set && how == DP_SIG_SETMASK)
		t->mask = mask;
	else if (set)
		return -EINVAL;
	t->mask &= ~NEVER;
	if (old)
		*old = was;
	return 0;
}

static long sigaction_of(u64 sig, const struct dp_kernel_sigaction *act,
			 struct dp_kernel_sigaction *old)
{
	if (!sig || sig >= DP_FAKE_SIGNALS)
		return -EINVAL;
	if (old)
		*old = dp_kernel.actions[sig];
	if (act)
		dp_kernel.actions[sig] = *act;
	return 0;
}

static long altstack(const struct dp_port_stack *set, struct dp_port_stack *old)
{
	struct dp_fake_task *t = dp_kernel_task();

	if (old)
		*old = (struct dp_port_stack){ t->alt_sp,
					       t->alt_size ? 0 : DP_SS_DISABLE,
					       0, t->alt_size };
	if (set) {
		t->alt_size = set->flags & DP_SS_DISABLE ? 0 : set->size;
		t->alt_sp = t->alt_size ? set->sp : 0;
	}
	return 0;
}

static long pending(u64 *set, u64 size)
{
	u64 all = 0;
	u32 sig;

	for (sig = 1; sig < DP_FAKE_SIGNALS; sig++)
		if (dp_kernel_task()->pends[sig])
			all |= DP_SIGMASK(sig);
	if (size > sizeof(all))
		return -EINVAL;
	memcpy(set, &all, size);
	return 0;
}

static long queue(u32 tid, u32 sig, const struct dp_siginfo *info)
{
	u32 i = tid - dp_kernel.pid;

	if (i >= DP_FAKE_THREADS || sig >= DP_FAKE_SIGNALS)
		return -ESRCH;
	dp_fake_seen.queued = dp_kernel_task()->mask;
	if (!dp_kernel.tasks[i].pends[sig]) {
		dp_kernel.tasks[i].pends[sig] = true;
		dp_kernel.tasks[i].info[sig] = *info;
	}
	return 0;
}

/* @theirs: at most two ranges of the program's memory. */
static long copy(bool out, const struct dp_iovec *ours,
		 const struct dp_iovec *theirs, u64 n)
{
	u64 done = 0, i, len;

	for (i = 0; i < n; i++) {
		u8 *here = (u8 *)ours->base + done;

		len = out ? dp_kernel_write(theirs[i].base, here,
					    theirs[i].len) :
			    dp_kernel_read(here, theirs[i].base, theirs[i].len);
		done += len;
		if (len < theirs[i].len)
			break;
	}
	return done ? (long)done : -EFAULT;
}

static long thread_pointer(u64 which, u64 *to)
{
	*to = which == DP_ARCH_GET_FS ? (u64)dp_kernel_task()->self : 0;
	return 0;
}

static long advise(u64 start, u64 size, u64 what)
{
	u8 byte;

	if (what != DP_MADV_POPULATE_WRITE && what != DP_MADV_DONTNEED)
		return -EINVAL;
	if (!dp_kernel_read(&byte, start, 1))
		return what == DP_MADV_DONTNEED ? -ENOMEM : -EFAULT;
	if (what == DP_MADV_DONTNEED)
		dp_kernel_drop(start, size);
	return 0;
}

static long unlock(u64 start, u64 size)
{
	u8 byte;

	dp_fake_seen.unlocked = start;
	dp_fake_seen.unlocked_size = size;
	return dp_kernel_read(&byte, start, 1) ? 0 : -ENOMEM;
}

/* An exec fails always: the file does not exist. */
static long execute(void)
{
	dp_fake_seen.exec_mask = dp_kernel_task()->mask;
	dp_fake_seen.exec_waits = dp_kernel_task()->pends[DP_SIGTRAP];
	dp_fake_seen.exec_trap = dp_kernel.actions[DP_SIGTRAP].handler;
	dp_fake_seen.exec_ill = dp_kernel.actions[DP_SIGILL].handler;
	return -ENOENT;
}

static long signal_call(long nr, u64 a, u64 b, u64 c, u64 d)
{
	switch (nr) {
	case __NR_rt_sigprocmask:
		return procmask(a, b, (void *)c);
	case __NR_rt_sigaction:
		return sigaction_of(a, (void *)b, (void *)c);
	case __NR_rt_sigpending:
		return pending((void *)a, b);
	case __NR_sigaltstack:
		return altstack((void *)a, (void *)b);
	case __NR_rt_tgsigqueueinfo:
		return queue((u32)b, (u32)c, (void *)d);
	default:
		abort(); /* a call that this kernel does not have */
	}
}

long dp_raw_call(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	dp_fake_seen.sp = (u64)__builtin_frame_address(0);
	switch (nr) {
	case __NR_getpid:
		return dp_kernel.pid;
	case __NR_gettid:
		return dp_kernel.pid + dp_kernel.current;
	case __NR_process_vm_readv:
		return copy(false, (void *)b, (void *)d, e);
	case __NR_process_vm_writev:
		return copy(true, (void *)b, (void *)d, e);
	case __NR_arch_prctl:
		return thread_pointer(a, (void *)b);
	case __NR_membarrier:
		dp_fake_seen.barriers++;
		return dp_fake_seen.no_barriers ? -1 : 0;
	case __NR_madvise:
		return advise(a, b, c);
	case __NR_mprotect:
		return unlock(a, b);
	case __NR_futex:
		if (dp_kernel.tool)
			dp_kernel.tool();
		return b == DP_FUTEX_WAIT && *(u32 *)a == c ? DP_TIMED_OUT : 0;
	case __NR_execve:
		return execute();
	case __NR_clock_gettime:
		dp_kernel.ms += 1;
		((s64 *)b)[0] = (s64)(dp_kernel.ms / 1000);
		((s64 *)b)[1] = (s64)(dp_kernel.ms % 1000 * 1000000);
		return 0;
	case __NR_tgkill:
		return b - DP_FAKE_PID < DP_FAKE_THREADS ? 0 : -ESRCH;
	case __NR_unshare:
		return 0;
	case __NR_mmap:
		memset((void *)a, 0, b);
		return (long)a;
	default:
		return signal_call(nr, a, b, c, d);
	}
}

u32 dp_raw_cpu(void)
{
	return dp_kernel.cpu;
}

u64 dp_raw_ticks(void)
{
	return ++dp_kernel.ticks;
}

u64 dp_raw_thread_pointer(void)
{
	return (u64)dp_kernel_task()->self;
}

u64 dp_raw_second_base(void)
{
	return 0;
}

u64 dp_raw_thread_self(void)
{
	return dp_kernel_task()->self[0];
}

u32 dp_raw_thread_half(s64 offset)
{
	return *(u32 *)((char *)dp_kernel_task()->self + offset);
}
