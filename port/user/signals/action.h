/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* action: the program's own actions for the signals that we catch. */
#ifndef DP_SIGNALS_ACTION_H
#define DP_SIGNALS_ACTION_H

#include "port_types.h"
#include "engine/layout/action.h"

#pragma GCC visibility push(hidden)

/** dp_caught_index() - which caught signal is it? DP_CAUGHT: none */
u32 dp_caught_index(u64 sig);

/** dp_action_get() - copy of the program's action for the k-th caught signal */
void dp_action_get(u32 k, struct dp_kernel_sigaction *action);

/** dp_action_set() - replace it; @old, if not NULL, gets what it was */
void dp_action_set(u32 k, const struct dp_kernel_sigaction *action,
		   struct dp_kernel_sigaction *old);

/** dp_hook_trap_address() - of the handler in them */
u64 dp_hook_trap_address(void);
/** dp_hook_take_actions() - put our actions in force, for this process */
void dp_hook_take_actions(void);

#pragma GCC visibility pop

#endif
