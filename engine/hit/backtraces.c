// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* backtraces: the stack of a thread at a site, as a number. */
#include "engine/hit/backtrace.h"
#include "engine/hit/hit.h"
#include "port.h"

struct dp_load dp_backtrace_load(u64 address)
{
	struct dp_load word;

	if (dp_arena.control.nr_caught == DP_CAUGHT)
		return dp_load_word(address);
	word.ok = !dp_port_copy_in(&word.value, address, sizeof(word.value));
	return word;
}

u64 dp_backtrace_trapped(u64 signal, u64 pc)
{
	struct dp_load number = dp_backtrace_load(signal + DP_SIGNAL_NUMBER);
	struct dp_load cause = dp_backtrace_load(signal + DP_SIGNAL_CAUSE);
	u64 at = pc - DP_BREAKPOINT_BEHIND;

	return number.ok && cause.ok && (u32)number.value == DP_SIGNAL_TRAP &&
			       dp_mcontext_trapped(cause.value, pc) &&
			       dp_site_lookup(at) ?
		       at :
		       pc;
}

u32 dp_backtrace_take(struct dp_regs *regs)
{
	struct dp_backtrace b = {
		.head = dp_at(dp_arena.control.backtrace_off),
		.arena = dp_at(0),
		.size = dp_arena.control.arena_size,
	};

	if (!dp_arena.control.backtrace_off)
		return 0;
	dp_backtrace_begin(&b, regs);
	return dp_backtrace_number(&b);
}
