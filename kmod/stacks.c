// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stacks: what hits of a session's programs have walked, by numbers. Locks: that of session.c. */
#include "kmod/stacks.h"
#include "engine/site/backtrace.h"
#include "kmod/session.h"

/* Addresses of the kernel's half have these bits set, which are not kept. */
static u64 address_of(u64 frame)
{
	return frame | ~(u64)(DP_BACKTRACE_EXACT - 1);
}

int dp_stack_get(u32 number, struct dp_stack_walked *w)
{
	const struct dp_engine *engine;
	int err = dp_kmod_enter(false);
	u32 i;

	if (err)
		return err;
	engine = dp_kmod_engine();
	w->nr = dp_engine_backtrace(engine, number, w->frames, &w->end);
	w->lost = dp_engine_backtraces_lost(engine);
	dp_kmod_leave();
	for (i = 0; i < w->nr; i++) {
		w->exact[i] = w->frames[i] & DP_BACKTRACE_EXACT;
		w->frames[i] = address_of(w->frames[i]);
	}
	return w->nr ? 0 : -ENOENT;
}
