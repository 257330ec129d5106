/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* request: what a session asks of its source, and what it is told. */
#ifndef DP_TRACER_REQUEST_H
#define DP_TRACER_REQUEST_H

#include "engine/layout/site.h"
#include "port_types.h"
#include <time.h>

struct dp_diag;
struct dp_points;
struct dp_record_copy;
struct dp_spec;

/**
 * struct dp_source_request - the probes that a session wants
 * @points: belong to the session; add() sets their @probe and @program, and refuses
 *          matches of globs that it cannot probe
 * @specs: the specs of the points; @pending: of each spec: does it wait for its library?
 * @coming: a spec waited for its library at first, so having nothing to probe is no error
 * @logs: hits make records; @longest: bytes of the longest record of any spec
 * @traces, @heap: the most that a program asks for, see struct dp_program_spec
 * @ring_bytes, @block: see dp_engine_set_rings(); @coarse: see dp_engine_set_coarse()
 * @holds: threads are held while core dumps of theirs are made
 * @grows: there is to be room for points and programs that come later
 * @listed: no probe will be armed, but the mode of each is decided
 * @prepare: called before any point has its probe, to add tables; or NULL
 * @bind: called for each point that has its probe, to bind a program; NULL: none has one
 */
struct dp_source_request {
	struct dp_points *points;
	const struct dp_spec *specs;
	const bool *pending;
	size_t nr_specs;
	bool coming, logs, listed;
	u32 longest, traces, heap, ring_bytes;
	bool block, coarse, holds, grows;
	int (*prepare)(void *arg, struct dp_diag *diag);
	int (*bind)(void *arg, size_t point, struct dp_diag *diag);
	void *arg;
};

/**
 * struct dp_source_count - the counts of one point
 * @interior: interior arrivals that are due to its site, or to those of its exits
 * @covered: its site is inside the jump of another site
 * @settled: its interior arrivals have come to an end, because a jump has stepped back
 * @onward: calls that went on in another function, where returns are probed and calls are not tracked
 * @status: enum dp_status_bit; @count: executions, if the point's program has limits
 * @mode: "jump", "trap" or "watch"
 */
struct dp_source_count {
	u64 hits, missed, interior, onward;
	u64 tally[DP_TALLY_NR];
	bool covered, settled;
	u32 status;
	s64 count;
	const char *mode;
};

/**
 * struct dp_source_totals - the counts of all points
 * @interior: interior arrivals; @torn: records dropped because they made no sense
 * @gone: sites whose code is not mapped any more
 * @late: loader events at which the tool did not look in time
 * @vforked: hits of CLONE_VM children
 * @globals: global variables of all programs
 * @impossible: changes of a site that were refused, since the tool began
 * @watchpoints: how many; such a source has no sites
 */
struct dp_source_totals {
	size_t sites, jumps;
	u64 interior, torn, gone, late, vforked, impossible;
	u32 globals, watchpoints;
};

/** struct dp_source_end - how a process ended: @status of wait(2), if @known
 *  @trap: a probe's trap killed it; @execed: path of the program it executed, or "" */
struct dp_source_end {
	bool known, trap;
	int status;
	const char *execed;
};

enum dp_source_state {
	DP_SOURCE_RUNS,
	DP_SOURCE_EXECED, /* the probes are gone with the image */
	DP_SOURCE_EXITED,
};

/**
 * struct dp_source_news - what the session has to see to
 * @asked: a thread waits with new libraries in place: struct dp_source_libraries
 * @filter_refused: why a filter install ends the probes; NULL: there is none that does
 * @most: longest time until the next tend(), in ms
 */
struct dp_source_news {
	bool asked;
	const char *filter_refused;
	double most;
};

typedef void (*dp_source_take)(void *arg, const struct dp_record_copy *record);

/** dp_source_now() - seconds of the clock that tend() is called with */
static inline double dp_source_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/**
 * struct dp_source_task - who has hit
 * @tid: as records have it; out: as the tool knows it
 * @pid: its process, @name: of the thread, or what it was interrupted by, in @size bytes; in: what is
 *       known of them, or 0 and "", which stays if it has ended
 */
struct dp_source_task {
	u32 tid, pid;
	char *name;
	size_t size;
};

#endif
