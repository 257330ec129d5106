// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* probes: make points into probes of an engine. */
#include "engine/insn/region.h"
#include "engine/site/reach.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
#include "engine/site/program.h"
#include "engine/site/instances.h"
#include "proc/attach_other.h"
#include "proc/facts.h"
#include "proc/proc.h"
#include "resolve/code.h"
#include "resolve/exits.h"
#include "resolve/reach.h"
#include "sym/unwinds.h"
#include "tracer/agent/agent.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>

/* Probes for which there is room where specs wait for a library */
#define COMING 16384
/* … and where programs come: as many probes, programs, bytes of their code, local variables */
#define GROWS 2048
#define GROWS_PROGRAMS 64
#define GROWS_CODE (512u << 10)
#define GROWS_LOCALS (GROWS_PROGRAMS * DP_VARS_MAX)

/**
 * struct adding - state while probes are added
 * @last: number of the last probe, exits included
 * @later: probes of the process are armed
 */
struct adding {
	struct dp_agent *a;
	const struct dp_source_request *want;
	struct dp_reach_reader reach_reader;
	struct dp_code code;
	u32 last;
	bool later;
};

static void allow_jump(struct adding *d, u32 probe, u64 addr)
{
	dp_reach_allow(&d->reach_reader, d->a->engine, probe, addr);
}

/* Is a probe a breakpoint in a process that allows none? */
static bool must_not_trap(const struct dp_agent *a, u32 probe, const char **why)
{
	return dp_process_permits(a->proc).no_traps &&
	       !dp_engine_may_jump(a->engine, probe, why);
}

/* May threads come to the middle of jumps? They meet breakpoints there. */
static bool may_arrive(const struct adding *d)
{
	return d->a->settings.arming != DP_ARM_TRAP &&
	       !dp_process_permits(d->a->proc).no_traps;
}

/* Begin the jump of an exit's probe early, if that is better. */
static void start_early(struct adding *d, const struct dp_early_start *early,
			const struct dp_exit *exit, u32 probe)
{
	size_t size = exit->addr + exit->len - early->addr;
	struct dp_engine *e = d->a->engine;
	u8 code[DP_REGION_MAX];
	const char *why;

	if (!early->addr ||
	    (!early->exact &&
	     (!may_arrive(d) ||
	      (!early->better && dp_engine_may_jump(e, probe, &why)))))
		return;
	if (dp_code_read(&d->code, early->addr, code, size) != size ||
	    !dp_engine_start_early(e, early->addr, code, size, !early->exact))
		return;
	if (!early->exact)
		dp_engine_forbid_jump(e, probe,
				      "others branch to the bytes behind it");
}

/* Lead branches to an exit that stays a breakpoint to a copy of it. */
static void add_branches(struct adding *d, const struct dp_point *p, size_t k,
			 u32 probe)
{
	u8 code[DP_REGION_MAX];
	size_t i, n;

	if (!may_arrive(d))
		return;
	for (i = 0; i < p->nr_branches; i++) {
		const struct dp_branch *l = &p->branches[i];

		if (l->exit != k)
			continue;
		n = dp_code_read(&d->code, l->addr, code, l->size);
		if (n == l->size)
			dp_engine_duplicate(d->a->engine, probe, l->addr, code,
					    n);
	}
}

/* Add an exit, or take the probe @again of one whose code is there again.
 * @enter: the probe at the function's entry, or DP_NO_GROUP */
static int add_exit(struct adding *d, const struct dp_point *p, u32 enter,
		    size_t k, const u32 *again, const char **why)
{
	const struct dp_exit *exit = &p->exits[k];
	struct dp_engine *e = d->a->engine;
	u32 probe = again ? *again : 0;
	u8 code[DP_REGION_MAX];
	size_t n = dp_code_read(&d->code, exit->addr, code, sizeof(code));
	int err = again ? dp_engine_move(e, probe, exit->addr, code, n, why) :
			  dp_engine_add_exit(
				  e, enter,
				  dp_tail_targets_way(d->want->points, p, exit),
				  exit->addr, code, n, &probe, why);

	if (err)
		return err;
	d->last = probe > d->last ? probe : d->last;
	allow_jump(d, probe, exit->addr);
	if (!p->early_starts[k].exact && must_not_trap(d->a, probe, why))
		return -EOPNOTSUPP;
	start_early(d, &p->early_starts[k], exit, probe);
	add_branches(d, p, k, probe);
	return 0;
}

/* The exit of a tail target, unless it is probed already. */
static int add_tail_exit(struct adding *d, const struct dp_point *target,
			 size_t k, const char **why)
{
	struct dp_engine *e = d->a->engine;
	u32 probe = dp_engine_hidden_at(e, DP_KIND_EXIT, target->exits[k].addr);

	int err = 0;

	if (probe == DP_NO_GROUP) {
		probe = dp_engine_hidden_spare(e, DP_KIND_EXIT);
		err = add_exit(d, target, DP_NO_GROUP, k,
			       probe == DP_NO_GROUP ? NULL : &probe, why);
	}
	if (!err && probe != DP_NO_GROUP)
		dp_engine_set_way(e, probe,
				  dp_tail_targets_way(d->want->points, target,
						      &target->exits[k]));
	return err;
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
			err = add_tail_exit(d, &o->v[i], k, &why);
			if (err)
				return dp_diag_set(
					diag, err,
					"the exit at 0x%lx, which a followed function has by a tail jump, cannot be probed: %s",
					o->v[i].exits[k].addr, why);
		}
	return 0;
}

/* Probe the unwinders: calls end there without an exit, and else count as abandoned. */
static void add_unwinds(struct adding *d)
{
	struct dp_engine *e = d->a->engine;
	struct dp_unwind list[DP_UNWINDS_MAX];
	size_t n = dp_unwinds_find(d->a->source.mods, list), i, size;
	u8 code[DP_REGION_MAX];
	const char *why;
	u32 probe, way;
	int err;

	for (i = 0; i < n; i++) {
		if (dp_engine_hidden_at(e, DP_KIND_UNWIND, list[i].addr) !=
		    DP_NO_GROUP)
			continue;
		size = dp_code_read(&d->code, list[i].addr, code, sizeof(code));
		way = list[i].until == DP_UNWIND_CX ? DP_WAY_UNTIL_CX :
						      DP_WAY_UNTIL_DI;
		probe = dp_engine_hidden_spare(e, DP_KIND_UNWIND);
		err = probe == DP_NO_GROUP ?
			      dp_engine_add_unwind(e, way, list[i].addr, code,
						   size, &probe) :
			      dp_engine_move(e, probe, list[i].addr, code, size,
					     &why);
		if (err)
			continue;
		dp_engine_set_way(e, probe, way);
		allow_jump(d, probe, list[i].addr);
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
		err = add_exit(d, p, p->probe, k, NULL, &why);
		if (err)
			dp_diag_set(
				diag, err,
				"%s cannot be probed: its exit at 0x%lx: %s",
				p->name, p->exits[k].addr, why);
	}
	return err;
}

static int refuse_trap(struct dp_agent *a, struct dp_point *p, const char *why,
		       struct dp_diag *diag)
{
	dp_engine_drop(a->engine, p->probe);
	dp_point_refuse(p, -EOPNOTSUPP,
			"%s, and its process%s allows no breakpoint: %s", why,
			dp_process_permits(a->proc).dispatches ?
				"" :
				"'s seccomp filter",
			dp_process_permits(a->proc).no_traps);
	if (p->several)
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
	if (err == -ENOMEM || !p->several)
		return dp_diag_set(diag, err, "%s cannot be probed: %s",
				   p->name, why);
	dp_point_refuse(p, err, "%s", why);
	return 0;
}

static int add_data(struct adding *d, size_t i, struct dp_diag *diag)
{
	struct dp_point *p = &d->want->points->v[i];
	int err = dp_agent_add_data(d->a, p, diag);

	if (err || p->refused) {
		p->probe = d->last;
		return err;
	}
	d->last = p->probe;
	return d->want->bind ? d->want->bind(d->want->arg, i, diag) : 0;
}

static int add_point(struct adding *d, size_t i, struct dp_diag *diag)
{
	struct dp_point *p = &d->want->points->v[i];
	const char *why = "out of memory";
	u8 code[DP_REGION_MAX];
	size_t n;
	int err;

	if (p->spec->kind == DP_SPEC_WATCH)
		return add_data(d, i, diag);
	n = dp_code_read(&d->code, p->addr, code, sizeof(code));
	err = dp_engine_add(d->a->engine, p->addr, code, n, &p->probe, &why);
	if (err) {
		p->probe = d->last;
		return refuse(d, p, err, n, why, diag);
	}
	d->last = p->probe;
	allow_jump(d, p->probe, p->addr);
	if (must_not_trap(d->a, p->probe, &why))
		return refuse_trap(d->a, p, why, diag);
	if (p->spec->kind == DP_SPEC_RETURN)
		err = add_exits(d, p, diag);
	if (err || !d->want->bind)
		return err;
	return d->want->bind(d->want->arg, i, diag);
}

/* What was armed before stays, whatever becomes of a point that has come. */
static int add_late(struct adding *d, size_t i)
{
	struct dp_point *p = &d->want->points->v[i];
	u32 first = dp_engine_probes(d->a->engine), last = d->last;
	size_t watched = d->a->data.n;
	struct dp_diag diag = { .text = "" };
	int err;

	err = add_point(d, i, &diag);
	if (!err || err == -ENOMEM)
		return err;
	dp_output_say("%s", diag.text);
	while (first < dp_engine_probes(d->a->engine))
		dp_engine_drop(d->a->engine, first++);
	d->a->data.n = watched;
	p->probe = d->last = last;
	dp_point_refuse(p, err, "%.150s", diag.text);
	return 0;
}

static int add_points(struct adding *d, size_t first, struct dp_diag *diag)
{
	struct dp_points *p = d->want->points;
	size_t i;
	int err = 0;

	for (i = first; i < p->n; i++)
		p->v[i].program = DP_NO_PROGRAM;
	for (i = first; i < p->n && !err; i++)
		if (p->v[i].refused)
			p->v[i].probe = d->last;
		else if (d->later)
			err = add_late(d, i);
		else
			err = add_point(d, i, diag);
	d->a->nr_points = i;
	if (!err && p->tail_targets) {
		err = add_tail_targets(d, diag);
		add_unwinds(d);
	}
	return err;
}

/* Its library has been loaded again: the probes of a point go where its code is now. */
static int move_point(struct adding *d, const struct dp_point *p,
		      const char **why)
{
	u8 code[DP_REGION_MAX];
	size_t n = dp_code_read(&d->code, p->addr, code, sizeof(code)), k;
	int err = dp_engine_move(d->a->engine, p->probe, p->addr, code, n, why);
	u32 probe;

	if (!err)
		allow_jump(d, p->probe, p->addr);
	if (!err && must_not_trap(d->a, p->probe, why))
		err = -EOPNOTSUPP;
	for (k = 0; k < p->nr_exits && !err; k++) {
		probe = p->probe + 1 + (u32)k;
		err = add_exit(d, p, p->probe, k, &probe, why);
	}
	return err;
}

/* Where its tail jumps go is known anew. */
static void renew_ways(struct adding *d, const struct dp_point *p)
{
	size_t k;

	for (k = 0; k < p->nr_exits; k++)
		dp_engine_set_way(d->a->engine, p->probe + 1 + (u32)k,
				  dp_tail_targets_way(d->want->points, p,
						      &p->exits[k]));
}

static void move_points(struct adding *d)
{
	struct dp_points *p = d->want->points;
	const char *why;
	size_t i;

	dp_engine_release_gone(d->a->engine);
	for (i = 0; i < d->a->nr_points; i++) {
		if (p->v[i].refused || p->v[i].gone || p->v[i].retired)
			continue;
		if (dp_engine_is_gone(d->a->engine, p->v[i].probe) &&
		    move_point(d, &p->v[i], &why)) {
			dp_output_say("%s cannot be probed again: %s",
				      p->v[i].name, why);
			p->v[i].gone = true;
		}
		renew_ways(d, &p->v[i]);
	}
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
static void set_process(const struct adding *d)
{
	struct dp_agent *a = d->a;

	if (dp_process_permits(a->proc).no_traps)
		dp_engine_set_signal_free(a->engine);
	else
		dp_engine_set_arming(a->engine, a->settings.arming);
	dp_engine_set_tid_offset(a->engine,
				 dp_thread_tid_offset(a->source.mods));
	dp_engine_set_native(a->engine, a->settings.native, a->settings.leave);
	dp_engine_set_tight(a->engine, dp_limits_tight(a->source.pid));
	dp_engine_set_rings(a->engine, d->want->ring_bytes, d->want->block);
	dp_engine_set_coarse(a->engine, d->want->coarse);
	dp_engine_set_holds(
		a->engine, d->want->holds && dp_process_permits(a->proc).waits);
}

/* Room for what libraries may bring, and for what they take along and bring again. */
static void expect(const struct adding *d)
{
	const struct dp_source_request *want = d->want;
	const struct dp_points *p = want->points;
	size_t i, now = most_probes(p);
	bool tracks = d->a->source.tracks, programs = want->logs;
	u32 more = want->coming ? COMING : want->grows ? GROWS : 0;
	bool later = want->coming || want->grows;

	for (i = 0; i < want->nr_specs; i++) {
		tracks |= want->specs[i].kind == DP_SPEC_RETURN;
		programs |= want->specs[i].cond || want->specs[i].aggs;
	}
	dp_engine_expect(d->a->engine,
			 &(struct dp_expected){
				 .sites = 2 * (u32)now + 2 * more,
				 .probes = (u32)now + more,
				 .programs = want->grows ? GROWS_PROGRAMS :
					     programs	 ? more :
							   0,
				 .log = later ? want->longest : 0,
				 .traces = later ? want->traces : 0,
				 .heap = later ? want->heap : 0,
				 .code = want->grows ? GROWS_CODE : 0,
				 .locals = want->grows ? GROWS_LOCALS : 0,
				 .calls = tracks,
			 });
}

static struct adding begin(struct dp_agent *a,
			   const struct dp_source_request *want)
{
	return (struct adding){
		.a = a,
		.want = want,
		.reach_reader = { .mods = a->source.mods,
				  .arming =
					  dp_process_permits(a->proc).no_traps ?
						  DP_ARM_QUIESCE :
						  a->settings.arming,
				  .never =
					  dp_process_permits(a->proc).no_jumps },
		.code = { .pid = a->source.pid, .mods = a->source.mods },
	};
}

int dp_agent_add(struct dp_source *source, const struct dp_source_request *want,
		 struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	struct adding d;
	int err;

	a->logs = want->logs;
	a->points = want->points;
	source->tracks = false;
	err = dp_engine_create(&a->engine);
	if (err || dp_tail_targets_cover(want->points))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	d = begin(a, want);
	set_process(&d);
	err = want->prepare ? want->prepare(want->arg, diag) : 0;
	err = err ?: add_points(&d, 0, diag);
	a->last = d.last;
	dp_reach_reader_close(&d.reach_reader);
	if (!err && !want->coming && !dp_engine_sites(a->engine) &&
	    !dp_engine_watches(a->engine))
		err = dp_diag_set(diag, -EINVAL,
				  "none of the matches can be probed");
	if (!err && want->listed) {
		dp_engine_preview(a->engine);
		return 0;
	}
	if (!err)
		err = dp_agent_watch(a, want, diag);
	if (!err && (source->watches || want->grows))
		expect(&d);
	dp_process_found_in(a->proc, source->mods);
	if (!err && source->tracks &&
	    dp_calls_open(&a->calls, a->engine, a->proc, a->logs))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	return err;
}

int dp_agent_add_more(struct dp_agent *a, const struct dp_source_request *want,
		      struct dp_diag *diag)
{
	struct dp_points *p = want->points;
	struct adding d;
	int err = dp_points_renew(a->proc, a->source.mods, p);

	if (err || dp_tail_targets_cover(p))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	d = begin(a, want);
	d.last = a->last;
	d.later = true;
	move_points(&d);
	err = add_points(&d, a->nr_points, diag);
	a->last = d.last;
	dp_reach_reader_close(&d.reach_reader);
	if (!err && a->source.tracks &&
	    dp_calls_open(&a->calls, a->engine, a->proc, a->logs))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	return err;
}
