// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * holes: the unmapped ranges of a process, as place.c needs them.
 *
 * What lies above the heap is left to the heap: brk(2) fails at the first mapping of ours.
 */
#include "port.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "proc/attach/area.h"
#include "proc/attach_other.h"
#include "proc/ptrace/process.h"
#include "sym/sym.h"
#include <errno.h>
#include <string.h>

#define USER_END 0x7ffffffff000ull
/* Nothing is mapped below. */
#define LOWEST (1ull << 20)
/* Room for the heap to grow. */
#define HEAP_ROOM (1ull << 30)
#define START_BRK 47 /* of /proc/PID/stat */

/* A page stays free on either side, because of guard areas. */
static void add(struct dp_hole *holes, size_t *n, u64 start, u64 end)
{
	if (end > start + 2 * DP_PAGE && end <= USER_END)
		holes[(*n)++] = (struct dp_hole){ .start = start + DP_PAGE,
						  .end = end - DP_PAGE };
}

/* Where the heap grows from. A program that was just executed has none yet. */
static u64 heap_end(pid_t pid, const struct dp_maps *maps)
{
	size_t i;

	for (i = maps->n; i-- > 0;)
		if (!strcmp(maps->v[i].path, "[heap]"))
			return maps->v[i].end;
	return dp_stat_number(pid, START_BRK);
}

int dp_holes_among(pid_t pid, const struct dp_maps *maps, size_t more,
		   struct dp_hole **out, size_t *n)
{
	struct dp_hole *holes;
	u64 heap = heap_end(pid, maps), start = 0, end;
	size_t i;

	*n = 0;
	/* The heap's room may make two holes of one. */
	holes = dp_port_resize(NULL, (maps->n + 2 + more) * sizeof(*holes));
	for (i = 0; holes && i <= maps->n; i++) {
		end = i < maps->n ? maps->v[i].start : USER_END;
		if (heap && heap >= start && heap < end) {
			add(holes, n, start, heap);
			start = heap + HEAP_ROOM;
		}
		add(holes, n, start, end);
		start = i < maps->n ? maps->v[i].end : end;
	}
	*out = holes;
	return holes ? 0 : -ENOMEM;
}

/* Not above the stack, and not in its room. */
u64 dp_holes_highest(const struct dp_maps *maps, u64 size)
{
	size_t i = maps->n, top;
	u64 below;

	while (i && strcmp(maps->v[i - 1].path, "[stack]"))
		i--;
	for (top = i ? i - 1 : maps->n; top-- > 0;) {
		below = top ? maps->v[top - 1].end : LOWEST;
		if (maps->v[top].start > below &&
		    maps->v[top].start - below >= size + 2 * DP_PAGE)
			return maps->v[top].start - DP_PAGE - size;
	}
	return 0;
}

int dp_holes_find(pid_t pid, size_t more, struct dp_hole **out, size_t *n)
{
	struct dp_maps maps;
	int err = dp_maps_read(pid, &maps);

	if (!err) {
		err = dp_holes_among(pid, &maps, more, out, n);
		dp_maps_free(&maps);
	}
	return err;
}
