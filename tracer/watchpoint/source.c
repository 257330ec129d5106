// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * source: watchpoints, from taking hold of a process to closing it.
 *
 * Nothing is put into the process: the kernel sets its threads' debug registers, counts, and
 * runs the programs that make records. It takes the events back when the tool ends, however it
 * does. So this source has no agent, and nothing to recover.
 */
#include "engine/layout/ring.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "resolve/points.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include "tracer/tracer.h"
#include "tracer/watchpoint/watchpoint.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDLE_MS 100
#define DOERS 64

/* Instructions that have been found, by where their threads went on */
struct doer {
	u64 pc, by;
};

/* @off: it neither counts nor traps any more */
struct dp_watch_session {
	struct dp_source source;
	char exe[PATH_MAX], execed[PATH_MAX];
	struct dp_watchpoint v[DP_WATCHPOINTS];
	u32 probe[DP_WATCHPOINTS];
	size_t n;
	struct dp_watch_events events;
	struct dp_watch_values *values;
	struct doer doers[DOERS];
	struct dp_watch_cost cost;
	/* of one records(): */
	dp_source_take take;
	void *arg;
};

static struct dp_watch_session *of(const struct dp_source *source)
{
	return (struct dp_watch_session *)source;
}

static void read_exe(pid_t pid, char *to)
{
	ssize_t n = readlink(dp_path("/proc/%d/exe", pid).s, to, PATH_MAX - 1);

	to[n < 0 ? 0 : n] = '\0';
}

static int open_process(const struct dp_tracer_options *opt, bool timed,
			struct dp_source **source, struct dp_diag *diag)
{
	struct dp_watch_session *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	w->source = (struct dp_source){ .ops = &dp_watch_source,
					.pid = opt->pid,
					.exe = w->exe };
	*source = &w->source;
	err = opt->pid ? dp_process_open(opt->pid, &w->source.proc, diag) :
			 dp_process_launch(opt->argv, &w->source.proc, diag);
	if (err == -ESRCH && opt->pid && !kill(opt->pid, 0))
		dp_diag_set(
			diag, err,
			"process %d has no memory that could be watched: it is a kernel thread, or ends",
			opt->pid);
	if (err)
		return err;
	w->source.pid = dp_process_pid(w->source.proc);
	w->source.inside = dp_process_inside(w->source.proc);
	w->source.launched = dp_process_launched(w->source.proc);
	read_exe(w->source.pid, w->exe);
	return 0;
}

static bool ended(const struct dp_source *source)
{
	return source->proc && dp_process_ended(source->proc);
}

static bool outdated(const struct dp_source *source, bool failed)
{
	if (!source->proc)
		return false;
	return failed ? dp_process_executes(source->proc) :
			dp_process_replaced(source->proc);
}

static int lost(const struct dp_source *source, struct dp_diag *diag)
{
	return dp_process_lost(source->pid, diag);
}

static int modules(const struct dp_source *source, struct dp_modules **mods,
		   struct dp_diag *diag)
{
	return dp_modules_open(source->pid, dp_process_mem(source->proc), mods,
			       diag);
}

static int resolve(struct dp_source *source, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag)
{
	return dp_watch_place(source->proc, mods, spec, points, diag);
}

static bool read_memory(const struct dp_source *source, u64 addr, void *to,
			size_t size)
{
	return !dp_process_read(source->proc, addr, to, size);
}

static int too_many(size_t n, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -ENOSPC,
		"these are %zu watchpoints, and a thread has %d debug registers: leave out what matters least",
		n, DP_WATCHPOINTS);
}

static int take_points(struct dp_watch_session *w, struct dp_points *points,
		       struct dp_diag *diag)
{
	u32 next = 0;
	size_t i;

	for (i = 0; i < points->n; i++) {
		struct dp_point *p = &points->v[i];

		p->probe = next;
		if (p->refused)
			continue;
		if (w->n == DP_WATCHPOINTS)
			return too_many(points->n, diag);
		p->program = (u32)w->n;
		w->probe[w->n] = next++;
		w->v[w->n++] = (struct dp_watchpoint){
			.addr = p->addr,
			.len = p->len,
			.access = p->spec->access,
			.name = p->name,
			.spec = p->spec,
		};
	}
	return w->n ? 0 :
		      dp_diag_set(diag, -ENOENT, "there is nothing to watch");
}

static bool any_condition(const struct dp_watch_session *w)
{
	bool any = false;
	size_t i;

	for (i = 0; i < w->n; i++)
		any |= w->v[i].spec->cond != NULL;
	return any;
}

/* Are they of the process that was opened, and may be traced? Its number may be another's by
 * now, and after an exec it may have other rights. A later exec takes the events. */
static int confirm(struct dp_watch_session *w, struct dp_diag *diag)
{
	if (!dp_process_ended(w->source.proc) &&
	    !dp_process_replaced(w->source.proc))
		return 0;
	dp_watch_events_close(&w->events);
	return dp_process_lost(w->source.pid, diag);
}

static int open_events(struct dp_watch_session *w, struct dp_diag *diag)
{
	const int *programs = w->values ? dp_watch_values_programs(w->values) :
					  NULL;

	return dp_watch_events_open(&w->events, w->source.pid, w->v, w->n, programs, diag) ?:
		       confirm(w, diag);
}

static int add(struct dp_source *source, const struct dp_source_request *want,
	       struct dp_diag *diag)
{
	struct dp_watch_session *w = of(source);
	int err = take_points(w, want->points, diag);

	if (!err && want->block)
		err = dp_diag_set(
			diag, -EOPNOTSUPP,
			"--block is not for watchpoints: a thread that has trapped in the kernel cannot wait for the tool; use --buffer");
	if (err || want->listed)
		return err;
	if (want->logs || any_condition(w))
		err = dp_watch_values_open(&w->values, source->pid, w->v, w->n,
					   want->logs, want->ring_bytes, diag);
	return err ? err : open_events(w, diag);
}

static int add_program(struct dp_source *source,
		       const struct dp_program_spec *spec, u32 *program,
		       u32 *offset, const char **why)
{
	*offset = 0;
	*why = "watchpoints run no programs yet";
	return -EINVAL;
}

static int arm(struct dp_source *source, struct dp_diag *diag)
{
	struct dp_watch_session *w = of(source);
	u64 now;
	u32 i;

	for (i = 0; w->values && i < w->n; i++) {
		now = 0;
		dp_process_read(source->proc, w->v[i].addr, &now, w->v[i].len);
		dp_watch_values_begin(w->values, i, now);
	}
	dp_watch_events_switch(&w->events, true);
	dp_watch_cost_begin(&w->cost, dp_source_now());
	return 0;
}

static void go(struct dp_source *source)
{
	dp_process_let_go(source->proc);
}

/* A process that ends loses its memory, too, but then it has no program either. */
static bool has_executed(struct dp_watch_session *w)
{
	if (*w->execed)
		return true;
	if (dp_process_replaced(w->source.proc))
		read_exe(w->source.pid, w->execed);
	return *w->execed;
}

static enum dp_source_state wait_for(struct dp_source *source, int ms)
{
	if (dp_process_poll(source->proc, ms) == DP_PROCESS_EXITED)
		return DP_SOURCE_EXITED;
	return has_executed(of(source)) ? DP_SOURCE_EXECED : DP_SOURCE_RUNS;
}

static void tend(struct dp_source *source, double t,
		 void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		 struct dp_source_news *news)
{
	struct dp_watch_session *w = of(source);

	*news = (struct dp_source_news){ .most = IDLE_MS };
	dp_watch_cost_look(&w->cost, &w->events, (u32)w->n, t, false,
			   w->values ? " without its record" : "");
}

/* One instruction makes most of the hits. */
static u64 doer_of(struct dp_watch_session *w, u64 pc)
{
	struct doer *d = &w->doers[pc % DOERS];

	if (d->pc != pc) {
		d->pc = pc;
		d->by = dp_watch_doer(w->source.mods, pc);
	}
	return d->by;
}

static u64 by(struct dp_watch_session *w, const struct dp_watch_record *r)
{
	switch (w->v[r->watch].access) {
	case DP_WATCH_WRITE:
		return doer_of(w, r->pc);
	case DP_WATCH_EXECUTE:
		return r->pc;
	default:
		return 0;
	}
}

static void hand_on(void *arg, const struct dp_watch_record *r)
{
	struct dp_watch_session *w = arg;
	struct dp_record_copy copy;
	const struct dp_watched watched = { .now = r->now,
					    .before = r->before,
					    .pc = r->pc,
					    .by = by(w, r),
					    .known = r->known };

	memset(&copy.head, 0, sizeof(copy.head));
	copy.head.ticks = r->ticks;
	copy.head.probe = w->probe[r->watch];
	copy.head.tid = r->tid;
	copy.head.cpu = r->cpu;
	copy.head.len = sizeof(watched);
	memcpy(copy.data, &watched, sizeof(watched));
	w->take(w->arg, &copy);
}

static size_t records(struct dp_source *source, dp_source_take take, void *arg,
		      bool ended_now)
{
	struct dp_watch_session *w = of(source);

	w->take = take;
	w->arg = arg;
	return w->values ? dp_watch_values_read(w->values, hand_on, w) : 0;
}

/* CLOCK_MONOTONIC, as the kernel's programs read it */
static u64 ticks(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static u32 thread(const struct dp_source *source, u32 tid)
{
	return dp_process_thread(source->proc, tid);
}

static u32 watch_of(const struct dp_watch_session *w,
		    const struct dp_point *point)
{
	u32 i = 0;

	while (i < w->n && w->probe[i] != point->probe)
		i++;
	return i;
}

static void count(const struct dp_source *source, const struct dp_point *point,
		  struct dp_source_count *c)
{
	const struct dp_watch_session *w = of(source);
	u32 watch = watch_of(w, point);

	*c = (struct dp_source_count){
		.hits = dp_watch_events_count(&w->events, watch),
		.mode = "watch",
	};
	if (w->values && watch < w->n)
		c->tally[DP_TALLY_LOST] =
			dp_watch_values_lost(w->values, watch);
}

static const char *reason(const struct dp_source *source,
			  const struct dp_point *point, size_t exit)
{
	return point->spec->access == DP_WATCH_EXECUTE ?
		       "a debug register of each thread" :
		       "a debug register of each thread; what the kernel writes or reads there is not seen";
}

static void totals(const struct dp_source *source, struct dp_source_totals *all)
{
	*all = (struct dp_source_totals){ .watchpoints = (u32)of(source)->n };
}

/* The only one is the number of hits for which a condition held. */
static u64 variable(const struct dp_source *source, u32 program, u32 index)
{
	const struct dp_watch_session *w = of(source);

	return w->values && program < w->n ?
		       dp_watch_values_held(w->values, program) :
		       0;
}

static void calls(const struct dp_source *source, const struct dp_point *point,
		  struct dp_account *counts)
{
	*counts = (struct dp_account){ 0 };
}

static int disarm(struct dp_source *source, bool alive, struct dp_diag *diag)
{
	dp_watch_events_switch(&of(source)->events, false);
	return 0;
}

static void settle(struct dp_source *source, dp_source_take take, void *arg)
{
}

static void end(const struct dp_source *source, struct dp_source_end *e)
{
	*e = (struct dp_source_end){ .execed = of(source)->execed };
	e->known = dp_process_status(source->proc, &e->status);
}

static void kill_launched(struct dp_source *source)
{
	if (source->proc)
		dp_process_kill_launched(source->proc);
}

static void close_watch(struct dp_source *source)
{
	struct dp_watch_session *w = of(source);

	if (!w)
		return;
	dp_watch_events_close(&w->events);
	dp_watch_values_close(w->values);
	dp_process_close(source->proc);
	dp_modules_close(source->mods);
	free(w);
}

const struct dp_source_ops dp_watch_source = {
	.name = "watchpoints",
	.open = open_process,
	.ended = ended,
	.outdated = outdated,
	.lost = lost,
	.modules = modules,
	.resolve = resolve,
	.read = read_memory,
	.add = add,
	.add_program = add_program,
	.arm = arm,
	.go = go,
	.wait = wait_for,
	.tend = tend,
	.records = records,
	.ticks = ticks,
	.thread = thread,
	.count = count,
	.reason = reason,
	.totals = totals,
	.variable = variable,
	.calls = calls,
	.disarm = disarm,
	.settle = settle,
	.end = end,
	.kill = kill_launched,
	.close = close_watch,
};
