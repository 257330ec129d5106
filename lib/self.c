// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* self: the library's state of this process and of the calling thread. */
#include "lib/self.h"
#include "port_raw.h"
#include "agent/image.h"
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

struct dp_self dp_self;

static __thread struct dp_diag last;
__thread u64 dp_self_stack_addr;

struct dp_diag *dp_last(void)
{
	return &last;
}

const struct dp_diag *dp_last_diag(void)
{
	return &last;
}

struct dp_stack *dp_self_stack(void)
{
	return (struct dp_stack *)dp_self_stack_addr;
}

bool dp_self_in_handler(void)
{
	const struct dp_stack *mine = dp_self_stack();
	u64 here = (u64)__builtin_frame_address(0);
	u32 busy = mine ? dp_stack_busy(mine) : 0;

	if (!busy || busy == DP_BUSY_SELF)
		return false;
	return mine->jumped ||
	       here - ((u64)mine + sizeof(*mine) - DP_STACK_SIZE) <
		       DP_STACK_SIZE;
}

u32 dp_self_vectors(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw"))
		return DP_SAVE_ALL_AVX512;
	return __builtin_cpu_supports("avx") ? DP_SAVE_ALL_AVX :
					       DP_SAVE_ALL_SSE;
}

enum dp_arming dp_self_arming(void)
{
	const char *name = secure_getenv("DPROBES_ARM");

	if (name && !strcmp(name, "trap"))
		return DP_ARM_TRAP;
	return name && !strcmp(name, "quiesce") ? DP_ARM_QUIESCE :
						  DP_ARM_INTERIOR;
}

/* Another thread may be making the engine. */
static bool is_made(void)
{
	return __atomic_load_n(&dp_self.engine, __ATOMIC_ACQUIRE);
}

/* A thread without a hit has no handler stack yet, so it claims one. In a fork child the
 * stacks are the parent's. */
static struct dp_stack *claim_stack(void)
{
	struct dp_stack *(*claim)(void);

	if (!is_made() ||
	    dp_self.owner != (pid_t)dp_raw(SYS_getpid, 0, 0, 0, 0, 0))
		return NULL;
	claim = (void *)(dp_self.base + dp_agent_stack_mine);
	return claim();
}

/* Hits of the library's own calls are not the program's. The thread runs no handler
 * meanwhile, so no thread waits for it. The busy flag of a handler that was left by
 * siglongjmp is overwritten. */
void dp_self_say(bool self)
{
	struct dp_stack *mine = dp_self_stack();
	u64 from;

	if (self && !mine)
		mine = claim_stack();
	if (!mine || !is_made() || dp_self_in_handler())
		return;
	from = __atomic_load_n(&mine->busy, __ATOMIC_RELAXED);
	if (self)
		__atomic_store_n(&mine->busy, dp_stack_turn(mine, DP_BUSY_SELF),
				 __ATOMIC_RELEASE);
	else if (from % DP_BUSY_TURN == DP_BUSY_SELF)
		__atomic_compare_exchange_n(&mine->busy, &from,
					    dp_stack_turn(mine, 0), false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Without signals blocked, a signal handler that calls the library, or leaves by
 * siglongjmp, would meet the lock taken for ever. Hits of signal handlers are the
 * program's. libc's function may be probed, so make the system call directly. */
void dp_self_enter(u64 *mask)
{
	u64 most = ~DP_LET_THROUGH;

	dp_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&most, (long)mask,
	       sizeof(most), 0);
	dp_self_say(true);
}

/* Unblock only what dp_self_enter() has blocked. If another thread has made an engine
 * meanwhile, the caught signals are not blocked in the kernel any more. */
void dp_self_leave(u64 mask)
{
	u64 ours = ~DP_LET_THROUGH & ~mask;

	dp_self_say(false);
	dp_raw(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&ours, 0, sizeof(ours),
	       0);
}
