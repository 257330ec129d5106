// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* way: what the environment says of how debug registers are set. */
#include "tracer/watchpoint/watchpoint.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dp_watch_way_read(enum dp_watch_way *way, struct dp_diag *diag)
{
	const char *name = secure_getenv("DPROBES_WATCH");

	*way = DP_WATCH_EITHER;
	if (!name || !*name)
		return 0;
	*way = DP_WATCH_EVENTS;
	if (!strcmp(name, "events"))
		return 0;
	*way = DP_WATCH_REGISTERS;
	if (!strcmp(name, "registers"))
		return 0;
	return dp_diag_set(
		diag, -EINVAL,
		"DPROBES_WATCH is \"%s\"; it can be events or registers", name);
}
