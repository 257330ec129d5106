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
};

struct dp_probe {
	u32 next;
	u32 site;
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
	struct dp_layout_need need;
	struct dp_arena *arena;
	struct dp_view view;
};

/** dp_engine_find() - the site at @addr, or NULL */
struct dp_site *dp_engine_find(const struct dp_engine *engine, u64 addr);

#endif
