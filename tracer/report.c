// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* report: print what was counted, and what ended the run. */
#include "tracer/interval.h"
#include "tracer/kept.h"
#include "tracer/recorder.h"
#include "tracer/rotation.h"
#include "tracer/session.h"
#include "tracer/output.h"
#include "tracer/table.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A trap costs about TRAP_COST hits by a jump; TRAPS_TOLD traps are worth a sentence. */
#define TRAP_COST 200
#define TRAPS_TOLD 1000

static void calls_json(const struct dp_row *row)
{
	struct dp_account n;

	row->s->ops->calls(row->s->source, row->point, &n);
	dp_output_print(
		row->s->opt->out,
		",\"returned\":%lu,\"tail\":%lu,\"unwound\":%lu,\"abandoned\":%lu,\"inside\":%lu",
		n.returned, n.tail, n.unwound, n.abandoned, n.inside);
}

/* "97 returned, 1 tail, …": zeros are left out, except returns. */
static void calls_text(FILE *out, const struct dp_account *n)
{
	u64 known = n->missed + n->unmet;
	const struct {
		u64 n;
		const char *what;
	} rest[] = {
		{ n->tail, "tail" },
		{ n->unwound, "unwound" },
		{ n->abandoned, "abandoned" },
		{ n->inside, "still inside" },
		{ n->unmet, "not followed for their condition" },
		{ n->damaged, "damaged" },
		{ n->lost > 0 ? (u64)n->lost : 0, "cut off" },
		{ n->unseen > known ? n->unseen - known : 0, "entered before" },
	};
	size_t i;

	dp_output_print(out, "%lu returned", n->returned);
	for (i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		if (rest[i].n)
			dp_output_print(out, ", %lu %s", rest[i].n,
					rest[i].what);
}

static void row_json(const struct dp_row *row)
{
	FILE *out = row->s->opt->out;

	fputs("{\"probe\":", out);
	dp_json_string(out, row->point->name);
	dp_json_process(out, row->s);
	if (row->point->refused) {
		fputs(",\"refused\":", out);
		dp_json_string(out, row->point->reason);
	} else {
		dp_output_print(out,
				",\"hits\":%lu,\"missed\":%lu,\"mode\":\"%s\"",
				row->hits, row->missed, row->mode);
		if (row->interior)
			dp_output_print(out, ",\"interior\":%lu",
					row->interior);
		if (row->point->spec->kind == DP_SPEC_RETURN)
			calls_json(row);
	}
	fputs("}\n", out);
}

/* What -v tells of a probe behind its name. */
static void details(const struct dp_row *row)
{
	const struct dp_session *s = row->s;
	FILE *out = s->opt->out;
	struct dp_account n;

	dp_output_print(out, "  0x%lx  %s", row->point->addr,
			s->ops->reason(s->source, row->point, 0));
	if (row->interior)
		dp_output_print(out, "  %lu traps in the middle of a jump",
				row->interior);
	if (row->point->spec->kind != DP_SPEC_RETURN)
		return;
	s->ops->calls(s->source, row->point, &n);
	fputs("  ", out);
	calls_text(out, &n);
}

/* Has a glob matched what was never hit? Others were asked for by name. */
static bool is_dull(const struct dp_row *row)
{
	return !row->hits && !row->missed && !row->s->opt->all &&
	       dp_spec_is_glob(row->point->spec);
}

static void print_rows(struct dp_session *s, struct dp_table *t)
{
	FILE *out = s->opt->out;
	size_t i;

	dp_table_fit(t, out, !s->opt->verbose);
	if (!s->printed->titled) {
		dp_table_title(out, t, "");
		dp_output_print(out, "%s\n",
				s->opt->verbose ? "  ADDRESS  REASON" : "");
	}
	s->printed->titled = true;
	for (i = 0; i < t->n; i++) {
		dp_table_row(out, t, "", &t->rows[i]);
		if (s->opt->verbose)
			details(&t->rows[i]);
		putc('\n', out);
	}
	dp_table_others(out, t, "");
}

static void print_rows_json(FILE *out, const struct dp_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		row_json(&t->rows[i]);
	dp_table_others_json(out, t, "");
}

/* JSON is for programs: it has every match in the order of specs, but with --top the same rows. */
static bool has_all(const struct dp_tracer_options *opt)
{
	return opt->json && !opt->top;
}

static void count_rows(struct dp_session *s)
{
	struct dp_table t;
	struct dp_row row;
	size_t i;

	if (dp_table_open(&t, s->points.n, dp_table_by(s->opt)))
		return;
	for (i = 0; i < s->points.n; i++) {
		if (s->points.v[i].spec->aggs)
			continue;
		dp_row_read(s, &s->points.v[i], &row);
		if (has_all(s->opt))
			dp_table_add(&t, &row);
		else if (!row.point->refused && is_dull(&row))
			s->printed->dull++;
		else if (!row.point->refused)
			dp_table_add(&t, &row);
	}
	if (!has_all(s->opt))
		dp_table_sort(&t, s->opt->top);
	if (s->opt->json)
		print_rows_json(s->opt->out, &t);
	else
		print_rows(s, &t);
	dp_table_close(&t);
	fflush(s->opt->out);
}

void dp_report_counts(struct dp_session *s)
{
	if (!dp_kept_counted(s))
		return;
	if (dp_table_by(s->opt) == DP_TABLE_PROGRAMS) {
		dp_groups_count(&s->printed->groups, s);
		return;
	}
	dp_output_begin(s->opt->out);
	count_rows(s);
}

void dp_report_dull(const struct dp_session *s)
{
	u64 n = s->printed->dull;

	if (n && !s->opt->quiet)
		dp_output_say(
			"%lu match%s of globs had no hit and %s left out; --all shows %s",
			n, n == 1 ? "" : "es", n == 1 ? "is" : "are",
			n == 1 ? "it" : "them");
}

size_t dp_report_probes(const struct dp_session *s)
{
	size_t n = 0, i;

	for (i = 0; i < s->points.n; i++)
		n += !s->points.v[i].refused;
	return n;
}

void dp_report_refused(const struct dp_session *s)
{
	size_t i, refused = s->points.n - dp_report_probes(s);

	for (i = 0; i < s->points.n; i++) {
		const struct dp_point *p = &s->points.v[i];

		if (p->refused && s->opt->verbose)
			dp_output_say("%s cannot be probed: %s", p->name,
				      p->reason);
	}
	if (refused && !s->opt->verbose)
		dp_output_say(
			"%zu of %zu matches cannot be probed (-v says which and why)",
			refused, s->points.n);
	if (s->points.skipped)
		dp_output_say(
			"%zu more match%s an IFUNC that this process has chosen no implementation for",
			s->points.skipped,
			s->points.skipped == 1 ? " is" : "es are each");
}

const char *dp_report_program(const struct dp_session *s)
{
	const char *exe = s->source->exe;
	const char *slash = strrchr(exe, '/');

	return slash ? slash + 1 : exe;
}

static void tell_trap_death(const struct dp_session *s, int status)
{
	size_t i, named = 0, probes = dp_report_probes(s);

	dp_output_print(
		stderr,
		"%s (%d) was killed by a trap in a thread that had SIG%s blocked or ignored, at %s",
		dp_report_program(s), s->source->pid,
		sigabbrev_np(WTERMSIG(status)), probes > 1 ? "one of " : "");
	for (i = 0; i < s->points.n && named < DP_NAMED_MAX; i++)
		if (!s->points.v[i].refused)
			dp_output_print(stderr, "%s%s", named++ ? ", " : "",
					s->points.v[i].name);
	if (probes > named)
		dp_output_print(stderr, " and %zu more", probes - named);
}

void dp_report_signal(int sig)
{
	const char *name = sigabbrev_np(sig);

	if (name)
		dp_output_print(stderr, " was killed by SIG%s", name);
	else
		dp_output_print(stderr, " was killed by signal %d", sig);
}

static void tell_signal(const struct dp_session *s, int sig)
{
	dp_output_print(stderr, "%s", dp_report_program(s));
	dp_report_signal(sig);
	if (sig == SIGSYS)
		fputs(": a seccomp filter forbids a call; if it forbids what probes need and came after them, attach again once it is there",
		      stderr);
}

static void tell_exit(const struct dp_session *s)
{
	struct dp_source_end end;

	s->ops->end(s->source, &end);
	if (!end.known)
		dp_output_print(stderr, "process %d exited", s->source->pid);
	else if (end.trap)
		tell_trap_death(s, end.status);
	else if (WIFSIGNALED(end.status))
		tell_signal(s, WTERMSIG(end.status));
	else
		dp_output_print(stderr, "%s exited with status %d",
				dp_report_program(s), WEXITSTATUS(end.status));
}

static void tell_exec(const struct dp_session *s)
{
	struct dp_source_end end;

	s->ops->end(s->source, &end);
	dp_output_print(stderr,
			s->opt->children ? "it went on as %s" :
					   "exec of %s ended the probes",
			end.execed);
}

const char *const dp_ending_words[] = {
	[DP_ENDING_INTERRUPT] = "interrupted",
	[DP_ENDING_DURATION] = "--duration is over",
	[DP_ENDING_RECORDS] = "-n has been reached",
	[DP_ENDING_UNTIL] = "--until has hit",
	[DP_ENDING_OUTPUT] = "the output cannot be written",
	[DP_ENDING_DEBUGGER] = "a debugger takes over",
	[DP_ENDING_FAILURE] = "the probes could not be armed again",
};

static void tell_ending(const struct dp_session *s)
{
	switch (s->ending) {
	case DP_ENDING_EXIT:
		tell_exit(s);
		break;
	case DP_ENDING_EXEC:
		tell_exec(s);
		break;
	case DP_ENDING_FILTER:
		dp_output_print(
			stderr,
			"the probes have ended before %s; attach again once it is there (-p %d)",
			s->filter_refused, s->source->pid);
		break;
	default:
		dp_output_print(stderr, "%s", dp_ending_words[s->ending]);
		break;
	}
}

static void add_point(struct dp_sums *sums, const struct dp_session *s,
		      const struct dp_point *p)
{
	struct dp_source_count c;
	int t;

	s->ops->count(s->source, p, &c);
	sums->held += dp_session_hits(s, p, &c);
	sums->hits += c.hits;
	sums->missed += c.missed;
	sums->onward += c.onward;
	for (t = 0; t < DP_TALLY_NR; t++)
		sums->tally[t] += c.tally[t];
}

void dp_sums_add(struct dp_sums *sums, const struct dp_session *s)
{
	struct dp_source_totals all;
	size_t i;

	for (i = 0; i < s->points.n; i++)
		if (!s->points.v[i].refused)
			add_point(sums, s, &s->points.v[i]);
	s->ops->totals(s->source, &all);
	sums->interior_arrivals += all.interior;
	sums->torn += all.torn + s->torn;
	sums->tally[DP_TALLY_LOST] += s->dropped;
	sums->written += s->written;
	sums->gone += all.gone;
	sums->late += all.late;
	sums->impossible = all.impossible;
	if (s->opt->children)
		sums->vforked += all.vforked;
}

/* What became of hits and records besides: ", 3 let pass, 1 record lost". */
static void tell_tallies(const struct dp_sums *s)
{
	const u64 *tally = s->tally;
	const struct {
		u64 n;
		const char *noun, *rest;
	} list[] = {
		{ tally[DP_TALLY_PASSED], "", "let pass" },
		{ tally[DP_TALLY_DISABLED], "", "after the probe's end" },
		{ tally[DP_TALLY_CONTEXT], "", "missed for want of a context" },
		{ tally[DP_TALLY_UNJUDGED], "return",
		  " not judged for want of a context" },
		{ tally[DP_TALLY_LOST], "record", " lost" },
		{ tally[DP_TALLY_DISCARDED], "record", " discarded" },
		{ tally[DP_TALLY_INSTANCES], "",
		  "missed for want of a free instance (maxactive)" },
		{ s->onward, "call",
		  " went on in another function, whose return is not seen" },
		{ s->vforked, "", "of vfork children not counted" },
		{ s->late, "", "times libraries came too fast" },
		{ s->gone, "site",
		  s->gone == 1 ? " gone with its library" :
				 " gone with their library" },
		{ s->impossible, "", "impossible changes of a site refused" },
		{ s->interior_arrivals, "trap", " in the middle of a jump" },
		{ s->torn, "record", " torn" },
	};
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (list[i].n)
			dp_output_print(
				stderr, ", %lu %s%s%s", list[i].n, list[i].noun,
				*list[i].noun && list[i].n > 1 ? "s" : "",
				list[i].rest);
}

/* Lines that are not in the output any more */
static u64 dropped(const struct dp_tracer_options *opt)
{
	return (opt->recorder ? dp_recorder_dropped(opt->recorder) : 0) +
	       (opt->rotation ? dp_rotation_dropped(opt->rotation) : 0);
}

void dp_report_sums(const struct dp_session *s, const struct dp_sums *sums)
{
	bool conditions = false;
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		conditions |= s->specs[i].cond && !s->specs[i].aggs;
	dp_output_print(stderr, "%lu hit%s", sums->hits,
			sums->hits == 1 ? "" : "s");
	if (conditions && !s->kind->record)
		dp_output_print(stderr, " (%lu counted)", sums->held);
	dp_output_print(stderr, ", %lu missed", sums->missed);
	if (s->kind->record)
		dp_output_print(stderr, ", %lu record%s", sums->written,
				sums->written == 1 ? "" : "s");
	if (dropped(s->opt))
		dp_output_print(stderr,
				", %lu dropped to make room for later ones",
				dropped(s->opt));
	tell_tallies(sums);
}

/* Are interior arrivals most of what a probe costs? */
static bool is_costly(const struct dp_session *s, const struct dp_point *p,
		      struct dp_source_count *c)
{
	if (p->refused)
		return false;
	s->ops->count(s->source, p, c);
	return !c->settled && c->interior >= TRAPS_TOLD &&
	       c->interior * TRAP_COST >= c->hits;
}

void dp_report_costly(const struct dp_session *s)
{
	struct dp_source_count c;
	size_t i, n = 0;

	for (i = 0; i < s->points.n; i++) {
		const struct dp_point *p = &s->points.v[i];

		if (!is_costly(s, p, &c) || n++ >= DP_NAMED_MAX)
			continue;
		dp_output_say(
			"%s: %lu traps in the middle of a jump are most of its cost: %s",
			p->name, c.interior,
			c.covered ?
				"it is within five bytes of the probe before it, and the program branches to it; without that one it may be a jump of its own" :
				"the program branches to behind it, within five bytes; DPROBES_ARM=trap makes it a breakpoint, which costs that at its hits only");
	}
	if (n > DP_NAMED_MAX)
		dp_output_say("the same of %zu more", n - DP_NAMED_MAX);
}

/* Where the program is faster than the reader: how much, and what can be done. */
static void tell_pace(const struct dp_session *s, const struct dp_sums *sums)
{
	u64 lost = sums->tally[DP_TALLY_LOST];
	struct dp_source_totals all;
	double seconds = dp_source_now() - s->began;

	if (!lost || s->opt->quiet || s->opt->block || seconds <= 0)
		return;
	s->ops->totals(s->source, &all);
	dp_output_say(
		"hits made %.0f records a second, %.0f of them could be taken; --buffer SIZE gives records more room%s",
		(double)(sums->written + lost) / seconds,
		(double)sums->written / seconds,
		all.watchpoints ? "" : ", with --block hits wait for it");
}

/* "3 watchpoints: ", "2 probes at 2 sites (0 trap, 2 jump): ", or both */
static void tell_probes(size_t probes, const struct dp_source_totals *all)
{
	if (all->watchpoints)
		dp_output_print(stderr, "%u watchpoint%s%s", all->watchpoints,
				all->watchpoints == 1 ? "" : "s",
				all->sites ? ", " : ": ");
	if (all->sites || !all->watchpoints)
		dp_output_print(
			stderr,
			"%zu probe%s at %zu site%s (%zu trap, %zu jump): ",
			probes, probes == 1 ? "" : "s", all->sites,
			all->sites == 1 ? "" : "s", all->sites - all->jumps,
			all->jumps);
}

void dp_report_summary(const struct dp_session *s)
{
	struct dp_sums sums = { 0 };
	struct dp_source_totals all;
	struct dp_account n;
	size_t probes = dp_report_probes(s);

	if (s->ending == DP_ENDING_OUTPUT &&
	    dp_output_left(s->opt->behind ?: s->opt->out))
		return;
	if (!s->opt->quiet)
		dp_report_costly(s);
	dp_sums_add(&sums, s);
	tell_pace(s, &sums);
	dp_output_begin(stderr);
	fputs("dprobes: ", stderr);
	if (s->opt->children)
		dp_output_print(stderr, "%s (%d): ", dp_report_program(s),
				s->source->pid);
	s->ops->totals(s->source, &all);
	tell_probes(probes - all.watchpoints, &all);
	dp_report_sums(s, &sums);
	if (dp_calls_total(s, &n)) {
		fputs("; calls: ", stderr);
		calls_text(stderr, &n);
	}
	fputs("; ", stderr);
	tell_ending(s);
	putc('\n', stderr);
}
