/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* internal: the data of an engine. */
#ifndef DP_SITE_INTERNAL_H
#define DP_SITE_INTERNAL_H

#include "port_types.h"
#include "engine/insn/detour.h"
#include "engine/layout/arena.h"
#include "engine/layout/ring.h"
#include "engine/layout/instance.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/site/site.h"
#include "engine/site/view.h"
#include "engine/site/arm.h"

struct dp_upcalls;
struct dp_growth;

/** struct dp_program - a verified program; @code is the engine's own */
struct dp_program {
	struct dp_program_spec spec;
	char name[DP_PROGRAM_NAME];
	u8 *code;
	u32 lv_off; /* offset in the arena */
};

/* The reader's place in each ring, and the geometry of all. The target can write the
 * arena's geometry, so the engine keeps its own. */
struct dp_reader {
	u32 ring_off, ring_stride, slot_size, slot_mask, rings;
	u64 next[DP_MAX_SHARDS];
	u64 settled[DP_MAX_SHARDS]; /* no thread writes a record numbered below */
	u64 torn;
};

/* The tables of instances. Like that of the rings, the geometry is the engine's own. An
 * instance's place is its index in all tables, one after the other. */
struct dp_exit_instances {
	struct {
		struct dp_instance_line *line;
		char *instances;
		u32 lines;
	} table[DP_INSTANCE_TABLES];
	u32 tables, instance_stride;
	bool entries; /* some probe begins instances */
	bool tail_target; /* some exit is DP_WAY_TAIL_TARGET */
	u64 full; /* the hit half's count when a table was last added */
};

/**
 * struct dp_batch - sites that are planned and armed together
 * @first, @n: their places in the table, in the order of addresses
 * @pool: their first pool, and @pools: how many; @code_pools: of them have code
 * @later: it is not the first batch
 */
struct dp_batch {
	u32 first, n;
	u32 pool, pools, code_pools;
	bool later;
};

struct dp_engine {
	struct dp_site *sites;
	u32 nr_sites, cap_sites;
	struct dp_probe *probes;
	u32 nr_probes, cap_probes;
	u32 *hash; /* 1 + site index */
	u32 hash_mask, nr_hashed;
	u32 *slots, slots_mask; /* the hit half's hash table */
	u32 *order; /* the site at each place in the table, from the layout on */
	u32 nr_places, cap_places;
	struct dp_batch batch; /* the last one */
	struct dp_batch *earlier;
	u32 nr_earlier, cap_earlier;
	u32 spare_sites; /* 1 + index, linked by @pool */
	u32 nr_first; /* places of the first batch, which has all intercepts */
	struct dp_expected expected;
	struct dp_mapping map;
	u32 shards;
	struct dp_program *programs;
	u32 nr_programs, cap_programs;
	u32 filled_programs, code_used, locals_used; /* in the tables */
	struct dp_reader reader;
	struct dp_exit_instances instances;
	u32 tid_offset;
	bool signal_free;
	enum dp_arming arming;
	struct dp_rseq rseq;
	bool rseq_usable;
	u32 nr_caught; /* see dp_caught() */
	struct dp_layout_need need;
	struct dp_arena *arena;
	struct dp_view view;
	u64 linker_state; /* see dp_engine_watch_linker() */
	const char *pending[DP_PENDING];
	u32 nr_pending;
	u32 max_sites; /* limit of an own-process engine; else 0 */
	u32 nr_upcalls; /* upcalls at once; 0: handlers run in the target */
	struct dp_upcalls *upcalls;
	struct dp_growth *growth; /* grow.c */
};

/** dp_engine_reserve() - make room for one more element of an array */
int dp_engine_reserve(void **array, u32 used, u32 *cap, size_t each);

/** dp_order_site() - the site at place @i of the table; of an own-process engine, in the
 *  order in which sites were added */
static inline struct dp_site *dp_order_site(const struct dp_engine *e, u32 i)
{
	return &e->sites[e->order ? e->order[i] : i];
}

/** dp_entry_of() - the hit half's entry of a site, or NULL: it has no plan yet */
static inline struct dp_site_entry *dp_entry_of(const struct dp_engine *e,
						const struct dp_site *s)
{
	return e->arena && s->place ? &e->view.sites[s->place - 1] : NULL;
}

/** dp_batch_end() - the place behind the last of the batch */
static inline u32 dp_batch_end(const struct dp_engine *e)
{
	return e->order ? e->batch.first + e->batch.n : e->nr_sites;
}

/** dp_batch_has() - is the site one of the batch? */
static inline bool dp_batch_has(const struct dp_engine *e,
				const struct dp_site *s)
{
	return s->place > e->batch.first &&
	       s->place <= e->batch.first + e->batch.n;
}

#endif
