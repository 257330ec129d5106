// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tables: in which a client's programs keep values of hits. Lock: dp_kmod's. */
#include "kmod/tables.h"
#include "engine/site/aggregate.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/vm/decode.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include "kmod/shared.h"

static void enter(struct dp_client *c, u32 table,
		  const struct dp_aggregate_entry *t)
{
	u32 i;

	set_bit(table, c->tables);
	for (i = 0; i < t->nr_fields; i++)
		if (t->fields[i].kind == DP_FIELD_SET)
			set_bit(t->fields[i].set, c->tables);
}

static int add(struct dp_client *c, const struct dp_aggregate_shape *shape,
	       u32 *table, struct dp_aggregate_entry *entry, const char **why)
{
	int err;

	if (!c->begun)
		return -ENOENT;
	err = dp_engine_add_aggregate(dp_kmod.engine, shape, table, why);
	if (err)
		return err;
	*entry = *dp_engine_aggregate(dp_kmod.engine, *table);
	enter(c, *table, entry);
	return 0;
}

int dp_client_add_table(struct dp_client *c,
			const struct dp_aggregate_shape *shape, u32 *table,
			struct dp_aggregate_entry *entry, const char **why)
{
	*why = NULL;
	return DP_KMOD_ASK(-ENOENT, add(c, shape, table, entry, why));
}

static bool has(const struct dp_client *c, u32 table)
{
	return table < DP_AGGREGATE_TABLES && test_bit(table, c->tables);
}

static int get(const struct dp_client *c, u32 table,
	       struct dp_aggregate_entry *entry)
{
	if (!has(c, table))
		return -ENOENT;
	*entry = *dp_engine_aggregate(dp_kmod.engine, table);
	return 0;
}

int dp_client_table(const struct dp_client *c, u32 table,
		    struct dp_aggregate_entry *entry)
{
	return DP_KMOD_ASK(-ENOENT, get(c, table, entry));
}

static int read(const struct dp_client *c, u32 table, u64 *first, u32 most,
		void (*take)(void *arg, const u64 *key, const u64 *row),
		void *arg, u64 lost[DP_LOST_NR])
{
	int err;

	if (!has(c, table))
		return -ENOENT;
	err = dp_engine_read_slots(dp_kmod.engine, table, first, most, take,
				   arg);
	dp_engine_aggregate_lost(dp_kmod.engine, table, lost);
	return err;
}

int dp_client_read_table(const struct dp_client *c, u32 table, u64 *first,
			 u32 most,
			 void (*take)(void *arg, const u64 *key,
				      const u64 *row),
			 void *arg, u64 lost[DP_LOST_NR])
{
	return DP_KMOD_ASK(-ENOENT,
			   read(c, table, first, most, take, arg, lost));
}

bool dp_tables_has(const struct dp_client *c, u32 program)
{
	const struct dp_program_spec spec =
		dp_engine_program(dp_kmod.engine, program);
	bool all = true;
	u32 at = 0;
	u64 arg;
	u8 op;

	while (all && at < spec.code_len) {
		op = spec.code[at];
		at = dp_op_decode(spec.code, at, &arg);
		if (op == DP_OPCODE_AGGREGATE)
			all = has(c, arg & ((1u << DP_AGGREGATE_SHIFT) - 1));
	}
	return all;
}

/* Those of distinct values go with the table that they belong to, and the numbers are no table's any more. */
void dp_tables_forget(struct dp_client *c)
{
	u32 i;

	for_each_set_bit(i, c->tables, DP_AGGREGATE_TABLES)
		dp_engine_remove_aggregate(dp_kmod.engine, i);
	bitmap_zero(c->tables, DP_AGGREGATE_TABLES);
}
