/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* action: what a process does on a signal. */
#ifndef DP_LAYOUT_ACTION_H
#define DP_LAYOUT_ACTION_H

#include "port_types.h"

/** struct dp_kernel_sigaction - what rt_sigaction(2) takes */
struct dp_kernel_sigaction {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

/* Actions are published by index and never change once published, until the
 * ring comes round. */
#define DP_ACTION_RING 32

#endif
