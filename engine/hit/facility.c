// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * facility: a program has ended with "exit N", and the process has a function of its own for that.
 *
 * Only a process that probes itself has any. The record goes to the tool all the same, and says
 * whether the function has been called.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "engine/layout/facility.h"
#include "engine/layout/ring.h"

static bool is_wanted(const struct dp_vm *vm, enum dp_facility_call when)
{
	const struct dp_facility_entry *f;

	if (vm->facility < DP_FACILITY_REGISTERED || vm->taken)
		return false;
	f = dp_facility_entry(vm->facility);
	return f && __atomic_load_n(&f->function, __ATOMIC_ACQUIRE) &&
	       f->when == when;
}

void dp_facility_call(struct dp_context *ctx, const struct dp_hit *hit,
		      enum dp_facility_call when)
{
	struct dp_vm *vm = &ctx->vm;
	const struct dp_facility_log log = { vm->log, vm->lp };
	u64 sp = ctx->sp;

	if (!is_wanted(vm, when))
		return;
	/* A hit in the facility must not take the context for left. */
	__atomic_store_n(&ctx->sp, ~0ull, __ATOMIC_RELAXED);
	vm->taken = dp_call_facility(dp_site_at(ctx->site), hit, ctx->probe,
				     vm->facility, &log) ?
			    DP_RECORD_TAKEN :
			    DP_RECORD_MISSED;
	__atomic_store_n(&ctx->sp, sp, __ATOMIC_RELAXED);
}
