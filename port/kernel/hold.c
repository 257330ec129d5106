// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hold: what a program asks a kernel for as it ends.
 *
 * In place of engine/hit/hold.c, whose threads wait for the tool. A program that asks has been refused where
 * it may not. What it may can have changed since, so it is looked at again, and the record says what was found.
 */
#include "port/kernel/hold.h"
#include "engine/hit/hit.h"
#include "engine/hit/hold.h"
#include "engine/layout/ring.h"
#include "port.h"
#include <linux/kernel.h>
#include <linux/panic.h>

struct dp_kernel_facilities dp_kernel_facilities;

bool dp_kernel_debugs(void)
{
	const struct dp_kernel_facilities *f = &dp_kernel_facilities;

	return f->breakpoint && f->console && READ_ONCE(*f->console);
}

bool dp_hold_begin(const struct dp_context *ctx, const struct dp_hit *hit)
{
	struct dp_vm *vm = (struct dp_vm *)&ctx->vm;
	bool may;

	if (vm->facility == DP_FACILITY_DEBUGGER)
		may = dp_kernel_debugs();
	else if (vm->facility == DP_FACILITY_DUMP)
		may = READ_ONCE(dp_kernel_facilities.dumps);
	else
		return false;
	vm->taken = may ? DP_RECORD_TAKEN : DP_RECORD_MISSED;
	return may;
}

/* The record is committed: a dump has it. The debugger's function is not of the type that it is called by. */
__nocfi void dp_hold_end(const struct dp_context *ctx)
{
	u64 pc = dp_regs_pc(ctx->vm.regs);

	if (ctx->vm.facility == DP_FACILITY_DEBUGGER)
		dp_kernel_facilities.breakpoint(ctx->vm.regs, pc);
	else
		panic("dprobes: a program has asked for a dump (exit 2) at %pS\n",
		      (void *)pc);
}
