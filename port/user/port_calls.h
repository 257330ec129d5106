/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_calls: the system calls that the hit half makes for its own sake, and masked waits. */
#ifndef DP_PORT_CALLS_H
#define DP_PORT_CALLS_H

#include "port_types.h"
#include <asm/unistd.h>

/* Macros that stand for lists. */
/* clang-format off */
#define DP_OWN_CALLS(CALL)                                                  \
	CALL(getpid) CALL(gettid) CALL(process_vm_readv)                    \
	CALL(process_vm_writev) CALL(madvise) CALL(arch_prctl)              \
	CALL(sigaltstack) CALL(tgkill) CALL(mprotect) CALL(clock_gettime)   \
	CALL(futex) CALL(rt_sigaction) CALL(rt_sigprocmask)                 \
	CALL(rt_tgsigqueueinfo) CALL(unshare) CALL(mmap) CALL(openat)       \
	CALL(close) CALL(pread64) CALL(pwrite64) CALL(membarrier)  \
	CALL(prctl)

enum dp_own_call {
#define DP_OWN_NAME(name) DP_OWN_##name,
	DP_OWN_CALLS(DP_OWN_NAME)
#undef DP_OWN_NAME
	DP_OWN_NR
};

/** dp_own_bit() - the bit of a call in DP_FORBIDDEN; 0: the call is not in the list */
static inline u32 dp_own_bit(long nr)
{
	switch (nr) {
#define DP_OWN_CASE(name)   \
	case __NR_##name: \
		return 1u << DP_OWN_##name;
		DP_OWN_CALLS(DP_OWN_CASE)
#undef DP_OWN_CASE
	default:
		return 0;
	}
}
/* clang-format on */

/* wait: calls that sleep under a mask of their own (the pselect class). */

/** dp_wait_argument() - which argument of call @nr is the mask's address, from 0
 *  Return: -1: the call is no masked wait */
static inline int dp_wait_argument(u64 nr)
{
	switch (nr) {
	case __NR_rt_sigsuspend:
		return 0;
	case __NR_ppoll:
		return 3;
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return 4;
	case __NR_pselect6:
	case __NR_io_pgetevents:
		return 5;
	default:
		return -1;
	}
}

/** dp_wait_is_pair() - is that the address of a pair, the mask's address and its size? There is
 *  no seventh argument for the size. */
static inline bool dp_wait_is_pair(u64 nr)
{
	return dp_wait_argument(nr) == 5;
}

#endif
