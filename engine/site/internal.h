/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* internal: the data of an engine. */
#ifndef DP_SITE_INTERNAL_H
#define DP_SITE_INTERNAL_H

#include "port_types.h"
#include "engine/insn/detour.h"
#include "engine/layout/arena.h"
#include "engine/layout/ring.h"
#include "engine/layout/instance.h"
#include "engine/plan/native.h"
#include "engine/plan/plan.h"
#include "engine/site/aggregate.h"
#include "engine/site/backtrace.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/site/site.h"
#include "engine/site/view.h"
#include "engine/site/arm.h"

struct dp_upcalls;
struct dp_growth;
struct dp_record_shape;

/** struct dp_program - a verified program; @code and @starts are the engine's own
 *  @id: no other program of the engine ever has it; @bound: how many probes were bound to it, @probe
 *  the last one; @records: it can make a record
 *  @leaving: probes of it are about to go; @shared: others use its variables, or it uses another's;
 *  @joined: those whose it uses know it
 *  @code_at, @lv_at: where its code and variables are among those of all, once it is @placed; @filled: the tables
 *  have it; @gone: it has been removed, and its number is another's next */
struct dp_program {
	struct dp_program_spec spec;
	char name[DP_PROGRAM_NAME];
	u8 *code;
	u32 *starts;
	u32 lv_off; /* offset in the arena */
	u32 id, bound, probe, code_at, lv_at;
	bool records, leaving, shared, joined, placed, filled, gone;
	struct dp_native_start *natives;
};

/* The reader's place in each ring, and the geometry of all. The target can write the
 * arena's geometry, so the engine keeps its own. */
struct dp_reader {
	u32 ring_off, ring_stride, slot_size, slot_mask, rings;
	u64 next[DP_MAX_SHARDS];
	u64 settled[DP_MAX_SHARDS]; /* no thread writes a record numbered below */
	u64 torn;
	u32 stream_off, stream_stride, stream_mask;
	u64 tail[DP_MAX_SHARDS]; /* bytes of each stream that have been read */
	struct dp_record_shape *shapes, *whole; /* stream.c */
};

/* The blocks and tables of instances. Like that of the rings, the geometry is the engine's own. */
struct dp_exit_instances {
	struct {
		struct dp_instance_line *line;
		char *instances;
		u32 lines;
	} table[DP_INSTANCE_TABLES];
	u32 tables, instance_stride;
	struct dp_block *block;
	char *block_instances;
	u32 blocks; /* 0: there are none */
	u64 *calls; /* struct dp_call_entry of each site, twice; NULL: there are no blocks */
	u32 max_calls; /* entries of one of the two tables */
	bool entries; /* some probe begins instances */
	bool tail_target; /* some exit is DP_WAY_TAIL_TARGET */
	u64 full; /* the hit half's count when a table was last added */
};

/** struct dp_site_slot - a place in the table by which sites are found by their addresses
 * @site: 1 + its index; 0: free. @low: of its address, so that others need not be looked at
 */
struct dp_site_slot {
	u32 site, low;
};

/**
 * struct dp_scratch - what is too large for a kernel's stack, and is over when a function returns
 * @detour, @code: of the jump that is being planned
 * @control: of the arena, before there is one
 * @record: that is being read
 */
struct dp_scratch {
	struct dp_detour detour;
	u8 code[DP_DETOUR_MAX];
	struct dp_arena_control control;
	struct dp_record_copy record;
};

/* @scratch_block: where @scratch is, aligned as it has to be */
struct dp_engine {
	struct dp_scratch *scratch;
	void *scratch_block;
	struct dp_site *sites;
	u32 nr_sites, cap_sites;
	struct dp_probe *probes;
	u32 nr_probes, cap_probes;
	struct dp_site_slot *hash;
	u32 hash_mask, nr_hashed;
	u32 *slots, slots_mask; /* the hit half's hash table */
	u32 spare_sites; /* 1 + index, linked by @pool */
	struct dp_expected expected;
	struct dp_mapping map;
	u32 shards;
	struct dp_program *programs;
	u32 nr_programs, cap_programs, program_ids;
	bool exchanging; /* see exchange.h */
	bool native; /* detours may run programs */
	u32 native_leave; /* see struct dp_native_limits */
	u32 ring_bytes; /* of each ring; 0: as usual */
	bool block; /* hits wait for the reader */
	u32 watch_serials; /* so many sites of data have been made */
	u32 watch_number; /* see dp_engine_set_watch_number() */
	bool holds; /* threads wait for their core dump */
	bool tight; /* see dp_engine_set_tight() */
	bool mirrored; /* the tables are a process's that probes itself: mirror.c */
	bool coarse; /* see dp_engine_set_coarse() */
	/* its tables of values; in the arena they begin at @aggregated_off */
	struct dp_aggregate_entry *aggregates;
	u32 nr_aggregates, cap_aggregates, aggregated_off;
	u64 aggregate_bytes;
	/* of those that came after the arena: their memory */
	void *aggregate_memory[DP_AGGREGATE_TABLES];
	struct dp_backtraces backtraces;
	struct dp_reader reader;
	struct dp_exit_instances instances;
	u32 tid_offset;
	bool signal_free, uncaught;
	u64 arrivals_seen; /* interior arrivals when jumps were last looked at */
	enum dp_arming arming;
	struct dp_rseq rseq;
	bool rseq_usable;
	const struct dp_percpu *percpu; /* see dp_engine_set_percpu() */
	u32 nr_caught; /* see dp_caught() */
	bool committed; /* at least once */
	struct dp_layout_need need;
	struct dp_arena *arena;
	struct dp_view view;
	u64 linker_state; /* see dp_engine_watch_linker() */
	const char *pending[DP_PENDING];
	u32 nr_pending;
	u32 max_sites, max_probes; /* limits, from the layout on */
	u32 gv_off, max_locals; /* a mirror's: where variables are, how many */
	bool own; /* handlers in C: of the process itself, or of another one */
	u32 nr_upcalls; /* upcalls at once; 0: handlers run in the target */
	struct dp_upcalls *upcalls;
	struct dp_growth *growth; /* grow.c */
};

/** dp_engine_reserve() - make room for one more element of an array */
int dp_engine_reserve(void **array, u32 used, u32 *cap, size_t each);
/** dp_engine_make_scratch() - give an engine its scratch. Return: false: there is no memory. */
bool dp_engine_make_scratch(struct dp_engine *e);
/** dp_engine_dup() - copy memory. Return: the caller's, of dp_port_alloc(), also of 0 bytes; NULL:
 *  out of memory. */
void *dp_engine_dup(const void *from, size_t bytes);

/** dp_entry_of() - the hit half's entry of a site, or NULL: it has no plan yet */
static inline struct dp_site_entry *dp_entry_of(const struct dp_engine *e,
						const struct dp_site *s)
{
	return e->arena && s->place ? &e->view.sites[s->place - 1] : NULL;
}

/** dp_site_arming() - how the site's jump is written */
static inline enum dp_arming dp_site_arming(const struct dp_engine *e,
					    const struct dp_site *s)
{
	return e->arming == DP_ARM_QUIESCE && s->arrivals ? DP_ARM_INTERIOR :
							    e->arming;
}

#endif
