// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* semaphores: see semaphores.h. */
#include "tracer/semaphores.h"
#include "tracer/output.h"
#include "proc/semaphores.h"
#include "resolve/points.h"
#include "sym/list.h"
#include <dprobes/diag.h>
#include <stdlib.h>

struct uses {
	struct dp_semaphore_use *v;
	size_t n, room;
};

static bool has_semaphores(const struct dp_points *points)
{
	size_t i;

	for (i = 0; points && i < points->n; i++)
		if (points->v[i].semaphore)
			return true;
	return false;
}

void dp_points_raise(struct dp_process *proc, u64 base,
		     const struct dp_points *points,
		     bool (*is_on)(const void *arg, const struct dp_point *p),
		     const void *arg)
{
	struct dp_diag diag = { .text = "" };
	struct uses uses = { 0 };
	size_t i;
	int err = 0;

	if (!has_semaphores(points))
		return;
	for (i = 0; i < points->n && !err; i++) {
		const struct dp_point *p = &points->v[i];
		const struct dp_semaphore_use one = { p->semaphore, p->addr };

		if (p->semaphore && !p->refused && !p->gone && !p->retired &&
		    is_on(arg, p))
			err = dp_list_push(&uses, &one);
	}
	if (err)
		dp_diag_set(&diag, err, "out of memory");
	else
		err = dp_semaphores_set(proc, base, uses.v, uses.n, &diag);
	if (err)
		dp_output_say("%s", diag.text);
	free(uses.v);
}
