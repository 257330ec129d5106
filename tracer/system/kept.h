/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kept: values of the kernel's hits, in tables that dprobes.ko has. */
#ifndef DP_TRACER_SYSTEM_KEPT_H
#define DP_TRACER_SYSTEM_KEPT_H

#include "engine/layout/aggregate.h"
#include "port_types.h"

struct dp_engine;
struct dp_system_device;

/** struct dp_system_kept - zeros at first; for dp_system_kept_free()
 *  @engine: has no probes, but the tables' geometry, as that of the module has it */
struct dp_system_kept {
	struct dp_engine *engine;
	char words[128];
};

/** dp_system_kept_add(), dp_system_kept_table(), dp_system_kept_read(), dp_system_kept_lost() - as those of
 *  engine/site/aggregate.h */
int dp_system_kept_add(struct dp_system_kept *kept,
		       const struct dp_system_device *d,
		       const struct dp_aggregate_shape *shape, u32 *table,
		       const char **why);
const struct dp_aggregate_entry *
dp_system_kept_table(const struct dp_system_kept *kept, u32 table);
int dp_system_kept_read(const struct dp_system_kept *kept,
			const struct dp_system_device *d, u32 table,
			void (*take)(void *arg, const u64 *key, const u64 *row),
			void *arg);
void dp_system_kept_lost(const struct dp_system_device *d, u32 table,
			 u64 lost[DP_LOST_NR]);
void dp_system_kept_free(struct dp_system_kept *kept);

#endif
