// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* external: functions of this process that programs call by call_kmod. */
#include <dprobes/external.h>
#include "lib/own.h"
#include "engine/vm/vm.h"
#include <errno.h>
#include <stddef.h>

_Static_assert(DP_EXTERNAL_ARGUMENTS == DP_VM_ARGUMENTS,
	       "a program hands over as many");

static struct gkh_hook hook = {
	.name = "dprobes_call",
	.flags = GKH_HOOK_HANDLER,
	.types = "unsigned int, const unsigned long *, unsigned long *",
	.count = 3
};

static int exit_of(const struct dp_own *own, struct gkh_args *a)
{
	unsigned long *value = *(unsigned long **)a->p[2];

	*value = ((dp_external_fn *)own->fn)(own->ctx,
					     *(const unsigned long **)a->p[1]);
	return GKH_CONTINUE;
}

static u64 call(const struct dp_own *own, const unsigned long *args)
{
	unsigned long value = 0, *to = &value;
	unsigned int number = own->number;
	struct gkh_args a = { .count = 3, .p = { &number, &args, &to } };

	dp_own_run(&hook, &a);
	return value;
}

static struct dp_own_function entries[DP_EXTERNALS];
static struct dp_own *owns[DP_EXTERNALS];
static struct dp_own_table table = {
	.noun = "external function",
	.n = DP_EXTERNALS,
	.arena = offsetof(struct dp_arena_control, externals),
	.hook = &hook,
	.exit = exit_of,
	.entries = entries,
	.owns = owns,
};

int dp_external_register(unsigned int number, const char *name,
			 dp_external_fn *fn, void *ctx, unsigned int nr)
{
	struct dp_own own = { .fn = (void (*)(void))fn,
			      .ctx = ctx,
			      .what = nr };

	if (nr > DP_EXTERNAL_ARGUMENTS)
		return dp_fail(-EINVAL,
			       "external function %u: %u arguments at most",
			       number, DP_EXTERNAL_ARGUMENTS);
	table.call = (u64)call;
	return dp_own_register(&table, number, &own, name);
}

int dp_external_unregister(unsigned int number)
{
	return dp_own_unregister(&table, number);
}
