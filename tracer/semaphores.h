/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* semaphores: which semaphores of tracepoints are raised, as probes come, go and are disabled. */
#ifndef DP_TRACER_SEMAPHORES_H
#define DP_TRACER_SEMAPHORES_H

#include <stdbool.h>
#include "port_types.h"

struct dp_point;
struct dp_points;
struct dp_process;

/**
 * dp_points_raise() - raise the semaphores of the tracepoints that are probed, and no others
 * @base: of the agent that has the notes (proc/semaphores.h)
 * @is_on: is the probe of a point, which is not refused and not gone, armed? called with @arg
 *
 * What cannot be raised is told. Context: tool; may sleep.
 */
void dp_points_raise(struct dp_process *proc, u64 base,
		     const struct dp_points *points,
		     bool (*is_on)(const void *arg, const struct dp_point *p),
		     const void *arg);

#endif
