/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hold: what a program asks a kernel for as it ends: its debugger ("exit 1"), or a dump ("exit 2").
 *
 *     may it? ─► the record says so ─► it is committed ─► kgdb_breakpoint(), or panic()
 */
#ifndef DP_KERNEL_HOLD_H
#define DP_KERNEL_HOLD_H

#include "port_types.h"

struct dp_regs;

/**
 * struct dp_kernel_facilities - what programs may call; control changes it at any time
 * @breakpoint: kgdb_breakpoint(), or NULL. It takes no arguments: those are for who looks at rdi and rsi in the debugger
 * @console: what leads to the debugger's console, which is NULL while there
 *              is none; without a console a breakpoint is one that nobody handles
 * @dumps: a program may end the kernel
 */
struct dp_kernel_facilities {
	void (*breakpoint)(const struct dp_regs *regs, u64 pc);
	const void *const *console;
	bool dumps;
};

extern struct dp_kernel_facilities dp_kernel_facilities;

/** dp_kernel_debugs() - is a debugger there, with a console? Context: any */
bool dp_kernel_debugs(void);

#endif
