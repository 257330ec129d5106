// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* watch: run a session, from armed probes to their end. */
#include "proc/facts.h"
#include "tracer/facility.h"
#include "tracer/interval.h"
#include "tracer/live.h"
#include "tracer/order.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* A signal that comes just before a wait is noticed after so long. */
#define SLICE_MS 200
/* Time between two readings of the rings, while records come and while none do. */
#define BUSY_MS 1
#define IDLE_MS 10

static volatile sig_atomic_t interrupted;

void dp_tracer_prepare(void)
{
	dp_limits_survive();
}

/* ^C of a debugger that has the terminal is not the tool's. */
static void on_signal(int sig)
{
	if (sig != SIGINT || !dp_debugger_runs())
		interrupted = 1;
}

void dp_watch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal }, old;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* nohup(1) has the tool ignore SIGHUP. */
	if (!sigaction(SIGHUP, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

bool dp_watch_interrupted(void)
{
	return interrupted;
}

bool dp_watch_over(const struct dp_session *s, double end,
		   enum dp_ending *ending)
{
	if (interrupted || s->over)
		*ending = DP_ENDING_INTERRUPT;
	else if (ferror(s->opt->out))
		*ending = DP_ENDING_OUTPUT;
	else if (s->debugged.pid)
		*ending = DP_ENDING_DEBUGGER;
	else if (dp_record_were_all(s, ending))
		return true;
	else if (end && dp_source_now() >= end)
		*ending = DP_ENDING_DURATION;
	else
		return false;
	return true;
}

int dp_watch_wait(const struct dp_session *s, double end, size_t came,
		  double most)
{
	double left = end ? (end - dp_source_now()) * 1000 + 1 : most;
	double pace = came ? BUSY_MS : IDLE_MS;

	if (s->kind->record && pace < most)
		most = pace;
	most = most < DP_ORDER_LOOK_MS ? most : DP_ORDER_LOOK_MS;
	most = left < most ? left : most;
	return most > 0 ? (int)most : 0;
}

static const char *name_of(const struct dp_session *s, u64 addr, char *text,
			   size_t size)
{
	size_t i;

	for (i = 0; i < s->points.n; i++)
		if (s->points.v[i].addr == addr)
			return s->points.v[i].name;
	snprintf(text, size, "0x%lx", addr);
	return text;
}

void dp_watch_foreign(void *session, u64 addr, bool away)
{
	char text[32];

	dp_output_say(
		away ? "somebody else has set a breakpoint at %s, maybe a uprobe of the kernel's; what is probed there is not seen until that has gone" :
		       "the other breakpoint at %s has gone; it is probed again",
		name_of(session, addr, text, sizeof(text)));
}

static int bind(void *arg, size_t point, struct dp_diag *diag)
{
	struct dp_session *s = arg;

	return s->kind->bind(s, point, diag);
}

static int prepare(void *arg, struct dp_diag *diag)
{
	struct dp_session *s = arg;

	return s->kind->prepare(s, diag);
}

static u32 longest(const struct dp_session *s)
{
	u32 most = 0;
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		if ((s->kind->record || s->specs[i].aggs) &&
		    s->specs[i].log > most)
			most = s->specs[i].log;
	return most;
}

struct dp_source_request dp_session_request(struct dp_session *s)
{
	struct dp_source_request want = {
		.points = &s->points,
		.specs = s->specs,
		.pending = s->pending,
		.nr_specs = s->nr_specs,
		.coming = s->nr_coming,
		.logs = s->kind->record,
		.longest = longest(s),
		.ring_bytes = (u32)s->opt->buffer,
		.block = s->opt->block,
		.coarse = s->opt->coarse,
		.listed = !s->kind->report,
		.prepare = s->kind->prepare ? prepare : NULL,
		.bind = s->kind->bind ? bind : NULL,
		.arg = s,
	};

	if (s->kind->rooms)
		s->kind->rooms(s, &want);
	return want;
}

int dp_session_add_probes(struct dp_session *s, struct dp_diag *diag)
{
	struct dp_source_request want = dp_session_request(s);
	int err;

	if (s->kind->arguments && (s->source->mods || s->ops->everybody))
		dp_returned_find(s, s->source->mods);
	err = s->ops->add(s->source, &want, diag);
	s->began = dp_source_now();
	if (!err && s->kind->record && dp_records_open(s))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	return err;
}

/* Return: false: the run ends, as @s->ending says. */
static bool see_to(struct dp_session *s, const struct dp_source_news *news,
		   int *err, struct dp_diag *diag)
{
	s->filter_refused = news->filter_refused;
	if (s->filter_refused) {
		s->ending = DP_ENDING_FILTER;
		return false;
	}
	*err = news->asked ? dp_pending_look(s, diag) : 0;
	if (*err)
		s->ending = DP_ENDING_FAILURE;
	return !*err;
}

static bool has_ended(struct dp_session *s, enum dp_source_state state)
{
	struct dp_source_end end;

	if (state == DP_SOURCE_RUNS)
		return false;
	s->ops->end(s->source, &end);
	s->ending = state == DP_SOURCE_EXECED || *end.execed ? DP_ENDING_EXEC :
							       DP_ENDING_EXIT;
	return true;
}

/* Return: 0 or, for DP_ENDING_FAILURE, a negative errno with words. */
static int watch(struct dp_session *s, struct dp_diag *diag)
{
	double end = s->opt->duration > 0 ? dp_source_now() + s->opt->duration :
					    0;
	struct dp_source_news news;
	double next;
	size_t came;
	int err = 0;

	do {
		s->ops->tend(s->source, dp_source_now(), dp_watch_foreign, s,
			     &news);
		if (!see_to(s, &news, &err, diag) ||
		    dp_watch_over(s, end, &s->ending))
			break;
		came = s->records ? dp_records_read(s, false) : 0;
		dp_order_look(&s, 1, NULL);
		dp_order_watches(s, dp_source_now());
		/* After a look at libraries the source has more to do. */
		if (news.asked)
			news.most = BUSY_MS;
		next = dp_interval_look(s, &s, 1);
		news.most = next < news.most ? next : news.most;
	} while (!has_ended(s,
			    s->ops->wait(s->source, dp_watch_wait(s, end, came,
								  news.most))));
	return err;
}

int dp_watch_status(int status, int *died_of)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	*died_of = WTERMSIG(status);
	return 128 + *died_of;
}

/* Wait for the command, for its exit status, whatever became of its probes. */
static int outcome(struct dp_session *s, int *died_of)
{
	struct dp_source_end end;

	if (!s->source->launched || s->ending == DP_ENDING_INTERRUPT ||
	    s->ending == DP_ENDING_OUTPUT)
		return 0;
	while (!interrupted &&
	       s->ops->wait(s->source, SLICE_MS) != DP_SOURCE_EXITED)
		continue;
	if (interrupted)
		return 0;
	s->ops->end(s->source, &end);
	return dp_watch_status(end.status, died_of);
}

/* The first reading empties the rings, the second hands on records that were stamped after
 * the first had begun. @ended: no thread writes any more */
static void read_last(struct dp_session *s, bool ended)
{
	if (!s->records)
		return;
	dp_records_read(s, ended);
	dp_records_read(s, true);
}

static void take_record(void *arg, const struct dp_record_copy *record)
{
	struct dp_session *s = arg;

	if (dp_records_fits(s, record))
		dp_record_print(s, record);
}

int dp_session_finish(struct dp_session *s, struct dp_diag *diag)
{
	bool alive = s->ending != DP_ENDING_EXIT && s->ending != DP_ENDING_EXEC;
	int err;

	dp_order_watches(NULL, 0);
	err = s->ops->disarm(s->source, alive, diag);

	read_last(s, !err);
	s->ops->settle(s->source, take_record, s);
	return err;
}

/* An exec may be why something failed: then say so. */
static int say_failed(const struct dp_session *s, int err, struct dp_diag *diag)
{
	if (!s->opt->pid || !s->ops->outdated(s->source, true))
		return err;
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d has executed another program while it was prepared; try again",
		s->opt->pid);
}

static int probe(struct dp_session *s, int *died_of, struct dp_diag *diag)
{
	struct dp_source_end end;
	int status = 0, err, failed;

	dp_watch_signals();
	dp_order_open();
	err = s->ops->arm(s->source, diag);
	if (err)
		return say_failed(s, err, diag);
	dp_live_begin(s);
	if (s->kind->begun)
		s->kind->begun(s);
	failed = watch(s, diag);
	err = dp_session_finish(s, failed ? NULL : diag);
	if (s->ending == DP_ENDING_EXEC)
		status = outcome(s, died_of);
	s->kind->report(s);
	dp_report_dull(s);
	dp_calls_complain(s);
	s->ops->end(s->source, &end);
	if (!s->opt->quiet || end.trap)
		dp_report_summary(s);
	if (s->kind->left)
		s->kind->left(s);
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

	if (s->opt->children && !s->ops->tree)
		return dp_diag_set(diag, -EOPNOTSUPP,
				   "children cannot be followed by way of %s",
				   s->ops->name);
	if (s->opt->children)
		return dp_follow_run(s, died_of, diag);
	err = dp_session_add_probes(s, diag);
	if (!s->kind->settle)
		dp_report_refused(s);
	if (err) {
		s->ops->kill(s->source);
		return say_failed(s, err, diag);
	}
	return probe(s, died_of, diag);
}
