/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jprobe: a handler that is called as the probed function itself would be. */
#ifndef DP_HIT_JPROBE_H
#define DP_HIT_JPROBE_H

#include "port_types.h"
#include "engine/hit/trap.h"
#include "arch/x86/ptregs.h"
#include "engine/layout/site.h"
#include "engine/layout/stack.h"

#pragma GCC visibility push(hidden)

/** dp_jprobe_enter() - leave for the jprobe's handler: changes @regs */
void dp_jprobe_enter(u32 probe, const struct dp_site_entry *site,
		     struct dp_regs *regs, struct dp_stack *stack,
		     const struct dp_trap *trap);

/** dp_jprobe_leave() - it is done, and has come to dp_jprobe_return.
 *  Return: false if no jprobe's handler runs. */
bool dp_jprobe_leave(struct dp_trap *trap);

#pragma GCC visibility pop

#endif
