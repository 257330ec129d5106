// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * switch: ask the tool that probes a process to disable or enable some of its probes.
 *
 * tracer/order.h has the protocol. The arena in the process says which tool that is. It
 * may lie: the order names the process, and a tool that does not probe it refuses.
 */
#include "tracer/order.h"
#include "tracer/module/ask.h"
#include "tracer/module/client.h"
#include "tracer/session.h"
#include "proc/attach_other.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "resolve/points.h"
#include "sym/list.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/**
 * struct asker
 * @armed: the process's probes, by address; of tool @tool
 * @points: that are to be switched
 */
struct asker {
	const struct dp_tracer_options *opt;
	struct dp_armed *armed;
	size_t nr_armed;
	pid_t tool;
	struct dp_order_point *points;
	size_t n, room;
	struct dp_process *proc;
};

/* Has the tool a probe there? A line with a pending spec has no address. */
static bool is_probed(const struct asker *a, const struct dp_order_point *p)
{
	const struct dp_armed *v = a->armed;
	size_t i = dp_list_upto(v, a->nr_armed, sizeof(*v), 0, p->addr);

	while (i-- && v[i].addr == p->addr)
		if (!*v[i].pending && v[i].has_exits == p->returns)
			return true;
	return false;
}

static int add(struct asker *a, const struct dp_spec *spec,
	       const struct dp_points *found, struct dp_diag *diag)
{
	size_t i, before = a->n;

	for (i = 0; i < found->n; i++) {
		const struct dp_order_point p = {
			found->v[i].addr, spec->kind == DP_SPEC_RETURN
		};

		if (is_probed(a, &p) &&
		    dp_list_add(&a->points, &a->n, &a->room, &p, sizeof(p)))
			return dp_diag_set(diag, -ENOMEM, "out of memory");
	}
	if (a->n > before)
		return 0;
	return dp_diag_set(
		diag, -ENOENT,
		"process %d has no probe at %s; dprobes list -p %d shows those it has",
		a->opt->pid, spec->text, a->opt->pid);
}

static int resolve_one(struct asker *a, struct dp_modules *mods,
		       const char *text, struct dp_diag *diag)
{
	struct dp_points found = { 0 };
	struct dp_spec spec;
	int err = dp_spec_parse(text, &spec, diag);

	if (err)
		return err;
	spec.inlines = DP_INLINES_ALONE;
	err = dp_spec_supported(&spec, diag);
	if (!err)
		err = dp_points_find(a->proc, mods, &spec, &found, diag);
	if (!err)
		err = add(a, &spec, &found, diag);
	dp_points_free(&found);
	dp_spec_free(&spec);
	return err;
}

/* Points that several specs name are in the order once. */
static int sort_points(struct asker *a, struct dp_diag *diag)
{
	size_t i, n = 0;

	qsort(a->points, a->n, sizeof(*a->points), dp_order_compare);
	for (i = 0; i < a->n; i++)
		if (!n || dp_order_compare(&a->points[n - 1], &a->points[i]))
			a->points[n++] = a->points[i];
	a->n = n;
	return n <= DP_ORDER_POINTS ?
		       0 :
		       dp_diag_set(diag, -EINVAL,
				   "%zu probes are too many at once; %u may be",
				   n, DP_ORDER_POINTS);
}

static int resolve(struct asker *a, const char **bad_spec, struct dp_diag *diag)
{
	struct dp_modules *mods = NULL;
	size_t i;
	int err = dp_process_open(a->opt->pid, &a->proc, diag);

	if (err)
		return err;
	err = dp_modules_open(a->opt->pid, dp_process_mem(a->proc), &mods,
			      diag);
	for (i = 0; !err && i < a->opt->nr_specs; i++) {
		err = resolve_one(a, mods, a->opt->specs[i], diag);
		if (err && err != -ENOMEM)
			*bad_spec = a->opt->specs[i];
	}
	dp_modules_close(mods);
	dp_process_close(a->proc);
	return err ? err : sort_points(a, diag);
}

/* The program's own probes are not for others to switch one by one. */
static int find_guests(struct asker *a, struct dp_diag *diag)
{
	pid_t pid = a->opt->pid;
	struct dp_client c;
	u32 tool = 0;
	size_t i, n = 0;
	int err = dp_client_open(&c, pid, NULL, diag);

	if (err)
		return err;
	DP_CLIENT_GET(&c, guests_of, &tool);
	dp_client_close(&c);
	if (!tool)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d probes itself; dprobes enabled 0 -p %d switches all its probes off",
			pid, pid);
	a->tool = (pid_t)tool;
	for (i = 0; i < a->nr_armed; i++)
		if (a->armed[i].counts)
			a->armed[n++] = a->armed[i];
	a->nr_armed = n;
	return 0;
}

static int find_tool(struct asker *a, struct dp_diag *diag)
{
	pid_t pid = a->opt->pid;
	int err = dp_process_inspect(pid, &a->armed, &a->nr_armed, &a->tool,
				     diag);

	if (err)
		return err;
	if (!a->tool)
		return dp_ask_gone(a->tool, pid, diag);
	err = a->tool == pid ? find_guests(a, diag) : 0;
	if (err)
		return err;
	qsort(a->armed, a->nr_armed, sizeof(*a->armed), dp_list_order);
	return 0;
}

int dp_tracer_switch(const struct dp_tracer_options *opt, bool on,
		     const char **bad_spec, struct dp_diag *diag)
{
	struct asker a = { .opt = opt };
	int err = find_tool(&a, diag);

	if (!err)
		err = resolve(&a, bad_spec, diag);
	if (!err)
		err = dp_ask(&(struct dp_ask){ .tool = a.tool,
					       .pid = opt->pid,
					       .verb = on ? DP_ORDER_ENABLE :
							    DP_ORDER_DISABLE,
					       .nr = (u32)a.n,
					       .body = a.points,
					       .len = a.n * sizeof(*a.points) },
			     diag);
	free(a.armed);
	free(a.points);
	return err;
}
