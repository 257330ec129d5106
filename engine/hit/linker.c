// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * linker: the dynamic linker has mapped or unmapped libraries, or is about to.
 *
 * It calls an empty function then, for debuggers; a probe there brings us here. When
 * libraries are in place and no code of them has run, the thread waits for the tool,
 * which may have probes for them; and before anything changes while the tool writes
 * to text that may go. It does not wait for one that has ended, nor for ever for one
 * that is stopped, and not again before that one has answered.
 */
#include "engine/hit/hit.h"
#include "engine/layout/arena.h"
#include "port.h"

#define RT_CONSISTENT 0 /* link.h */
#define SLICE_MS 10
#define SLICES 200

static bool answered(u32 number)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return (s32)(__atomic_load_n(&c->linker_answered, __ATOMIC_ACQUIRE) -
		     number) >= 0 ||
	       __atomic_load_n(&c->tool_futex, __ATOMIC_RELAXED) & DP_TOOL_DIED;
}

/* The state is there before the tool's word is read; the tool does it the other way round. */
static bool has_to_wait(const struct dp_arena_control *c)
{
	if (!c->linker_state)
		return false;
	if (*(const volatile s32 *)c->linker_state == RT_CONSISTENT)
		return true;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&c->linker_hold, __ATOMIC_RELAXED);
}

void dp_linker_tell(const struct dp_hit *hit)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u32 number, i;

	/* A thread on its way through a detour could not be sent home. */
	if (hit->signals || !has_to_wait(c))
		return;
	dp_arena.hit.linker_regs = (u64)hit->regs;
	number = __atomic_add_fetch(&dp_arena.hit.linker_asked, 1,
				    __ATOMIC_RELEASE);
	dp_port_wake(&dp_arena.hit.linker_asked, 1);
	for (i = 0; i < SLICES && answered(number - 1) && !answered(number);
	     i++)
		dp_port_wait(&c->linker_answered, number - 1, SLICE_MS);
	dp_arena.hit.linker_late += !answered(number);
}
