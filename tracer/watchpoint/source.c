// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * source: watchpoints, from taking hold of a process to closing it.
 *
 * Nothing is put into the process: the kernel sets its threads' debug registers, counts, and
 * runs the programs that make records. It takes the events back when the tool ends, however it
 * does. So this source has no agent, and nothing to recover.
 *
 * Where the kernel permits that not, the tool sets the registers by ptrace(2), takes the hits
 * itself (taken.c), and puts an agent into the process, for its end (proc/watch/registers.c).
 */
#include "engine/layout/ring.h"
#include "proc/inspect.h"
#include "proc/linker.h"
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

/* @by_registers: not by events; then @taken has hits, where they mean more than a count */
struct dp_watch_session {
	struct dp_source source;
	char exe[PATH_MAX], execed[PATH_MAX];
	struct dp_watchpoint v[DP_WATCHPOINTS];
	u32 probe[DP_WATCHPOINTS];
	size_t n;
	struct dp_watch_armed armed;
	struct dp_watch_values *values;
	bool by_registers, logs;
	struct dp_watch_taken *taken;
	struct dp_process
		*looked; /* as it was opened first, whose memory @mods read */
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
	dp_watch_events_close(&w->armed.events);
	return dp_process_lost(w->source.pid, diag);
}

static int open_events(struct dp_watch_session *w, struct dp_diag *diag)
{
	const int *programs = w->values ? dp_watch_values_programs(w->values) :
					  NULL;

	return dp_watch_events_open(&w->armed.events, w->source.pid, w->v, w->n, programs, diag) ?:
		       confirm(w, diag);
}

/* By programs of the kernel's, if hits are more than counts */
static int add_events(struct dp_watch_session *w,
		      const struct dp_source_request *want,
		      struct dp_diag *diag)
{
	int err = 0;

	if (want->logs || any_condition(w))
		err = dp_watch_values_open(&w->values, w->source.pid, w->v,
					   w->n, want->logs, want->ring_bytes,
					   diag);
	return err ? err : open_events(w, diag);
}

/* A process that was opened for its memory is attached to. It must be the one that was opened. */
static int attach(struct dp_watch_session *w, struct dp_diag *diag)
{
	struct dp_process *proc;
	int err = dp_process_attach(w->source.pid, &proc, diag);

	if (err)
		return err;
	if (dp_process_ended(w->source.proc) ||
	    dp_process_replaced(w->source.proc)) {
		dp_process_close(proc);
		return dp_process_lost(w->source.pid, diag);
	}
	w->looked = w->source.proc;
	w->source.proc = proc;
	return 0;
}

static int add_registers(struct dp_watch_session *w, bool logs,
			 struct dp_diag *diag)
{
	dp_watch_events_close(&w->armed.events);
	dp_watch_values_close(w->values);
	w->values = NULL;
	w->by_registers = true;
	w->logs = logs;
	return w->source.launched ? 0 : attach(w, diag);
}

static int add(struct dp_source *source, const struct dp_source_request *want,
	       struct dp_diag *diag)
{
	struct dp_watch_session *w = of(source);
	enum dp_watch_way way;
	int err = dp_watch_way_read(&way, diag) ?:
			  take_points(w, want->points, diag);

	if (!err && want->block)
		err = dp_diag_set(
			diag, -EOPNOTSUPP,
			"--block is not for watchpoints: a thread that has trapped in the kernel cannot wait for the tool; use --buffer");
	if (err || want->listed)
		return err;
	if (way != DP_WATCH_REGISTERS) {
		err = add_events(w, want, diag);
		if (way == DP_WATCH_EVENTS || !dp_watch_events_denied(err))
			return err;
		dp_diag_clear(diag);
	}
	return add_registers(w, want->logs, diag);
}

static int add_program(struct dp_source *source,
		       const struct dp_program_spec *spec, u32 *program,
		       u32 *offset, const char **why)
{
	*offset = 0;
	*why = "watchpoints run no programs yet";
	return -EINVAL;
}

static int arm_registers(struct dp_watch_session *w, struct dp_diag *diag)
{
	struct dp_watch_taker taker;
	int err = dp_watch_taken_open(&w->taken, w->source.proc, w->v, w->n,
				      w->logs, diag);

	if (err)
		return err;
	taker = dp_watch_taken_taker(w->taken);
	err = dp_watch_registers_open(&w->armed.registers, w->source.proc, w->v,
				      w->n, &taker, diag);
	if (err)
		dp_process_kill_launched(w->source.proc);
	return err;
}

static int arm(struct dp_source *source, struct dp_diag *diag)
{
	struct dp_watch_session *w = of(source);
	int err = 0;
	u64 now;
	u32 i;

	for (i = 0; w->values && i < w->n; i++) {
		now = 0;
		dp_process_read(source->proc, w->v[i].addr, &now, w->v[i].len);
		dp_watch_values_begin(w->values, i, now);
	}
	if (w->by_registers)
		err = arm_registers(w, diag);
	dp_watch_events_switch(&w->armed.events, true);
	dp_watch_cost_begin(&w->cost, dp_source_now());
	return err;
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
	struct dp_watch_session *w = of(source);
	struct dp_watch_registers *r = w->armed.registers;

	if (r && !dp_watch_registers_wait(r, ms))
		return DP_SOURCE_RUNS;
	switch (dp_process_poll(source->proc, ms)) {
	case DP_PROCESS_EXITED:
		return DP_SOURCE_EXITED;
	case DP_PROCESS_EXECED:
		snprintf(w->execed, sizeof(w->execed), "%s",
			 dp_process_execed(source->proc));
		return DP_SOURCE_EXECED;
	default:
		return !r && has_executed(w) ? DP_SOURCE_EXECED :
					       DP_SOURCE_RUNS;
	}
}

static void tend(struct dp_source *source, double t,
		 void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		 struct dp_source_news *news)
{
	struct dp_watch_session *w = of(source);

	*news = (struct dp_source_news){ .most = IDLE_MS };
	dp_watch_cost_look(&w->cost, &w->armed, (u32)w->n, t, false,
			   w->values ? " without its record" : "");
	if (w->by_registers)
		news->filter_refused =
			dp_process_filter_installed(source->proc);
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
	if (w->taken)
		return dp_watch_taken_read(w->taken, hand_on, w);
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
		.hits = watch < w->n ? dp_watch_armed_count(&w->armed, watch) :
				       0,
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

	if (w->taken && program < w->n)
		return dp_watch_taken_held(w->taken, program);
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
	struct dp_watch_session *w = of(source);

	dp_watch_events_switch(&w->armed.events, false);
	if (!w->by_registers)
		return 0;
	dp_watch_registers_end(w->armed.registers);
	dp_watch_bare_tell(&w->armed);
	return dp_process_detach(source->proc, diag);
}

static void settle(struct dp_source *source, dp_source_take take, void *arg)
{
}

static void end(const struct dp_source *source, struct dp_source_end *e)
{
	*e = (struct dp_source_end){ .execed = of(source)->execed };
	e->known = dp_process_status(source->proc, &e->status);
	e->trap = of(source)->armed.registers &&
		  dp_process_trap_death(source->proc);
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
	dp_watch_events_close(&w->armed.events);
	dp_watch_values_close(w->values);
	dp_watch_registers_end(w->armed.registers);
	dp_process_close(source->proc);
	dp_watch_registers_close(w->armed.registers);
	dp_watch_taken_close(w->taken);
	dp_modules_close(source->mods);
	dp_process_close(w->looked);
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
