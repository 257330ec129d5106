/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* leaks: what a program has taken and not given back, as it is noted, and as it is told. */
#ifndef DP_TRACER_LEAKS_H
#define DP_TRACER_LEAKS_H

#include "tracer/expr.h"
#include "tracer/session.h"
#include "tracer/taken.h"
#include "tracer/walked.h"

/** struct dp_leaks_owner - what a process has taken */
struct dp_leaks_owner {
	const struct dp_session *s;
	struct dp_taken taken;
};

/**
 * struct dp_leaks - a run; of each spec: @programs; @texts, without "until:"; @until; @amounts: its second value
 *                   is how much there is; @names: of that value
 * @v: processes, @n of them; @last: whose record came last
 * @sums: of processes that have ended, or been left: by spec and stack, whose places are those of @walked
 * @taken, @given: how many; @untracked: there was no room, or its values could not be read
 * @lost: records for which the rings had no room; @bad: the text that is wrong
 */
struct dp_leaks {
	struct dp_traced **programs;
	struct dp_tracer_options opt;
	const char **texts, *bad;
	char (*names)[DP_TRACE_NAME];
	bool *until, *amounts;
	struct dp_leaks_owner *v;
	size_t n, room, last;
	struct dp_taken sums;
	struct dp_walked walked;
	u64 taken, given, untracked, lost;
};

/** dp_leaks_find() - the place of a session's process in @run->v; @run->n: it has taken nothing */
size_t dp_leaks_find(const struct dp_leaks *run, const struct dp_session *s);
/** dp_leaks_report() - add up what a process has, and print it unless other processes follow
 *  dp_leaks_finish() - with -f, print what all have */
void dp_leaks_report(struct dp_session *s);
void dp_leaks_finish(struct dp_session *s);

#endif
