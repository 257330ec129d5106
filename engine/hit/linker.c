// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * linker: a loader event, or one that is about to come.
 *
 * The dynamic linker then calls an empty function, for debuggers. A probe there brings
 * the thread here. It waits for the tool in two cases:
 * - libraries are in place and no code of them has run: the tool may have probes for
 *   them;
 * - mappings are about to change while the tool writes to text that may go.
 *
 * A thread does not wait for a tool that has ended. It waits a limited time for a
 * stopped tool, and not again before the last answer.
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

/* r_state is written before the tool's word is read. The tool writes its word, then
 * reads r_state. */
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

	/* On its way through a detour a thread is not ready to be stopped for long. */
	if (hit->signals || !has_to_wait(c))
		return;
	number = __atomic_add_fetch(&dp_arena.hit.linker_asked, 1,
				    __ATOMIC_RELEASE);
	dp_port_wake(&dp_arena.hit.linker_asked, 1);
	for (i = 0; i < SLICES && answered(number - 1) && !answered(number);
	     i++)
		dp_port_wait(&c->linker_answered, number - 1, SLICE_MS);
	dp_arena.hit.linker_late += !answered(number);
}
