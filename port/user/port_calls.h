/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* port_calls: the system calls that the hit half makes for its own sake. */
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
	CALL(rt_tgsigqueueinfo) CALL(unshare) CALL(mmap)

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

#endif
