/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* context: what one hit of a probe with a program needs. */
#ifndef DP_LAYOUT_CONTEXT_H
#define DP_LAYOUT_CONTEXT_H

#include "port_types.h"
#include "engine/vm/vm.h"

#define DP_CONTEXTS 256
#define DP_CONTEXT_STACK 192 /* words */

/** enum dp_context_state */
enum dp_context_state {
	DP_CONTEXT_FREE,
	DP_CONTEXT_RUNS,
	DP_CONTEXT_PENDING, /* its record waits for the original instruction */
};

/**
 * struct dp_context - what one hit of a probe with a program needs; hit owns it
 * @serial: the same for all probes of one hit
 * @sp: the program's stack pointer at the hit
 * @waits: what came of it: the record waits
 * @stack: for the work itself, so that little of the thread's own is used
 */
struct dp_context {
	u32 state;
	u32 tid;
	u32 probe;
	u32 site;
	u64 serial;
	u64 sp;
	u64 ticks;
	u64 hit; /* struct dp_hit, while it runs */
	u32 waits;
	u32 pad;
	u64 visit; /* address of the struct dp_visit that begins; 0: none does */
	u64 stack[DP_CONTEXT_STACK];
	struct dp_vm vm;
};

#endif
