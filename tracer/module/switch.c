// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * switch: ask the tool that probes a process to disable or enable some of its probes.
 *
 * tracer/order.h has the protocol. The arena in the process says which tool that is. It
 * may lie: the order names the process, and a tool that does not probe it refuses.
 */
#include "tracer/order.h"
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

#define NAP_US 2000
/* How long a tool may take to begin with an order, and to carry it out. */
#define TAKE_SECONDS 0.25
#define DONE_SECONDS 10

/**
 * struct asker
 * @armed: the process's probes, by address; of tool @tool
 * @points: that are to be switched
 */
struct asker {
	const struct dp_tracer_options *opt;
	bool on;
	struct dp_armed *armed;
	size_t nr_armed;
	pid_t tool;
	struct dp_order_point *points;
	size_t n, room;
	struct dp_process *proc;
	u64 addr;
};

#define AT(a, field) ((a)->addr + offsetof(struct dp_orders, field))
#define GET(a, field, to) \
	dp_process_read((a)->proc, AT(a, field), to, sizeof(*(to)))
#define PUT(a, field, from) \
	dp_process_write((a)->proc, AT(a, field), from, sizeof(*(from)))

static int has_gone(const struct asker *a, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -ESRCH,
		"the dprobes that probed process %d (process %d) has ended; its probes count nothing more",
		a->opt->pid, a->tool);
}

/* Wait until the order has left state @state. Return: 0; -EAGAIN; -ESRCH. */
static int wait_while(const struct asker *a, u64 state, double seconds,
		      u64 *now)
{
	double deadline = dp_source_now() + seconds;

	do {
		if (GET(a, state, now))
			return -ESRCH;
		if (*now != state)
			return 0;
		usleep(NAP_US);
	} while (dp_source_now() < deadline);
	return -EAGAIN;
}

static int no_answer(const struct asker *a, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EAGAIN,
		"the dprobes that probes process %d (process %d) does not answer, and nothing has changed; try again",
		a->opt->pid, a->tool);
}

/* An asker that has died may have left an order. */
static int wait_idle(const struct asker *a, u64 *state, struct dp_diag *diag)
{
	int err = GET(a, state, state) ? -ESRCH : 0;

	while (!err &&
	       ((u32)*state == DP_ORDER_ASKED || (u32)*state == DP_ORDER_TAKEN))
		err = wait_while(a, *state, TAKE_SECONDS, state);
	if (err == -ESRCH)
		return has_gone(a, diag);
	return err ? no_answer(a, diag) : 0;
}

static int put_order(const struct asker *a, u64 number)
{
	u64 state = number << 32 | DP_ORDER_IDLE;
	u32 verb = a->on ? DP_ORDER_ENABLE : DP_ORDER_DISABLE;
	u32 pid = (u32)a->opt->pid, nr = (u32)a->n;

	/* Of the last write only one byte differs. */
	if (PUT(a, state, &state) || PUT(a, verb, &verb) || PUT(a, pid, &pid) ||
	    PUT(a, nr, &nr) ||
	    dp_process_write(a->proc, AT(a, points), a->points,
			     a->n * sizeof(*a->points)))
		return -ESRCH;
	state = number << 32 | DP_ORDER_ASKED;
	return PUT(a, state, &state);
}

static int answer(const struct asker *a, struct dp_diag *diag)
{
	struct dp_diag theirs;
	s32 err;

	if (GET(a, err, &err) || GET(a, diag, &theirs))
		return has_gone(a, diag);
	if (!err)
		return 0;
	return dp_output_quote(diag, err, &theirs);
}

/* Return: 0: the order is taken. */
static int wait_taken(const struct asker *a, u64 number, u64 *state,
		      struct dp_diag *diag)
{
	u64 asked = number << 32 | DP_ORDER_ASKED;
	int err = wait_while(a, asked, TAKE_SECONDS, state);

	if (err != -EAGAIN)
		return err ? has_gone(a, diag) : 0;
	if (PUT(a, withdrawn, &number) || GET(a, state, state))
		return has_gone(a, diag);
	return *state == asked ? no_answer(a, diag) : 0;
}

static int ask(const struct asker *a, struct dp_diag *diag)
{
	u64 state, number;
	int err = wait_idle(a, &state, diag);

	if (err)
		return err;
	number = (u32)((state >> 32) + 1);
	if (put_order(a, number))
		return has_gone(a, diag);
	err = wait_taken(a, number, &state, diag);
	if (!err && (u32)state == DP_ORDER_TAKEN)
		err = wait_while(a, state, DONE_SECONDS, &state);
	if (err == -EAGAIN && (u32)state == DP_ORDER_TAKEN)
		return dp_diag_set(
			diag, err,
			"process %d has begun to change its probes and goes on; dprobes list -p %d will show what came of it",
			a->tool, a->opt->pid);
	if (err)
		return err == -ESRCH ? has_gone(a, diag) : err;
	return answer(a, diag);
}

static int check_tool(struct asker *a, struct dp_diag *diag)
{
	u64 magic = 0;
	u32 version = 0;

	a->addr = dp_mapping_named(a->tool, DP_ORDER_PATH);
	if (a->addr)
		GET(a, magic, &magic);
	if (magic == DP_ORDER_MAGIC)
		GET(a, version, &version);
	if (version == DP_ORDER_VERSION)
		return 0;
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"what probes process %d (process %d) takes no orders: it is no dprobes command, another version, or in another pid namespace",
		a->opt->pid, a->tool);
}

/* One asker at a time. */
static int ask_tool(struct asker *a, struct dp_diag *diag)
{
	int err = dp_process_open(a->tool, &a->proc, diag);

	if (err == -ESRCH)
		return has_gone(a, diag);
	if (err == -EPERM)
		return dp_diag_set(
			diag, err,
			"process %d is probed by process %d, which obeys only those who may trace that process, too",
			a->opt->pid, a->tool);
	if (err)
		return err;
	err = check_tool(a, diag);
	if (!err)
		err = dp_process_lock(a->proc, DP_LOCK_ORDER, diag);
	if (!err)
		err = ask(a, diag);
	dp_process_close(a->proc);
	return err;
}

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
		return has_gone(a, diag);
	err = a->tool == pid ? find_guests(a, diag) : 0;
	if (err)
		return err;
	qsort(a->armed, a->nr_armed, sizeof(*a->armed), dp_list_order);
	return 0;
}

int dp_tracer_switch(const struct dp_tracer_options *opt, bool on,
		     const char **bad_spec, struct dp_diag *diag)
{
	struct asker a = { .opt = opt, .on = on };
	int err = find_tool(&a, diag);

	if (!err)
		err = resolve(&a, bad_spec, diag);
	if (!err)
		err = ask_tool(&a, diag);
	free(a.armed);
	free(a.points);
	return err;
}
