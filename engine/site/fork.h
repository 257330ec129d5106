/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fork: the engine of a process that a fork has made of a probed one. */
#ifndef DP_SITE_FORK_H
#define DP_SITE_FORK_H

#include "port_types.h"

struct dp_engine;
struct dp_mapping;

/**
 * dp_engine_fork() - the engine for a process that a fork has made of the target
 * @map: its own file, its parent's base
 * @was, @is: the id of the thread that forked, and what it is in the child
 *
 * Copies and tables are the same, byte for byte, and the sites are armed. What has
 * been counted and recorded is the parent's. For what the thread was in the middle of
 * see dp_engine_fork_contexts() and dp_engine_fork_visits().
 * Return: 0; -ENOMEM; -EOPNOTSUPP where probes come and go (dp_engine_reside()): those
 * of Kprobes and Uprobes are the process's for which they were registered, and no
 * child's.
 */
int dp_engine_fork(const struct dp_engine *engine, const struct dp_mapping *map,
		   u32 was, u32 is, struct dp_engine **child);

#endif
