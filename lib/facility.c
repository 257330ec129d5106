// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* facility: functions of this process that programs call as they end. */
#include <dprobes/facility.h>
#include "lib/own.h"
#include <errno.h>
#include <stddef.h>

#define NR (DP_FACILITIES - DP_FACILITY_REGISTERED)

static int call(const struct dp_own *own, const struct dp_facility_log *log)
{
	((dp_facility_fn *)own->fn)(own->ctx, log->bytes, log->len);
	return 0;
}

static struct dp_own_function entries[NR];
static struct dp_own *owns[NR];
static struct dp_own_table table = {
	.noun = "facility",
	.first = DP_FACILITY_REGISTERED,
	.n = NR,
	.arena = offsetof(struct dp_arena_control, facilities),
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
