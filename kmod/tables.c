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

/* Return: the client's number for it */
static u32 number(struct dp_client *c, u32 table)
{
	c->table[c->nr_tables] = (u8)table;
	return c->nr_tables++;
}

/* In the order in which an engine of the client's own would have them: those of distinct values come first. */
static u32 enter(struct dp_client *c, u32 table, struct dp_aggregate_entry *t)
{
	u32 i;

	for (i = 0; i < t->nr_fields; i++)
		if (t->fields[i].kind == DP_FIELD_SET)
			t->fields[i].set = number(c, t->fields[i].set);
	return number(c, table);
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
	*table = enter(c, *table, entry);
	return 0;
}

int dp_client_add_table(struct dp_client *c,
			const struct dp_aggregate_shape *shape, u32 *table,
			struct dp_aggregate_entry *entry, const char **why)
{
	*why = NULL;
	return DP_KMOD_ASK(-ENOENT, add(c, shape, table, entry, why));
}

static int get(const struct dp_client *c, u32 table,
	       struct dp_aggregate_entry *entry)
{
	if (table >= c->nr_tables)
		return -ENOENT;
	*entry = *dp_engine_aggregate(dp_kmod.engine, c->table[table]);
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

	if (table >= c->nr_tables)
		return -ENOENT;
	err = dp_engine_read_slots(dp_kmod.engine, c->table[table], first, most,
				   take, arg);
	dp_engine_aggregate_lost(dp_kmod.engine, c->table[table], lost);
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

/* A program is given with its client's numbers. */
bool dp_client_name_tables(const struct dp_client *c, u8 *code, u32 len,
			   u32 *at)
{
	for (*at = 0; *at + 1 < len; *at += 1 + dp_op_size(code[*at])) {
		u8 *table = &code[*at + 1];

		if (code[*at] != DP_OPCODE_AGGREGATE)
			continue;
		if (*table >= c->nr_tables)
			return false;
		*table = c->table[*table];
	}
	return true;
}

static bool has(const struct dp_client *c, u64 table)
{
	u32 i;

	for (i = 0; i < c->nr_tables; i++)
		if (c->table[i] == table)
			return true;
	return false;
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

/* Those of distinct values go with the table that they belong to, and their numbers are no table's any more. */
void dp_tables_forget(struct dp_client *c)
{
	while (c->nr_tables)
		dp_engine_remove_aggregate(dp_kmod.engine,
					   c->table[--c->nr_tables]);
}
