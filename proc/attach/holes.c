// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* holes: the unmapped ranges of a process, as place.c needs them. */
#include "port.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "proc/attach/area.h"
#include "proc/attach_other.h"
#include <errno.h>
#include <string.h>

#define USER_END 0x7ffffffff000ull

int dp_holes_among(const struct dp_maps *maps, size_t more,
		   struct dp_hole **out, size_t *n)
{
	struct dp_hole *holes;
	u64 end = 0;
	size_t i;

	*n = 0;
	holes = dp_port_alloc((maps->n + 1 + more) * sizeof(*holes));
	for (i = 0; holes && i <= maps->n; i++) {
		u64 start = i < maps->n ? maps->v[i].start : USER_END;

		/* A page stays free on either side, because of guard areas. */
		if (start > end + 2 * DP_PAGE && start <= USER_END)
			holes[(*n)++] = (struct dp_hole){
				.start = end + DP_PAGE,
				.end = start - DP_PAGE,
				.above_heap = i && !strcmp(maps->v[i - 1].path,
							   "[heap]"),
			};
		end = i < maps->n ? maps->v[i].end : end;
	}
	*out = holes;
	return holes ? 0 : -ENOMEM;
}

int dp_holes_find(pid_t pid, size_t more, struct dp_hole **out, size_t *n)
{
	struct dp_maps maps;
	int err = dp_maps_read(pid, &maps);

	if (!err) {
		err = dp_holes_among(&maps, more, out, n);
		dp_maps_free(&maps);
	}
	return err;
}
