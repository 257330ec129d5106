/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kept: values of the kernel's hits, which are put into tables as their records come. */
#ifndef DP_TRACER_SYSTEM_KEPT_H
#define DP_TRACER_SYSTEM_KEPT_H

#include "engine/layout/aggregate.h"
#include "engine/layout/ring.h"
#include "port_types.h"

struct dp_engine;
struct dp_program_spec;
struct rows;

/** struct dp_system_kept - zeros at first; for dp_system_kept_free()
 *  @engine: has no probes, but the tables' geometry; @rows: of each table */
struct dp_system_kept {
	struct dp_engine *engine;
	struct rows *rows;
};

/** struct dp_system_keeping - what a program keeps: @words of a hit, in @table
 *  @used: it keeps anything; @before: bytes that it has logged before that, at the entry of a call */
struct dp_system_keeping {
	u32 table, words, before;
	bool used;
};

/** dp_system_kept_add(), dp_system_kept_table(), dp_system_kept_read(), dp_system_kept_lost() - as those of
 *  engine/site/aggregate.h */
int dp_system_kept_add(struct dp_system_kept *kept,
		       const struct dp_aggregate_shape *shape, u32 *table,
		       const char **why);
const struct dp_aggregate_entry *
dp_system_kept_table(const struct dp_system_kept *kept, u32 table);
int dp_system_kept_read(const struct dp_system_kept *kept, u32 table,
			void (*take)(void *arg, const u64 *key, const u64 *row),
			void *arg);
void dp_system_kept_lost(const struct dp_system_kept *kept, u32 table,
			 u64 lost[DP_LOST_NR]);
void dp_system_kept_free(struct dp_system_kept *kept);

/** dp_system_kept_find() - what does a program keep? Return: false: nothing
 *  dp_system_kept_rewrite() - have it log that instead; @code: a copy of the program's, as long
 *  dp_system_kept_bytes() - of the log, for that */
bool dp_system_kept_find(const struct dp_program_spec *spec,
			 struct dp_system_keeping *keeping);
void dp_system_kept_rewrite(const struct dp_program_spec *spec, u8 *code);
u32 dp_system_kept_bytes(const struct dp_system_keeping *keeping);
/** dp_system_kept_take() - put a record of such a program into its table; @lead: bytes in front of its log */
void dp_system_kept_take(struct dp_system_kept *kept,
			 const struct dp_system_keeping *keeping,
			 const struct dp_record_copy *record, u32 lead);

#endif
