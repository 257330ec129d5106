// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * own: a program calls a function of the process: a facility as it ends ("exit N"), or an external
 * function ("call_kmod").
 *
 * Only a process that probes itself has any. The record of a facility goes to the tool all the same,
 * and says whether the function has been called.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "engine/layout/own.h"
#include "engine/layout/ring.h"

static const struct dp_own_function *table(const u64 *where, u64 index)
{
	const struct dp_own_function *all =
		(const void *)__atomic_load_n(where, __ATOMIC_ACQUIRE);

	return all ? &all[index] : NULL;
}

/* A hit in the function must not take the context for left. */
static bool call(struct dp_context *ctx, struct dp_own_use *own)
{
	u64 sp = ctx->sp;
	bool called;

	own->probe = ctx->probe;
	__atomic_store_n(&ctx->sp, ~0ull, __ATOMIC_RELAXED);
	called =
		dp_call_own(dp_site_at(ctx->site), (const void *)ctx->hit, own);
	__atomic_store_n(&ctx->sp, sp, __ATOMIC_RELAXED);
	return called;
}

void dp_facility_call(struct dp_context *ctx, enum dp_facility_call when)
{
	struct dp_vm *vm = &ctx->vm;
	const struct dp_facility_log log = { vm->log, vm->lp };
	struct dp_own_use own = { .what = when, .argument = &log };

	if (vm->taken)
		return;
	own.entry = table(&dp_arena.control.facilities,
			  vm->facility - DP_FACILITY_REGISTERED);
	if (!own.entry ||
	    !__atomic_load_n(&own.entry->function, __ATOMIC_ACQUIRE) ||
	    own.entry->what != when)
		return;
	if (call(ctx, &own))
		vm->taken = DP_RECORD_TAKEN;
	else if (!own.gone)
		vm->taken = DP_RECORD_MISSED;
}

/* See @external of struct dp_vm. A function that faults ends its probe, and the call. */
bool dp_external_call(struct dp_vm *vm, struct dp_vm_call *c, bool make)
{
	struct dp_context *ctx =
		(void *)((char *)vm -
			 __builtin_offsetof(struct dp_context, vm));
	struct dp_own_use own = { .what = c->nr, .argument = c->args };

	if (c->number >= DP_EXTERNALS)
		return false;
	own.entry = table(&dp_arena.control.externals, c->number);
	if (!own.entry ||
	    !__atomic_load_n(&own.entry->function, __ATOMIC_ACQUIRE))
		return false;
	if (!make) {
		c->nr = (u32)own.entry->what;
		return true;
	}
	if (!call(ctx, &own) || own.faulted)
		return false;
	c->value = own.value;
	return true;
}
