/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * filters: what the seccomp filters of a process permit the tool.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SECCOMP_FILTERS_H
#define DP_PROC_SECCOMP_FILTERS_H

#include "port_types.h"
#include "proc/seccomp/filter.h"

struct dp_process;

/** dp_filters_presume() - they are not known yet: nothing is permitted */
void dp_filters_presume(struct dp_process *proc);
/** dp_filter_fn - what a filter says of a call */
typedef enum dp_filter_says dp_filter_fn(const void *arg, long nr);
/** dp_filters_strict() - what seccomp's strict mode says of a call */
enum dp_filter_says dp_filters_strict(long nr);
/** dp_filters_spares() - can the hit half do without that call of its own? */
bool dp_filters_spares(long nr);
/** dp_filters_lack() - a call that probes need with breakpoints and hooks, and that is not
 *  always permitted; NULL: all are */
const char *dp_filters_lack(const struct dp_process *proc, dp_filter_fn *ask,
			    const void *arg);
/** dp_filters_lack_remote() - the same of what the tool has a process do */
const char *dp_filters_lack_remote(dp_filter_fn *ask, const void *arg);
/** dp_filters_read() - if it is under seccomp, stop it for a moment and look */
void dp_filters_read(struct dp_process *proc);

#endif
