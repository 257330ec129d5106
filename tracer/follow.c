// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * follow: a run over a process tree (-f).
 *
 * Each process is a session. The session of a fork child has its parent's specs and
 * points, in the child's memory. After an exec the specs are resolved again. When a
 * process ends, its session is freed and its account closed.
 */
#include "tracer/facility.h"
#include "tracer/interval.h"
#include "tracer/live.h"
#include "tracer/session.h"
#include "proc/tree.h"
#include "sym/list.h"
#include "tracer/order.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SLICE_MS 200
#define BUSY_MS 1
/* Longest time that a filter install waits. */
#define FILTER_INSTALL_MS 20
/* For so long after a SIGTRAP of the process a loader event may follow. */
#define LOADER_EVENT_SECONDS 0.02

/**
 * struct dp_process_tree - the sessions of a process tree
 * @v: sessions whose processes live
 * @main: the target itself; @status: of wait(2), once it has ended
 * @sums: over closed sessions
 * @loader_event: until then a loader event may be about to come
 * @processes: images with probes; @bare: images without; @parted: left to debuggers
 */
struct dp_process_tree {
	struct dp_session *first;
	struct dp_tree *tree;
	struct dp_session **v;
	size_t n, cap;
	pid_t main;
	bool main_ended;
	int status;
	double loader_event;
	struct dp_sums sums;
	u64 processes, bare, parted;
	enum dp_ending ending;
	int err;
};

/* There is room: another() has made it. */
static void add(struct dp_process_tree *h, struct dp_session *s)
{
	h->v[h->n++] = s;
	s->tree = h;
}

static struct dp_session *session_of(const struct dp_process_tree *h,
				     const struct dp_process *proc)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->v[i]->source->proc == proc)
			return h->v[i];
	return NULL;
}

/* Free a session and its points once no session uses the points. */
static void give_back(const struct dp_process_tree *h, struct dp_session *s)
{
	if (s == h->first || s->users || s->source)
		return;
	if (s->origin) {
		s->origin->users--;
		give_back(h, s->origin);
	} else {
		dp_points_free(&s->points);
	}
	free(s->pending);
	free(s->seen);
	free(s->tables);
	free(s);
}

/* Free what only a session with a living process needs. */
static void empty(const struct dp_process_tree *h, struct dp_session *s)
{
	s->ops->close(s->source);
	s->source = NULL;
	dp_records_close(s);
	give_back(h, s);
}

/* The process is the debugger's; its end is still to be known if it is the command. */
static void part(struct dp_process_tree *h, struct dp_session *s)
{
	struct dp_diag diag = { .text = "" };

	if (s->ops->tree->part(s->source, h->tree, &diag)) {
		dp_output_say("process %d stays traced: %s", s->source->pid,
			      diag.text);
		return;
	}
	h->parted++;
	s->kind->left(s);
}

static void close_session(struct dp_process_tree *h, struct dp_session *s,
			  enum dp_ending ending)
{
	struct dp_source_end end;
	struct dp_diag diag = { .text = "" };
	size_t i = 0;
	int err;

	s->ending = ending;
	err = dp_session_finish(s, &diag);
	dp_interval_leave(s);
	s->kind->report(s);
	dp_calls_complain(s);
	s->ops->end(s->source, &end);
	if (s->opt->verbose || end.trap)
		dp_report_summary(s);
	else if (!s->opt->quiet)
		dp_report_costly(s);
	if (s->opt->verbose)
		dp_pending_tell(s);
	/* A session has no points if none of its pending libraries has come. */
	if (s->points.n)
		h->processes++;
	else
		h->bare++;
	if (err) {
		dp_output_say("%s", diag.text);
		h->err = err;
	}
	dp_sums_add(&h->sums, s);
	while (h->v[i] != s)
		i++;
	memmove(&h->v[i], &h->v[i + 1], (--h->n - i) * sizeof(*h->v));
	if (ending == DP_ENDING_DEBUGGER)
		part(h, s);
	empty(h, s);
}

static void tell_bare(const struct dp_process_tree *h, pid_t pid,
		      const char *why)
{
	if (!h->first->opt->quiet && *why)
		dp_output_say("process %d goes on without probes: %s", pid,
			      why);
}

static void say(struct dp_process_tree *h, pid_t pid, const char *why)
{
	h->bare++;
	tell_bare(h, pid, why);
}

/* A process with none of the specs is counted; -v names it, too. */
static void say_none(struct dp_process_tree *h, pid_t pid)
{
	say(h, pid,
	    h->first->opt->verbose ? "it has nothing of what is to be probed" :
				     "");
}

/* A session, and room for it: once its process has probes, it has to be added.
 * Return: NULL: no memory. */
static struct dp_session *another(struct dp_process_tree *h,
				  const struct dp_session *like)
{
	struct dp_session *s = NULL;

	if (!dp_list_reserve(&h->v, h->n + 1, &h->cap, sizeof(*h->v)))
		s = malloc(sizeof(*s));
	if (!s)
		return NULL;
	*s = *like;
	s->pending = malloc((like->nr_specs + 1) * sizeof(*s->pending));
	if (!s->pending) {
		free(s);
		return NULL;
	}
	memcpy(s->pending, like->pending, like->nr_specs * sizeof(*s->pending));
	s->records = NULL;
	s->source = NULL;
	s->seen = NULL;
	s->nr_seen = 0;
	s->tables = NULL;
	s->written = 0;
	s->users = 0;
	s->debugged.pid = 0;
	return s;
}

/* Resolve the specs, which the first session owns, and arm. */
static int open_again(struct dp_process_tree *h, struct dp_session *s,
		      struct dp_diag *diag)
{
	const char *bad_spec;
	int err = dp_session_resolve(s, &bad_spec, diag);

	if (err || (!s->points.n && !s->nr_coming))
		return err ? err : -ENOENT;
	err = dp_session_add_probes(s, diag);
	if (s->opt->verbose)
		dp_report_refused(s);
	if (!err)
		err = s->ops->arm(s->source, diag);
	if (err)
		return err;
	dp_live_more(s);
	s->ops->go(s->source);
	return 0;
}

static struct dp_session *fresh(struct dp_process_tree *h)
{
	struct dp_session *s = another(h, h->first);

	if (!s)
		return NULL;
	memset(&s->points, 0, sizeof(s->points));
	s->origin = NULL;
	s->tree = h;
	s->nr_coming = 0;
	memset(s->pending, 0, s->nr_specs * sizeof(*s->pending));
	return s;
}

/* @err: why the process could not be taken hold of, or 0 */
static void begin_afresh(struct dp_process_tree *h, struct dp_session *s,
			 pid_t pid, int err, struct dp_diag *diag)
{
	if (!s)
		dp_diag_set(diag, -ENOMEM, "out of memory");
	if (!err)
		err = open_again(h, s, diag);
	if (!err) {
		add(h, s);
		return;
	}
	if (err == -ENOENT)
		say_none(h, pid);
	else
		say(h, pid, diag->text);
	if (s)
		empty(h, s);
}

/* What hits keep is in tables of the same numbers. */
static int copy_tables(struct dp_session *s, const struct dp_session *parent)
{
	while (!parent->tables && parent->origin)
		parent = parent->origin;
	if (!parent->tables)
		return 0;
	s->tables = calloc(s->nr_specs + 1, sizeof(*s->tables));
	if (!s->tables)
		return -ENOMEM;
	memcpy(s->tables, parent->tables, s->nr_specs * sizeof(*s->tables));
	return 0;
}

/* A session that shares its parent's points, or has a copy if more may be added. */
static struct dp_session *child_of(struct dp_session *parent)
{
	struct dp_session *s = another(parent->tree, parent);

	if (!s)
		return NULL;
	s->origin = NULL;
	if (!parent->source->watches) {
		s->origin = parent->origin ? parent->origin : parent;
		s->origin->users++;
		return s;
	}
	s->points = (struct dp_points){ 0 };
	if (dp_points_copy(&s->points, &parent->points) ||
	    copy_tables(s, parent)) {
		give_back(parent->tree, s);
		return NULL;
	}
	return s;
}

/* Return: false: the session is closed. */
static bool look_for_libraries(struct dp_process_tree *h, struct dp_session *s)
{
	struct dp_diag diag = { .text = "" };
	int err = dp_pending_look(s, &diag);

	/* The exit of a process that was killed while it was held will be an event. */
	if (!err)
		return true;
	tell_bare(h, s->source->pid, diag.text);
	h->err = err;
	close_session(h, s, DP_ENDING_FAILURE);
	return false;
}

static const char *why_none(const struct dp_session *parent,
			    const struct dp_tree_event *ev)
{
	if (!parent)
		return "its parent has none any more";
	return ev->mixed ? "it was made while its parent's were being armed" :
			   "out of memory";
}

static void forked(struct dp_process_tree *h, const struct dp_tree_event *ev)
{
	struct dp_session *parent = session_of(h, ev->proc), *s;
	struct dp_diag diag = { .text = "" };
	int err;

	s = parent && !ev->mixed ? child_of(parent) : NULL;
	if (!s) {
		dp_tree_let_go(h->tree, ev);
		say(h, ev->pid, why_none(parent, ev));
		return;
	}
	err = s->ops->tree->fork(parent->source, h->tree, ev, &s->source,
				 &diag);
	if (err) {
		empty(h, s);
		say(h, ev->pid, diag.text);
		return;
	}
	if (s->kind->record)
		dp_records_open(s);
	add(h, s);
	if (!s->source->missed || look_for_libraries(h, s))
		dp_tree_begin(s->source->proc, ev);
	else
		dp_tree_let_on(ev);
}

void dp_follow_births(struct dp_session *s)
{
	struct dp_tree_event ev;

	if (!s->tree)
		return;
	dp_tree_pass(s->tree->tree);
	while (dp_tree_birth(s->tree->tree, s->source->proc, &ev))
		forked(s->tree, &ev);
}

static void executed(struct dp_process_tree *h, const struct dp_tree_event *ev)
{
	struct dp_session *old = session_of(h, ev->proc), *s;
	struct dp_diag diag = { .text = "" };
	int err;

	if (old)
		close_session(h, old, DP_ENDING_EXEC);
	s = fresh(h);
	err = s ? s->ops->tree->renew(h->tree, ev, &s->source, &diag) : -ENOMEM;
	if (!s)
		dp_tree_let_go(h->tree, ev);
	begin_afresh(h, s, ev->pid, err, &diag);
}

static void exited(struct dp_process_tree *h, const struct dp_tree_event *ev)
{
	struct dp_session *s = ev->proc ? session_of(h, ev->proc) : NULL;

	if (ev->pid == h->main) {
		h->main_ended = true;
		h->status = ev->status;
	}
	if (s)
		close_session(h, s, DP_ENDING_EXIT);
}

static void deal(struct dp_process_tree *h, const struct dp_tree_event *ev)
{
	switch (ev->what) {
	case DP_TREE_FORKED:
		forked(h, ev);
		break;
	case DP_TREE_EXECED:
		executed(h, ev);
		break;
	case DP_TREE_EXITED:
		exited(h, ev);
		break;
	case DP_TREE_NOTHING:
		break;
	}
}

/* Return: false: the session is closed. @came: plus the records that have come */
static bool tend(struct dp_process_tree *h, struct dp_session *s, double *most,
		 size_t *came)
{
	struct dp_source_news news;

	s->ops->tend(s->source, dp_source_now(), dp_watch_foreign, s, &news);
	news.most = news.asked ? BUSY_MS : news.most;
	*most = news.most < *most ? news.most : *most;
	if (s->records)
		*came += dp_records_read(s, false);
	if (!news.filter_refused)
		return !news.asked || look_for_libraries(h, s);
	/* The process is still followed: what it executes may be probed again. */
	s->filter_refused = news.filter_refused;
	tell_bare(h, s->source->pid, s->filter_refused);
	close_session(h, s, DP_ENDING_FILTER);
	return false;
}

/* A record has stopped a process: it goes, with its threads where they are. Children that it has
 * made stay. */
static void hand_to_debuggers(struct dp_process_tree *h)
{
	size_t i = 0;

	while (i < h->n)
		if (h->v[i]->debugged.pid) {
			dp_follow_births(h->v[i]);
			close_session(h, h->v[i], DP_ENDING_DEBUGGER);
		} else {
			i++;
		}
}

/* Return: longest wait, in ms. */
static int tend_all(struct dp_process_tree *h, double end)
{
	double t = dp_source_now(), most = FILTER_INSTALL_MS, next;
	size_t i = 0, came = 0;

	while (i < h->n)
		if (tend(h, h->v[i], &most, &came))
			i++;
	hand_to_debuggers(h);
	dp_order_look(h->v, h->n, dp_follow_births);
	if (dp_tree_trapped(h->tree))
		h->loader_event = t + LOADER_EVENT_SECONDS;
	if (t < h->loader_event)
		most = BUSY_MS;
	next = dp_interval_look(h->first, h->v, h->n);
	return dp_watch_wait(h->first, end, came, next < most ? next : most);
}

/* The thread that forked may wait for this; its process must not be stopped before. */
static void deal_with_all(struct dp_process_tree *h, int most)
{
	struct dp_tree_event ev;

	while (dp_tree_next(h->tree, most, &ev) != DP_TREE_NOTHING) {
		deal(h, &ev);
		most = 0;
	}
}

static void watch(struct dp_process_tree *h)
{
	const struct dp_tracer_options *opt = h->first->opt;
	double end = opt->duration > 0 ? dp_source_now() + opt->duration : 0;

	h->ending = DP_ENDING_EXIT;
	while (!dp_watch_over(h->first, end, &h->ending) &&
	       dp_tree_any(h->tree))
		deal_with_all(h, tend_all(h, end));
}

/* Let fork children go that wait in events; deal with the other events. */
static void let_all_go(struct dp_process_tree *h)
{
	struct dp_tree_event ev;

	while (dp_tree_next(h->tree, 0, &ev) != DP_TREE_NOTHING)
		if (ev.what == DP_TREE_FORKED)
			dp_tree_let_go(h->tree, &ev);
		else
			deal(h, &ev);
}

/* With no process probed any more, let waiting processes go on until the command has
 * ended. */
static int outcome(struct dp_process_tree *h, int *died_of)
{
	struct dp_tree_event ev;

	if (!h->first->opt->argv || h->ending == DP_ENDING_INTERRUPT ||
	    h->ending == DP_ENDING_OUTPUT)
		return 0;
	while (!h->main_ended && !dp_watch_interrupted()) {
		dp_tree_trapped(h->tree);
		dp_tree_next(h->tree, SLICE_MS, &ev);
		if (ev.what == DP_TREE_EXITED && ev.pid == h->main) {
			h->main_ended = true;
			h->status = ev.status;
		} else if (ev.what == DP_TREE_FORKED ||
			   ev.what == DP_TREE_EXECED) {
			dp_tree_let_go(h->tree, &ev);
		}
	}
	return h->main_ended ? dp_watch_status(h->status, died_of) : 0;
}

static void tell_end(const struct dp_process_tree *h)
{
	dp_output_print(stderr, "process %d", h->main);
	if (WIFSIGNALED(h->status))
		dp_report_signal(WTERMSIG(h->status));
	else
		dp_output_print(stderr, " exited with status %d",
				WEXITSTATUS(h->status));
}

static void tell_ending(const struct dp_process_tree *h)
{
	if (h->ending != DP_ENDING_EXIT)
		dp_output_print(stderr, "%s", dp_ending_words[h->ending]);
	else if (!h->main_ended)
		dp_output_print(stderr, "%s",
				h->parted ? "all others have ended" :
					    "all have ended");
	else
		tell_end(h);
}

static void report(const struct dp_process_tree *h)
{
	const struct dp_tracer_options *opt = h->first->opt;

	/* What they say comes before, and not within. */
	dp_debugger_wait(dp_watch_interrupted);
	if (opt->quiet || (h->ending == DP_ENDING_OUTPUT &&
			   dp_output_left(opt->behind ?: opt->out)))
		return;
	dp_report_dull(h->first);
	dp_output_begin(stderr);
	dp_output_print(
		stderr,
		"dprobes: %lu process image%s with probes, %lu without: ",
		h->processes, h->processes == 1 ? "" : "s", h->bare);
	dp_report_sums(h->first, &h->sums);
	fputs("; ", stderr);
	tell_ending(h);
	putc('\n', stderr);
}

/* Might it have been found as a function that was inlined, if that had been asked for? */
static bool may_be_inlined(const struct dp_session *s,
			   const struct dp_spec *spec)
{
	return s->kind->inlines && spec->inlines == DP_INLINES_NEVER &&
	       spec->form == DP_POINT_SYMBOL && !*spec->module && !spec->glob &&
	       spec->kind == DP_SPEC_PROBE;
}

/* A spec that no process had is no error: a later process might have had it. */
static void tell_missing(const struct dp_session *s)
{
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		if (!s->specs[i].found)
			dp_output_say(
				"no process had %s%s", s->opt->specs[i],
				may_be_inlined(s, &s->specs[i]) ?
					"; with --inlined, copies of it count that were inlined" :
					"");
}

/* Move what the first session has found and armed to a session in the tree. */
static int hand_over(struct dp_process_tree *h)
{
	struct dp_session *s = h->first, *own = another(h, s);

	if (!own)
		return -ENOMEM;
	own->source = s->source;
	own->records = s->records;
	own->tables = s->tables;
	s->source = NULL;
	s->records = NULL;
	s->tables = NULL;
	s->points = (struct dp_points){ 0 };
	add(h, own);
	return 0;
}

static int begin(struct dp_process_tree *h, struct dp_diag *diag)
{
	struct dp_session *s = h->first;
	int err = dp_session_add_probes(s, diag);

	dp_report_refused(s);
	if (err) {
		s->ops->kill(s->source);
		return err;
	}
	err = s->ops->arm(s->source, diag);
	if (err)
		return err;
	dp_live_begin(s);
	if (hand_over(h))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	return 0;
}

/* The target has none of the specs; its children may. */
static int begin_bare(struct dp_process_tree *h)
{
	say_none(h, h->main);
	h->first->ops->close(h->first->source);
	h->first->source = NULL;
	return 0;
}

int dp_follow_run(struct dp_session *s, int *died_of, struct dp_diag *diag)
{
	struct dp_process_tree h = { .first = s, .main = s->source->pid };
	const struct dp_source_libraries *l = s->ops->libraries;
	size_t i;
	int err = dp_tree_open(&h.tree);

	dp_watch_signals();
	dp_order_open();
	if (!err)
		err = dp_tree_add(h.tree, s->source->proc);
	if (err)
		dp_diag_set(diag, err, "process %d cannot be followed: %s",
			    h.main, strerror(-err));
	if (!err)
		err = s->points.n || s->nr_coming ? begin(&h, diag) :
						    begin_bare(&h);
	if (!err) {
		watch(&h);
		let_all_go(&h);
		for (i = 0; l && i < h.n; i++)
			l->answer(h.v[i]->source, l->hear(h.v[i]->source));
		while (h.n)
			close_session(&h, h.v[0], h.ending);
		dp_groups_report(s);
		if (s->kind->finish)
			s->kind->finish(s);
		err = outcome(&h, died_of);
		report(&h);
		tell_missing(s);
		err = h.err ? h.err : err;
	}
	s->ops->close(s->source);
	s->source = NULL;
	dp_tree_close(h.tree);
	free(h.v);
	return err;
}
