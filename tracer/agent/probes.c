// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* probes: make points into probes of an engine. */
#include "engine/insn/region.h"
#include "engine/site/reach.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
#include "engine/site/instances.h"
#include "proc/attach_other.h"
#include "proc/proc.h"
#include "resolve/code.h"
#include "resolve/exits.h"
#include "resolve/reach.h"
#include "sym/unwinds.h"
#include "tracer/agent/agent.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NOP 0x90

/**
 * struct adding - state while probes are added
 * @nowhere: address for the next probe whose code is gone
 * @last: number of the last probe, exits included
 */
struct adding {
	struct dp_agent *a;
	const struct dp_source_request *want;
	struct dp_reach_reader reach_reader;
	struct dp_code code;
	u64 nowhere;
	u32 last;
};

/* A probe whose code is gone gets NOPs at an address that no thread comes to. Its old address
 * may have other code by now, with probes of its own. Return: bytes of code. */
static size_t read_code(struct adding *d, bool gone, u64 *addr, u8 *code)
{
	if (!gone)
		return dp_code_read(&d->code, *addr, code, DP_REGION_MAX);
	*addr = d->nowhere;
	d->nowhere += DP_REGION_MAX;
	memset(code, NOP, DP_REGION_MAX);
	return DP_REGION_MAX;
}

static void find_nowhere(struct adding *d)
{
	const struct dp_points *p = d->want->points;
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->v[i].gone) {
			d->nowhere = dp_nowhere(d->a->source.pid, p->v[i].addr);
			return;
		}
}

/* Set how far a probe may reach, or that its code is gone. */
static void take_place(struct adding *d, u32 probe, bool gone, u64 addr)
{
	if (gone)
		dp_engine_set_gone(d->a->engine, probe);
	else
		dp_reach_allow(&d->reach_reader, d->a->engine, probe, addr);
}

/* Is a probe a breakpoint in a process that allows none? */
static bool must_not_trap(const struct dp_agent *a, u32 probe, const char **why)
{
	return dp_process_no_traps(a->proc) &&
	       !dp_engine_may_jump(a->engine, probe, why);
}

static u32 way_of(const struct adding *d, const struct dp_exit *exit)
{
	bool covered = exit->kind == DP_EXIT_TAIL && exit->to &&
		       dp_tail_targets_is_covered(d->want->points, exit->to);

	return dp_exit_way(exit) | (covered ? DP_WAY_TAIL_TARGET : 0);
}

/* @enter: the probe at the function's entry, or DP_NO_GROUP */
static int add_exit(struct adding *d, const struct dp_point *p, u32 enter,
		    size_t k, const char **why)
{
	const struct dp_exit *exit = &p->exits[k];
	u64 addr = exit->addr, early_start = p->gone ? 0 : p->early_starts[k];
	struct dp_engine *e = d->a->engine;
	u8 code[DP_REGION_MAX];
	size_t n = read_code(d, p->gone, &addr, code);
	u32 probe;
	int err = dp_engine_add_exit(e, enter, way_of(d, exit), addr, code, n,
				     &probe, why);

	if (err)
		return err;
	d->last = probe;
	take_place(d, probe, p->gone, exit->addr);
	if (!early_start && !p->gone && must_not_trap(d->a, probe, why))
		return -EOPNOTSUPP;
	if (early_start) {
		n = dp_code_read(&d->code, early_start, code, DP_REGION_MAX);
		dp_engine_start_early(e, early_start, code, n);
	}
	return 0;
}

/* Exits of tail targets: the calls that were tail-called end there. */
static int add_tail_targets(struct adding *d, struct dp_diag *diag)
{
	const struct dp_tail_targets *o = d->want->points->tail_targets;
	const char *why;
	size_t i, k;
	int err;

	for (i = 0; i < o->n; i++)
		for (k = 0; !o->v[i].refused && k < o->v[i].nr_exits; k++) {
			err = add_exit(d, &o->v[i], DP_NO_GROUP, k, &why);
			if (err)
				return dp_diag_set(
					diag, err,
					"the exit at 0x%llx, which a followed function has by a tail jump, cannot be probed: %s",
					(unsigned long long)o->v[i]
						.exits[k]
						.addr,
					why);
		}
	return 0;
}

/* Probe the unwinders: calls end there without an exit, and else count as abandoned. */
static void add_unwinds(struct adding *d)
{
	struct dp_unwind list[DP_UNWINDS_MAX];
	size_t n = dp_unwinds_find(d->a->source.mods, list), i, size;
	u8 code[DP_REGION_MAX];
	u32 probe;

	for (i = 0; i < n; i++) {
		size = read_code(d, false, &list[i].addr, code);
		if (!dp_engine_add_unwind(d->a->engine,
					  list[i].until == DP_UNWIND_CX ?
						  DP_WAY_UNTIL_CX :
						  DP_WAY_UNTIL_DI,
					  list[i].addr, code, size, &probe))
			take_place(d, probe, false, list[i].addr);
	}
}

/* Track a function, and probe its exits. */
static int add_exits(struct adding *d, const struct dp_point *p,
		     struct dp_diag *diag)
{
	const char *why = "out of memory";
	int err = dp_engine_track(d->a->engine, p->probe, d->a->logs);
	size_t k;

	if (err)
		return dp_diag_set(diag, err, "too many functions to follow");
	d->a->source.tracks = true;
	if (p->ret.kind == DP_TYPE_FLOAT)
		dp_engine_track_xmm(d->a->engine, p->probe);
	for (k = 0; k < p->nr_exits && !err; k++) {
		err = add_exit(d, p, p->probe, k, &why);
		if (err)
			dp_diag_set(
				diag, err,
				"%s cannot be probed: its exit at 0x%llx: %s",
				p->name, (unsigned long long)p->exits[k].addr,
				why);
	}
	return err;
}

static int refuse_trap(struct dp_agent *a, struct dp_point *p, const char *why,
		       struct dp_diag *diag)
{
	dp_engine_drop(a->engine, p->probe);
	dp_point_refuse(p, -EOPNOTSUPP,
			"%s, and its process%s allows no breakpoint: %s", why,
			dp_process_dispatches(a->proc) ? "" :
							 "'s seccomp filter",
			dp_process_no_traps(a->proc));
	if (p->spec->glob)
		return 0;
	p->refused = 0;
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"%s cannot be probed: %s; another instruction of the function may do",
		p->name, p->reason);
}

/* The engine has refused the point: give up, or skip a match of a glob. */
static int refuse(const struct adding *d, struct dp_point *p, int err,
		  size_t size, const char *why, struct dp_diag *diag)
{
	if (!size && dp_process_ended(d->a->proc))
		return dp_diag_set(
			diag, -ESRCH,
			"process %d has ended, or executes another program",
			d->a->source.pid);
	if (err == -ENOMEM || !p->spec->glob)
		return dp_diag_set(diag, err, "%s cannot be probed: %s",
				   p->name, why);
	dp_point_refuse(p, err, "%s", why);
	return 0;
}

static int add_point(struct adding *d, size_t i, struct dp_diag *diag)
{
	struct dp_point *p = &d->want->points->v[i];
	const char *why = "out of memory";
	u8 code[DP_REGION_MAX];
	u64 addr = p->addr;
	size_t n = read_code(d, p->gone, &addr, code);
	int err = dp_engine_add(d->a->engine, addr, code, n, &p->probe, &why);

	if (err) {
		p->probe = d->last;
		return refuse(d, p, err, n, why, diag);
	}
	d->last = p->probe;
	take_place(d, p->probe, p->gone, p->addr);
	if (must_not_trap(d->a, p->probe, &why))
		return refuse_trap(d->a, p, why, diag);
	if (p->spec->kind == DP_SPEC_RETURN)
		err = add_exits(d, p, diag);
	if (err || !d->want->bind)
		return err;
	return d->want->bind(d->want->arg, i, diag);
}

static int add_points(struct adding *d, struct dp_diag *diag)
{
	struct dp_points *p = d->want->points;
	size_t i;
	int err = 0;

	find_nowhere(d);
	for (i = 0; i < p->n; i++)
		p->v[i].program = DP_NO_PROGRAM;
	for (i = 0; i < p->n && !err; i++)
		if (p->v[i].refused)
			p->v[i].probe = d->last;
		else
			err = add_point(d, i, diag);
	if (!err && p->tail_targets) {
		err = add_tail_targets(d, diag);
		add_unwinds(d);
	}
	return err;
}

static size_t most_probes(const struct dp_points *p)
{
	const struct dp_tail_targets *o = p->tail_targets;
	size_t i, n = DP_UNWINDS_MAX;

	for (i = 0; i < p->n; i++)
		n += 1 + p->v[i].nr_exits;
	for (i = 0; o && i < o->n; i++)
		n += o->v[i].nr_exits;
	return n;
}

/* Set what holds for all probes of the process. */
static void prepare(struct adding *d)
{
	struct dp_agent *a = d->a;

	d->reach_reader = (struct dp_reach_reader){
		.mods = a->source.mods,
		.arming = a->arming,
		.never = dp_process_no_jumps(a->proc),
	};
	if (dp_process_no_traps(a->proc)) {
		d->reach_reader.arming = DP_ARM_QUIESCE;
		dp_engine_set_signal_free(a->engine);
	} else {
		dp_engine_set_arming(a->engine, a->arming);
	}
	dp_engine_set_tid_offset(a->engine,
				 dp_thread_tid_offset(a->source.mods));
}

int dp_agent_add(struct dp_source *source, const struct dp_source_request *want,
		 struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	struct adding d = { .a = a, .want = want };
	int err;

	d.code = (struct dp_code){ .pid = source->pid, .mods = source->mods };
	a->nr_probes = most_probes(want->points);
	a->logs = want->logs;
	source->tracks = false;
	err = dp_engine_create(&a->engine);
	if (err || dp_tail_targets_cover(want->points))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	prepare(&d);
	err = add_points(&d, diag);
	dp_reach_reader_close(&d.reach_reader);
	if (!err && !want->coming && !dp_engine_sites(a->engine))
		err = dp_diag_set(diag, -EINVAL,
				  "none of the matches can be probed");
	if (!err && want->listed) {
		dp_engine_layout(a->engine, 1);
		return 0;
	}
	if (!err)
		err = dp_agent_watch(a, want, diag);
	dp_process_found_in(a->proc, source->mods);
	if (!err && source->tracks && dp_agent_calls_open(a))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	return err;
}
