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
 * @jmpmax: jumps a hit, at most 65535; @logmax: bytes a record, at most DP_VM_LOG
 * @stack: elements of the RPN stack: 1024 or 32
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
};

/** struct dp_binding - how a probe runs a program; see struct dp_probe_entry
 *  @judged: a call makes a record only if it returns, and what runs then agrees */
struct dp_binding {
	u32 program;
	u32 start, leaves;
	u16 major, minor;
	u32 passcount, maxhits;
	bool logonfault, judged;
};

#endif
