// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* live: see live.h. */
#include "tracer/live.h"
#include "tracer/interval.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/**
 * struct slow - breakpoints of a return probe or another probe
 * @entry: is it one at its entry? @exits: at so many of its exits
 */
struct slow {
	bool entry;
	size_t exits;
};

static bool is_slow(const struct dp_session *s, const struct dp_point *p,
		    struct slow *slow)
{
	struct dp_source_count c;
	size_t k;

	*slow = (struct slow){ 0 };
	if (p->refused)
		return false;
	s->ops->count(s->source, p, &c);
	slow->entry = !strcmp(c.mode, "trap");
	if (p->spec->kind == DP_SPEC_RETURN && s->source->tracks)
		for (k = 1; k <= p->nr_exits; k++)
			slow->exits += *s->ops->reason(s->source, p, k) != 0;
	return slow->entry || slow->exits;
}

/* Why a breakpoint: of the entry, or of the first exit that has one. */
static const char *why_slow(const struct dp_session *s,
			    const struct dp_point *p, const struct slow *slow)
{
	const char *why = "";
	size_t k;

	for (k = slow->entry ? 0 : 1; k <= p->nr_exits && !*why; k++)
		why = s->ops->reason(s->source, p, k);
	return why;
}

static void tell_slow(const struct dp_session *s, const struct dp_point *p,
		      const struct slow *slow)
{
	if (slow->exits)
		dp_output_say("%s: %s%zu of %zu exits by breakpoint: %s",
			      p->name, slow->entry ? "its entry and " : "",
			      slow->exits, p->nr_exits, why_slow(s, p, slow));
	else
		dp_output_say("%s is a breakpoint: %s", p->name,
			      why_slow(s, p, slow));
}

/** struct slow_sum - slow probes of a session: by their entries, and by their exits alone */
struct slow_sum {
	size_t entries, exits;
};

/* Count the slow probes; with -v name the first of them. */
static void find_slow(const struct dp_session *s, struct slow_sum *sum)
{
	struct slow slow;
	size_t i, n = 0;

	*sum = (struct slow_sum){ 0 };
	for (i = 0; i < s->points.n; i++) {
		if (!is_slow(s, &s->points.v[i], &slow))
			continue;
		sum->entries += slow.entry;
		sum->exits += !slow.entry;
		if (s->opt->verbose && n++ < DP_NAMED_MAX)
			tell_slow(s, &s->points.v[i], &slow);
	}
	if (n > DP_NAMED_MAX)
		dp_output_say("the same of %zu more", n - DP_NAMED_MAX);
}

/* "812 (nginx): 3 probes, 1 by breakpoint, …" */
static void tell_probes(const struct dp_session *s, const struct slow_sum *sum)
{
	size_t probes = dp_report_probes(s);

	if (s->ops->everybody)
		dp_output_print(stderr, "%s", s->ops->name);
	else
		dp_output_print(stderr, "%d (%s)", s->source->pid,
				dp_report_program(s));
	dp_output_print(stderr, ": %zu probe%s", probes,
			probes == 1 ? "" : "s");
	if (sum->entries)
		dp_output_print(stderr, ", %zu by breakpoint", sum->entries);
	if (sum->exits)
		dp_output_print(stderr, ", %zu whose returns are by breakpoint",
				sum->exits);
	if (sum->entries || sum->exits)
		dp_output_print(stderr, ", which is some %s times as slow%s",
				s->ops->slow ?: "thousand",
				s->opt->verbose ? "" : " (-v says why)");
}

/* A script that wants breakpoints knows what they cost. */
static bool wants_breakpoints(void)
{
	const char *arm = secure_getenv("DPROBES_ARM");

	return arm && !strcmp(arm, "trap");
}

static void tell(const struct dp_session *s)
{
	bool person = isatty(STDERR_FILENO) && !s->opt->classic;
	struct slow_sum sum;

	if (s->opt->quiet)
		return;
	find_slow(s, &sum);
	if (person)
		fputs("dprobes: probing ", stderr);
	else if ((sum.entries || sum.exits) && !s->opt->verbose &&
		 !wants_breakpoints())
		fputs("dprobes: ", stderr);
	else
		return;
	tell_probes(s, &sum);
	dp_output_print(stderr, "%s\n", person ? "; ^C ends" : "");
	s->printed->slow |= sum.entries || sum.exits;
}

void dp_live_begin(const struct dp_session *s)
{
	tell(s);
	if (!s->opt->argv)
		return;
	dp_output_share();
	s->ops->go(s->source);
}

void dp_live_more(const struct dp_session *s)
{
	struct slow_sum sum;

	if (s->opt->quiet || s->printed->slow || wants_breakpoints())
		return;
	find_slow(s, &sum);
	if (!sum.entries && !sum.exits)
		return;
	s->printed->slow = true;
	dp_output_begin(stderr);
	fputs("dprobes: ", stderr);
	tell_probes(s, &sum);
	fputs("\n", stderr);
}
