// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lack: watchpoints that cannot be, for want of a debug register or of a way to set one.
 *
 * A classic insertion goes on without them: they are refused, as other points are, and the rest is probed. The
 * first watchpoints keep their registers. Where watchpoints of another program go at the same time, all that come
 * must have room, or nothing changes: else the places of those that have gone would be watched by none.
 */
#include "tracer/agent/agent.h"
#include <dprobes/diag.h>
#include <errno.h>

static struct dp_point *point_of(const struct dp_agent *a, size_t i)
{
	struct dp_points *points = a->points;
	size_t k = points->n;

	while (k-- > 0)
		if (points->v[k].spec->kind == DP_SPEC_WATCH &&
		    !points->v[k].refused &&
		    points->v[k].probe == a->data.probe[i])
			return &points->v[k];
	return NULL;
}

bool dp_agent_data_lack(struct dp_agent *a, int err, struct dp_diag *diag)
{
	struct dp_agent_data *d = &a->data;
	size_t least = err == -ENOSPC ? d->n - 1 : d->first, i;
	struct dp_point *p;

	if (!err || d->n == d->first)
		return false;
	for (i = least; i < d->n; i++) {
		p = point_of(a, i);
		if (!p || !dp_agent_data_alone(a, p, err))
			return false;
	}
	for (; d->n > least; d->n--, d->out++)
		dp_point_refuse(point_of(a, d->n - 1), err, "%.150s",
				diag->text);
	dp_diag_clear(diag);
	return true;
}

/* Where nothing has come, it waits for its library. */
int dp_agent_any_left(const struct dp_points *points, size_t first,
		      struct dp_diag *diag)
{
	size_t i = first;

	while (i < points->n && points->v[i].refused)
		i++;
	return i < points->n || first == points->n ?
		       0 :
		       dp_diag_set(diag, -EINVAL, "%s",
				   points->v[first].reason);
}

void dp_agent_data_left_out(struct dp_agent *a, u8 *off)
{
	struct dp_agent_data *d = &a->data;

	for (; d->out; d->out--)
		off[d->probe[d->n + d->out - 1]] = DP_OFF_RETIRED;
}
