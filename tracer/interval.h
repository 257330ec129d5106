/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* interval: what is printed while a run goes on, and how far that has come. */
#ifndef DP_INTERVAL_H
#define DP_INTERVAL_H

#include "tracer/groups.h"

struct dp_session;

/**
 * struct dp_printed - what all sessions of a run have printed
 * @titled, @interval_titled: the header of the table, and of those of intervals; @records: how many
 * @until: ticks of the hit of --until, whose line is to be the last; 0: it has not come
 * @slow: that probes are slow
 * @dull: rows that were left out because their probes had no hit
 * @since, @next: when the last interval ended, and when this one does, by dp_source_now()
 * @groups: what processes that have ended had counted, by program; @come: the same of this interval
 */
struct dp_printed {
	bool titled, interval_titled, slow;
	u64 records, until, dull;
	double since, next;
	struct dp_groups groups, come;
};

/** dp_interval_look() - print the table of an interval that is over
 *  @v: the sessions that there are. Return: ms until the next one is over. */
double dp_interval_look(const struct dp_session *s, struct dp_session **v,
			size_t n);

/** dp_interval_leave() - a session ends: what it has counted since the last look is in the table of this
 *  interval, where that is by programs */
void dp_interval_leave(struct dp_session *s);

#endif
