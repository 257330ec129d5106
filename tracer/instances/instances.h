/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * instances: calls of tracked functions that have not ended.
 *
 * Context: as of source.h.
 */
#ifndef DP_TRACER_INSTANCES_H
#define DP_TRACER_INSTANCES_H

#include "engine/layout/instance.h"
#include "tracer/source.h"

struct dp_calls;
struct dp_engine;

/** dp_calls_open() - for all probes that the engine has now; again, when it has got more
 *  @calls: NULL at first; NULL is fine for the other functions
 *  @proc: the process; @logs: a record is made when a call ends. Return: 0 or -ENOMEM. */
int dp_calls_open(struct dp_calls **calls, struct dp_engine *engine,
		  const struct dp_process *proc, bool logs);
/** dp_calls_look() - find abandoned calls while the probes are armed; the finds of the last
 *  look are forgotten. @all: look at every instance, not at the next LOOKS only */
void dp_calls_look(struct dp_calls *calls, bool all);
/** dp_calls_settle() - the probes are out: count what has not ended. @take: gets the records of
 *  abandoned calls */
void dp_calls_settle(struct dp_calls *calls, dp_source_take take, void *arg);
/** dp_calls_count() - add what has not ended to the account of a probe */
void dp_calls_count(const struct dp_calls *calls, u32 probe,
		    struct dp_account *counts);
void dp_calls_close(struct dp_calls *calls);

#endif
