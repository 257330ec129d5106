/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * changes: what comes and goes in a probed process, for its source: libraries, and processes.
 *
 * Context of every function: as of source.h.
 */
#ifndef DP_TRACER_CHANGES_H
#define DP_TRACER_CHANGES_H

#include "port_types.h"

struct dp_diag;
struct dp_modules;
struct dp_point;
struct dp_source;
struct dp_source_request;
struct dp_tree;
struct dp_tree_event;

/**
 * struct dp_source_libraries - libraries that come and go in a probed process
 *
 * unheard() - why the source would miss loader events; NULL: it would not
 * hear(), answer() - let the threads go on that had asked when hear() was called;
 *   answer() is given what hear() has returned
 * look() - find the probes whose code is gone: is_gone()
 * extend() - probe the points that have come, behind the others, and those that are
 *   there again; what is armed stays so. @mods: the modules now, taken over
 *   On failure these points are gone.
 */
struct dp_source_libraries {
	const char *(*unheard)(const struct dp_source *source);
	u32 (*hear)(struct dp_source *source);
	void (*answer)(struct dp_source *source, u32 heard);
	void (*look)(struct dp_source *source);
	bool (*is_gone)(const struct dp_source *source,
			const struct dp_point *point);
	int (*extend)(struct dp_source *source, struct dp_modules *mods,
		      const struct dp_source_request *want,
		      struct dp_diag *diag);
};

/**
 * struct dp_source_tree - processes that a probed process makes (proc/tree.h)
 *
 * fork() - the source of a fork child, with its parent's probes armed; the child waits
 *   for dp_tree_begin()
 * renew() - the source of a process that has executed, as open() leaves a launched one
 * part() - follow the process no longer: dp_tree_part()
 */
struct dp_source_tree {
	int (*fork)(struct dp_source *parent, struct dp_tree *tree,
		    const struct dp_tree_event *event, struct dp_source **child,
		    struct dp_diag *diag);
	int (*renew)(struct dp_tree *tree, const struct dp_tree_event *event,
		     struct dp_source **source, struct dp_diag *diag);
	int (*part)(struct dp_source *source, struct dp_tree *tree,
		    struct dp_diag *diag);
};

#endif
