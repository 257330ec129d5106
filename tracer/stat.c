// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stat: count hits until the target ends, or we are told to. */
#include "tracer/session.h"
#include "engine/control/control.h"
#include "proc/proc.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A signal just before a wait begins is seen when this is over. */
#define SLICE_MS 200

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	interrupted = 1;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* nohup means it. */
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int add_probes(struct dp_session *s, struct dp_diag *diag)
{
	const char *why = "out of memory";
	u8 code[16];
	size_t i;
	ssize_t n;
	int err = dp_engine_create(&s->engine);

	s->probes = calloc(s->points.n + 1, sizeof(*s->probes));
	if (err || !s->probes)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; i < s->points.n && !err; i++) {
		struct dp_point *p = &s->points.v[i];

		if (p->refused)
			continue;
		n = pread(dp_process_mem(s->proc), code, sizeof(code),
			  (off_t)p->addr);
		err = dp_engine_add(s->engine, p->addr, code,
				    n > 0 ? (size_t)n : 0, &s->probes[i], &why);
		if (err && err != -ENOMEM && p->spec->glob) {
			p->refused = err;
			snprintf(p->reason, sizeof(p->reason), "%s", why);
			err = 0;
		}
		if (err)
			dp_diag_set(diag, err, "%s cannot be probed: %s",
				    p->name, why);
	}
	if (!err && !dp_engine_sites(s->engine))
		err = dp_diag_set(diag, -EINVAL,
				  "none of the matches can be probed");
	return err;
}

static void count(struct dp_session *s)
{
	double end = s->opt->duration > 0 ? now() + s->opt->duration : 0;
	double left = SLICE_MS;

	for (;;) {
		if (interrupted) {
			s->ending = DP_ENDING_INTERRUPT;
			return;
		}
		if (end)
			left = (end - now()) * 1000 + 0.999;
		if (left < 1) {
			s->ending = DP_ENDING_DURATION;
			return;
		}
		switch (dp_process_poll(s->proc, left < SLICE_MS ? (int)left :
								   SLICE_MS)) {
		case DP_PROCESS_EXITED:
			s->ending = *dp_process_execed(s->proc) ?
					    DP_ENDING_EXEC :
					    DP_ENDING_EXIT;
			return;
		case DP_PROCESS_EXECED:
			s->ending = DP_ENDING_EXEC;
			return;
		case DP_PROCESS_RUNS:
			break;
		}
	}
}

/* A command is waited for whatever became of its probes, for its status. */
static int outcome(struct dp_session *s, int *died_of)
{
	int status;

	if (!dp_process_launched(s->proc) || s->ending == DP_ENDING_INTERRUPT)
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

static int run(struct dp_session *s, int *died_of, struct dp_diag *diag)
{
	int status = 0, err;

	catch_signals();
	err = dp_process_install(s->proc, s->engine, diag);
	if (err)
		return err;
	count(s);
	err = dp_process_detach(s->proc, diag);
	if (s->ending == DP_ENDING_EXEC)
		status = outcome(s, died_of);
	dp_report_counts(s);
	if (!s->opt->quiet || dp_process_trap_death(s->proc))
		dp_report_summary(s);
	if (s->ending != DP_ENDING_EXEC)
		status = outcome(s, died_of);
	return err ? err : status;
}

int dp_tracer_stat(const struct dp_tracer_options *opt, const char **bad_spec,
		   int *died_of, struct dp_diag *diag)
{
	struct dp_session s;
	int err = dp_session_parse(&s, opt, bad_spec, diag);

	if (!err)
		err = dp_session_open(&s, bad_spec, diag);
	if (!err) {
		dp_report_refused(&s);
		err = add_probes(&s, diag);
		if (err)
			dp_process_kill_launched(s.proc);
	}
	if (!err)
		err = run(&s, died_of, diag);
	dp_session_close(&s);
	return err;
}
