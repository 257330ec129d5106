// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* facility: functions of this process that programs call as they end. */
#include <dprobes/facility.h>
#include "lib/own.h"
#include <errno.h>
#include <stddef.h>

#define NR (DP_FACILITIES - DP_FACILITY_REGISTERED)

static struct gkh_hook hook = { .name = "dprobes_facility",
				.flags = GKH_HOOK_HANDLER,
				.types = "unsigned int, const void *, size_t",
				.count = 3 };

static int exit_of(const struct dp_own *own, struct gkh_args *a)
{
	((dp_facility_fn *)own->fn)(own->ctx, *(const void **)a->p[1],
				    *(size_t *)a->p[2]);
	return GKH_CONTINUE;
}

static u64 call(const struct dp_own *own, const struct dp_facility_log *log)
{
	unsigned int number = own->number;
	const void *bytes = log->bytes;
	size_t len = log->len;
	struct gkh_args a = { .count = 3, .p = { &number, &bytes, &len } };

	dp_own_run(&hook, &a);
	return 0;
}

static struct dp_own_function entries[NR];
static struct dp_own *owns[NR];
static struct dp_own_table table = {
	.noun = "facility",
	.first = DP_FACILITY_REGISTERED,
	.n = NR,
	.arena = offsetof(struct dp_arena_control, facilities),
	.hook = &hook,
	.exit = exit_of,
	.entries = entries,
	.owns = owns,
};

int dp_facility_register(unsigned int number, const char *name,
			 dp_facility_fn *fn, void *ctx,
			 enum dp_facility_when when)
{
	struct dp_own own = { .fn = (void (*)(void))fn,
			      .ctx = ctx,
			      .what = when == DP_FACILITY_AT_ONCE ?
					      DP_FACILITY_ENDS :
					      DP_FACILITY_COMMITS };

	if (when != DP_FACILITY_AT_COMMIT && when != DP_FACILITY_AT_ONCE)
		return dp_fail(-EINVAL,
			       "facility %u is called at commit, or at once",
			       number);
	table.call = (u64)call;
	return dp_own_register(&table, number, &own, name);
}

int dp_facility_unregister(unsigned int number)
{
	return dp_own_unregister(&table, number);
}
