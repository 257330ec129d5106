// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* watch: from armed probes to the end of them, for every verb. */
#include "resolve/code.h"
#include "tracer/session.h"
#include "resolve/exits.h"
#include "tracer/returned.h"
#include "engine/insn/region.h"
#include "engine/site/visits.h"
#include "engine/layout/site.h"
#include "engine/site/reach.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/arm.h"
#include "proc/facts.h"
#include "proc/linker.h"
#include "proc/lodge.h"
#include "proc/proc.h"
#include "sym/exits.h"
#include "sym/sym.h"
#include "sym/unwinds.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "resolve/ground.h"
#include "resolve/points.h"
#include "sym/types.h"

/* A signal just before a wait begins is seen when this is over. */
#define SLICE_MS 200
/* How long the rings are left alone while records come, and while none do. */
#define BUSY_MS 1
#define IDLE_MS 10
#define SETTLE_SECONDS 1
/* How long the tables of calls that are followed are left alone. */
#define GROW_MS 10
#define NOP 0x90

static volatile sig_atomic_t interrupted;

void dp_tracer_prepare(void)
{
	dp_limits_survive();
}

static void on_signal(int sig)
{
	interrupted = 1;
}

void dp_watch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* nohup means it. */
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

bool dp_watch_interrupted(void)
{
	return interrupted;
}

double dp_watch_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t read_code(const struct dp_session *s, u64 addr, u8 *code)
{
	return dp_code_read(s->code, addr, code, DP_REGION_MAX);
}

/* Of what is not there any more. Where it was there may be something else by now, with
 * probes of its own; so it is an instruction that nobody will come to.
 * Return: as read_code(). */
static size_t make_up_code(struct dp_session *s, u64 *addr, u8 *code)
{
	*addr = s->nowhere;
	s->nowhere += DP_REGION_MAX;
	memset(code, NOP, DP_REGION_MAX);
	return DP_REGION_MAX;
}

static void find_nowhere(struct dp_session *s)
{
	size_t i;

	for (i = 0; i < s->points.n; i++)
		if (s->points.v[i].gone) {
			s->nowhere = dp_nowhere(dp_process_pid(s->proc),
						s->points.v[i].addr);
			return;
		}
}

/* Is a probe a breakpoint where there may be none? */
static bool must_not_trap(const struct dp_session *s, u32 probe,
			  const char **why)
{
	return dp_process_no_traps(s->proc) &&
	       !dp_engine_may_jump(s->engine, probe, why);
}

static u32 way_of(const struct dp_session *s, const struct dp_exit *exit)
{
	u32 way = (exit->conditional ? DP_WAY_TAKEN : 0) |
		  (exit->shared ? DP_WAY_SHARED : 0);

	if (exit->kind != DP_EXIT_TAIL)
		return way;
	way |= DP_WAY_TAIL;
	if (exit->to && dp_onwards_is_covered(&s->points, exit->to))
		way |= DP_WAY_ONWARD;
	return way;
}

/* @enter: the probe at the function's entry, or DP_NO_GROUP */
static int add_exit(struct dp_session *s, const struct dp_point *p, u32 enter,
		    size_t k, const char **why)
{
	const struct dp_exit *exit = &p->exits[k];
	u64 lead = p->leads[k];
	u8 code[DP_REGION_MAX];
	u64 addr = exit->addr;
	bool gone = p->gone;
	size_t n = gone ? make_up_code(s, &addr, code) :
			  read_code(s, addr, code);
	u32 probe;
	int err = dp_engine_add_exit(s->engine, enter, way_of(s, exit), addr,
				     code, n, &probe, why);

	if (err)
		return err;
	if (gone)
		dp_engine_set_gone(s->engine, probe);
	else
		dp_ground_allow(&s->grounds, s->engine, probe, exit->addr);
	if (!lead && !gone && must_not_trap(s, probe, why))
		return -EOPNOTSUPP;
	if (lead && !gone)
		dp_engine_lead(s->engine, lead, code, read_code(s, lead, code));
	if (enter != DP_NO_GROUP)
		s->point_of[probe] = s->point_of[enter];
	return 0;
}

/* Of functions that followed ones jump to: calls of these end there. */
static int add_onwards(struct dp_session *s, struct dp_diag *diag)
{
	const struct dp_onwards *o = s->points.onwards;
	const char *why;
	size_t i, k;
	int err = 0;

	for (i = 0; o && i < o->n; i++)
		for (k = 0; !o->v[i].refused && k < o->v[i].nr_exits; k++) {
			err = add_exit(s, &o->v[i], DP_NO_GROUP, k, &why);
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

/* Where calls end without coming to an exit. What cannot be probed there leaves
 * them abandoned. */
static void add_unwinds(struct dp_session *s)
{
	struct dp_unwind list[DP_UNWINDS_MAX];
	size_t n = dp_unwinds_find(s->mods, list), i;
	u8 code[DP_REGION_MAX];
	u32 probe;

	for (i = 0; i < n; i++)
		if (!dp_engine_add_unwind(
			    s->engine,
			    list[i].until == DP_UNWIND_CX ? DP_WAY_UNTIL_CX :
							    DP_WAY_UNTIL_DI,
			    list[i].addr, code,
			    read_code(s, list[i].addr, code), &probe))
			dp_ground_allow(&s->grounds, s->engine, probe,
					list[i].addr);
}

/* Of a function that is followed. */
static int add_exits(struct dp_session *s, size_t i, struct dp_diag *diag)
{
	const struct dp_point *p = &s->points.v[i];
	const char *why = "out of memory";
	int err = dp_engine_follow(s->engine, s->probes[i],
				   s->kind->record != NULL);
	size_t k;

	if (err)
		return dp_diag_set(diag, err, "too many functions to follow");
	if (p->ret.kind == DP_TYPE_FLOAT)
		dp_engine_follow_xmm(s->engine, s->probes[i]);
	for (k = 0; k < p->nr_exits && !err; k++) {
		err = add_exit(s, p, s->probes[i], k, &why);
		if (err)
			dp_diag_set(
				diag, err,
				"%s cannot be probed: its exit at 0x%llx: %s",
				p->name, (unsigned long long)p->exits[k].addr,
				why);
	}
	return err;
}

static int refuse_trap(struct dp_session *s, size_t i, const char *why,
		       struct dp_diag *diag)
{
	struct dp_point *p = &s->points.v[i];

	dp_engine_drop(s->engine, s->probes[i]);
	snprintf(p->reason, sizeof(p->reason),
		 "%s, and its process%s allows no breakpoint: %s", why,
		 dp_process_dispatches(s->proc) ? "" : "'s seccomp filter",
		 dp_process_no_traps(s->proc));
	if (!p->spec->glob)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s cannot be probed: %s; another instruction of the function may do",
			p->name, p->reason);
	p->refused = -EOPNOTSUPP;
	return 0;
}

static int add_point(struct dp_session *s, size_t i, struct dp_diag *diag)
{
	struct dp_point *p = &s->points.v[i];
	const char *why = "out of memory";
	u8 code[DP_REGION_MAX];
	u64 addr = p->addr;
	size_t n = p->gone ? make_up_code(s, &addr, code) :
			     read_code(s, addr, code);
	int err = dp_engine_add(s->engine, addr, code, n, &s->probes[i], &why);

	if (err && !n && dp_process_ended(s->proc))
		return dp_diag_set(
			diag, -ESRCH,
			"process %d has ended, or executes another program",
			dp_process_pid(s->proc));
	if (err && err != -ENOMEM && p->spec->glob) {
		p->refused = err;
		snprintf(p->reason, sizeof(p->reason), "%s", why);
		return 0;
	}
	if (err)
		return dp_diag_set(diag, err, "%s cannot be probed: %s",
				   p->name, why);
	if (p->gone)
		dp_engine_set_gone(s->engine, s->probes[i]);
	else
		dp_ground_allow(&s->grounds, s->engine, s->probes[i], p->addr);
	s->point_of[s->probes[i]] = i;
	if (must_not_trap(s, s->probes[i], &why))
		return refuse_trap(s, i, why, diag);
	if (p->spec->kind == DP_SPEC_RETURN)
		err = add_exits(s, i, diag);
	if (err)
		return err;
	return s->kind->bind ? s->kind->bind(s, i, diag) : 0;
}

static size_t most_probes(const struct dp_session *s)
{
	const struct dp_onwards *o = s->points.onwards;
	size_t i, n = DP_UNWINDS_MAX;

	for (i = 0; i < s->points.n; i++)
		n += 1 + s->points.v[i].nr_exits;
	for (i = 0; o && i < o->n; i++)
		n += o->v[i].nr_exits;
	return n;
}

int dp_session_add_probes(struct dp_session *s, struct dp_diag *diag)
{
	size_t i, probes = most_probes(s);
	struct dp_code code = { .pid = dp_process_pid(s->proc),
				.mods = s->mods };
	int err = dp_engine_create(&s->engine);

	s->code = &code;
	s->probes = calloc(s->points.n + 1, sizeof(*s->probes));
	s->programs = calloc(s->points.n + 1, sizeof(*s->programs));
	s->point_of = calloc(probes, sizeof(*s->point_of));
	s->nr_points = s->points.n;
	s->nr_probes = probes;
	if (err || !s->probes || !s->programs || !s->point_of ||
	    dp_onwards_cover(&s->points))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	find_nowhere(s);
	for (i = 0; i < s->points.n; i++)
		s->programs[i] = DP_NO_PROGRAM;
	s->grounds =
		(struct dp_grounds){ .mods = s->mods,
				     .arming = s->arming,
				     .never = dp_process_no_jumps(s->proc) };
	if (dp_process_no_traps(s->proc)) {
		s->grounds.arming = DP_ARM_QUIESCE;
		dp_engine_set_silent(s->engine);
	} else {
		dp_engine_set_arming(s->engine, s->arming);
	}
	dp_engine_set_tid_offset(s->engine, dp_thread_tid_offset(s->mods));
	if (s->kind->arguments)
		dp_returned_find(s);
	for (i = 0; i < s->points.n && !err; i++)
		if (!s->points.v[i].refused)
			err = add_point(s, i, diag);
	if (!err && s->points.onwards) {
		err = add_onwards(s, diag);
		add_unwinds(s);
	}
	s->code = NULL;
	if (!err && !s->nr_coming && !dp_engine_sites(s->engine))
		err = dp_diag_set(diag, -EINVAL,
				  "none of the matches can be probed");
	if (!err)
		err = dp_pending_watch(s, diag);
	dp_process_found_in(s->proc, s->mods);
	if (!err && s->kind->record && !s->records && dp_records_open(s))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	return err;
}

static bool has_thread(void *arg, u32 tid)
{
	return dp_process_thread(arg, tid);
}

/* Threads end while their records wait: what those hold is given back. And calls end
 * by longjmp or an exception, which cannot be seen once the process has ended. */
void dp_watch_settle(struct dp_session *s)
{
	if (s->records)
		dp_engine_settle(s->engine, dp_process_target(s->proc),
				 has_thread, s->proc);
	dp_calls_look(s);
}

static void settle(struct dp_session *s, double *last)
{
	double t = dp_watch_now();

	if (t - *last < SETTLE_SECONDS)
		return;
	*last = t;
	dp_watch_settle(s);
}

/* Longest wait, in ms: records want to be read, tables to grow, an end to be kept. */
static double slice(struct dp_session *s, double left)
{
	double most = SLICE_MS;

	dp_calls_grow(s);
	if (s->calls)
		most = GROW_MS;
	if (s->records)
		most = dp_records_read(s, false) ? BUSY_MS : IDLE_MS;
	return left < most ? left : most;
}

/* Return: 0 or, for DP_ENDING_FAILURE, a negative errno with words. */
static int watch(struct dp_session *s, struct dp_diag *diag)
{
	double end = s->opt->duration > 0 ? dp_watch_now() + s->opt->duration :
					    0;
	double left = SLICE_MS, settled = dp_watch_now(), look = 0;
	int err;

	for (;;) {
		settle(s, &settled);
		err = dp_process_asked(s->proc) ? dp_pending_look(s, diag) : 0;
		if (err && err != -ESRCH && !dp_process_ended(s->proc)) {
			s->ending = DP_ENDING_FAILURE;
			return err;
		}
		s->confined = dp_process_confined(s->proc);
		if (s->confined) {
			s->ending = DP_ENDING_FILTER;
			return 0;
		}
		if (dp_watch_now() >= look)
			look = dp_yield_look(s, dp_watch_now());
		if (interrupted) {
			s->ending = DP_ENDING_INTERRUPT;
			return 0;
		}
		if (ferror(s->opt->out)) {
			s->ending = DP_ENDING_OUTPUT;
			return 0;
		}
		if (end)
			left = (end - dp_watch_now()) * 1000 + 0.999;
		if (left < 1) {
			s->ending = DP_ENDING_DURATION;
			return 0;
		}
		switch (dp_process_poll(s->proc, (int)slice(s, left))) {
		case DP_PROCESS_EXITED:
			s->ending = *dp_process_execed(s->proc) ?
					    DP_ENDING_EXEC :
					    DP_ENDING_EXIT;
			return 0;
		case DP_PROCESS_EXECED:
			s->ending = DP_ENDING_EXEC;
			return 0;
		case DP_PROCESS_RUNS:
			break;
		}
	}
}

/* A command is waited for whatever became of its probes, for its status. */
static int outcome(struct dp_session *s, int *died_of)
{
	int status;

	if (!dp_process_launched(s->proc) || s->ending == DP_ENDING_INTERRUPT ||
	    s->ending == DP_ENDING_OUTPUT)
		return 0;
	while (!interrupted &&
	       dp_process_poll(s->proc, SLICE_MS) != DP_PROCESS_EXITED)
		continue;
	if (interrupted)
		return 0;
	dp_process_status(s->proc, &status);
	if (WIFSIGNALED(status)) {
		*died_of = WTERMSIG(status);
		return 128 + *died_of;
	}
	return WEXITSTATUS(status);
}

/* What is left when nobody is in the agent any more. One reading takes all that is in the
 * rings, the other what was later than the first one. */
void dp_session_last_records(struct dp_session *s, bool ended)
{
	if (!s->records)
		return;
	if (ended)
		dp_engine_settle_all(s->engine);
	dp_records_read(s, ended);
	dp_records_read(s, true);
}

int dp_session_finish(struct dp_session *s, struct dp_diag *diag)
{
	int err;

	dp_calls_stop(s);
	err = dp_process_detach(s->proc, diag);
	dp_session_last_records(s, !err);
	dp_calls_close_books(s);
	return err;
}

/* Whatever could not be done: was it that the program is another one by now? */
static int say_failed(const struct dp_session *s, int err, struct dp_diag *diag)
{
	if (!s->opt->pid || !dp_process_executes(s->proc))
		return err;
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d has executed another program while it was prepared; try again",
		s->opt->pid);
}

static int probe(struct dp_session *s, int *died_of, struct dp_diag *diag)
{
	int status = 0, err, failed;

	dp_watch_signals();
	err = dp_process_install(s->proc, s->engine, diag);
	if (err)
		return say_failed(s, err, diag);
	failed = watch(s, diag);
	err = dp_session_finish(s, failed ? NULL : diag);
	if (s->ending == DP_ENDING_EXEC)
		status = outcome(s, died_of);
	s->kind->report(s);
	dp_calls_complain(s);
	if (!s->opt->quiet || dp_process_trap_death(s->proc))
		dp_report_summary(s);
	if (s->ending != DP_ENDING_EXEC)
		status = outcome(s, died_of);
	dp_pending_tell(s);
	if (failed)
		return failed;
	return err ? err : status;
}

int dp_session_run(struct dp_session *s, int *died_of, struct dp_diag *diag)
{
	int err;

	if (s->opt->children)
		return dp_follow_run(s, died_of, diag);
	err = dp_session_add_probes(s, diag);
	dp_report_refused(s);
	if (err) {
		dp_process_kill_launched(s->proc);
		return say_failed(s, err, diag);
	}
	return probe(s, died_of, diag);
}
