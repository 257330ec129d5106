/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* internal: what the files of the control half share. */
#ifndef DP_CONTROL_INTERNAL_H
#define DP_CONTROL_INTERNAL_H

#include "port.h"
#include "engine/control/control.h"
#include "engine/control/view.h"
#include "engine/insn/insn.h"

/* A copy and what it refers to are never farther apart than this: 2 GB less
 * the length of a pool's worst neighbour. */
#define DP_REACH ((1ull << 31) - (64ull << 20))

/* Bytes of the detour of a hooked system call. */
#define DP_HOOK_DETOUR 36

/**
 * struct dp_site - one probed address
 * @code: original bytes, @facts.len of them
 * @hook: number of the system call that is hooked here, or -1
 * @pool: index of the pool that holds its copy
 * @first_probe, @last_probe: 1 + index, 0 for none
 */
struct dp_site {
	u64 addr;
	u8 code[DP_INSN_MAX + 1];
	struct insn_facts facts;
	s32 hook;
	u32 pool;
	u32 first_probe, last_probe;
	bool records; /* a probe here runs a program */
};

struct dp_probe {
	u32 next;
	u32 site;
	bool bound;
	struct dp_binding binding;
};

/** struct dp_program - a verified program; @code is the engine's own */
struct dp_program {
	struct dp_program_spec spec;
	char name[DP_PROGRAM_NAME];
	u8 *code;
};

/* A reader's place in one ring, and the geometry of all, which it does not
 * take from memory that the target can write. */
struct dp_reader {
	u32 ring_off, ring_stride, slot_size, slot_mask, rings;
	u64 next[DP_MAX_SHARDS];
	u64 torn;
};

struct dp_engine {
	struct dp_site *sites;
	u32 nr_sites, cap_sites;
	struct dp_probe *probes;
	u32 nr_probes, cap_probes;
	u32 *hash; /* 1 + site index */
	u32 hash_mask;
	u32 *order; /* sites by address, from the layout on */
	u32 shards;
	struct dp_program *programs;
	u32 nr_programs, cap_programs;
	struct dp_reader reader;
	u32 tid_offset;
	struct dp_layout_need need;
	struct dp_arena *arena;
	struct dp_view view;
};

/** dp_engine_reserve() - room for one more element of an array */
int dp_engine_reserve(void **array, u32 used, u32 *cap, size_t each);

/* program.c */
void dp_programs_free(struct dp_engine *engine);

/* tables.c: where everything in the arena is; the same sum for the layout and
 * for the plan */
u64 dp_tables_lay_out(const struct dp_engine *engine,
		      struct dp_arena_control *control);

/** dp_engine_find() - the site at @addr, or NULL */
struct dp_site *dp_engine_find(const struct dp_engine *engine, u64 addr);

#endif
