/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tables: in which a client's programs keep values of hits.
 *
 * Context of every function, where nothing else is said: task, may sleep; takes dp_kmod's lock.
 */
#ifndef DP_KMOD_TABLES_H
#define DP_KMOD_TABLES_H

#include "engine/layout/aggregate.h"
#include "port_types.h"

struct dp_client;

/** dp_client_add_table() - a table, before the programs that name it. @table: its number, which is the client's: 0, 1, …;
 *  @entry: its geometry; @why: on failure, a static phrase,
 *  or NULL. Return: 0; -ENOSPC; -ENOMEM; -ENOENT the client has not begun */
int dp_client_add_table(struct dp_client *c,
			const struct dp_aggregate_shape *shape, u32 *table,
			struct dp_aggregate_entry *entry, const char **why);
/** dp_client_table() - its geometry. Return: 0; -ENOENT the client has none of that number */
int dp_client_table(const struct dp_client *c, u32 table,
		    struct dp_aggregate_entry *entry);
/** dp_client_read_table() - see dp_engine_read_slots(); @lost: see dp_engine_aggregate_lost(). Return: likewise; -ENOENT */
int dp_client_read_table(const struct dp_client *c, u32 table, u64 *first,
			 u32 most,
			 void (*take)(void *arg, const u64 *key,
				      const u64 *row),
			 void *arg, u64 lost[DP_LOST_NR]);
/** dp_client_name_tables() - put the engine's numbers of tables into a program that has the client's. Return: false: it has no
 *  such table, *@at is where. Context: the client's requests take turns; takes no lock */
bool dp_client_name_tables(const struct dp_client *c, u8 *code, u32 len,
			   u32 *at);
/** dp_tables_has() - are all tables that a program names its client's? Context: with the lock */
bool dp_tables_has(const struct dp_client *c, u32 program);
/** dp_tables_forget() - the client has none any more. Context: with the lock; no program of its is there */
void dp_tables_forget(struct dp_client *c);

#endif
