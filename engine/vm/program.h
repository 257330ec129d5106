/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* program: a probe program as inserted, and how probes run it. */
#ifndef DP_VM_PROGRAM_H
#define DP_VM_PROGRAM_H

#include "port_types.h"

/**
 * struct dp_program_spec - a program as inserted
 * @name: name of the probed object, for later queries
 * @code: 8-byte words; @starts: where the handlers of its @nr_starts probes begin
 * @nr_lv, @nr_gv: variables it uses, at most 256 each
 * @jmpmax: jumps a hit, at most 65535; @logmax: bytes a record, at most DP_VM_LOG_MOST
 * @tracemax: bytes of stack traces a record, at most DP_VM_TRACES
 * @heapmax: bytes of the largest heap of its probes, at most DP_VM_HEAP
 * @stack: elements of the RPN stack: 1024 or 32
 * @allow: enum dp_vm_allow, of what it asks for
 * @auto_trace: each exception leaves a stack trace
 * @shares: 1 + number of the program whose local variables it uses, or 0
 * @room_lv: variables for which there is to be room, if more than @nr_lv: another may share them
 * @wraps: some probe has EX_RPN_STACK_WRAP raised
 *
 * Values beyond a limit are clamped.
 */
struct dp_program_spec {
	const char *name;
	const u8 *code;
	u32 code_len;
	const u32 *starts;
	u32 nr_starts;
	u32 nr_lv, nr_gv;
	u32 jmpmax, logmax, stack;
	u32 tracemax, heapmax, allow;
	u32 shares, room_lv;
	bool auto_trace, wraps;
};

/** struct dp_binding - how a probe runs a program; see struct dp_probe_entry
 *  @heap: bytes of the heap at each hit; @ex_mask: exceptions that are raised, of DP_EX_MASK those
 *  that are not end the program at once
 *  @tells: records of returns say how the program ended
 *  @judged: a call makes a record only if it returns, and what runs then agrees */
struct dp_binding {
	u32 program;
	u32 start, leaves;
	u16 major, minor;
	u32 passcount, maxhits;
	u32 heap;
	u16 ex_mask;
	bool logonfault, judged, tells;
};

#endif
