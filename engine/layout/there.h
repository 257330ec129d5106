/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* there: handlers that the tool has put into the process. */
#ifndef DP_LAYOUT_THERE_H
#define DP_LAYOUT_THERE_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/page.h"

/**
 * struct dp_there - a thread in a handler that the tool has put into the process;
 * behind the structure the stack on which that runs
 * @probe: 1 + index; 0: free
 * @guard: stack pointer with which the handler can be given up
 */
struct dp_there {
	u32 probe, pad;
	u64 guard;
	u64 regs[21];
	u8 vectors[DP_VECTORS_SIZE] __attribute__((aligned(64)));
};
#define DP_THERES 64
#define DP_THERE_SIZE (5 * DP_PAGE)

#endif
