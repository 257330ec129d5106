// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_live: probes come and go in an engine that lives, while a thread of the target
 * writes to the memory that they share: as it can to that of Uprobes. Control must stay
 * within it, write to no text but that of its sites, and come to an end.
 *
 * Input: eight bytes, each an order (what, which probe); then what is scribbled.
 */
#include "fuzz/scribble.h"
#include "fuzz/text.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/site/reach.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "engine/site/internal.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"
#include "port.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define ROOM 64u /* sites that there is room for */
#define PROBES 12u
#define ORDERS 8u
#define NONE ~0u

/** struct world - one run */
struct world {
	struct dp_engine *engine;
	struct dp_target target;
	struct dp_arena *arena;
	u32 probes[PROBES]; /* NONE: there is none */
	u8 *pools[DP_MAX_POOLS];
	u64 pool_addrs[DP_MAX_POOLS];
	size_t pool_sizes[DP_MAX_POOLS];
	u32 nr_pools;
};

static size_t arena_size, file_size;

static const struct dp_target_ops ops = { .read = read_text,
					  .write = write_text };

/* Code is never written where it is run. */
static int map_pool(void *arg, u64 addr, u64 size)
{
	struct world *w = arg;

	if (w->nr_pools == DP_MAX_POOLS)
		return -ENOMEM;
	w->pools[w->nr_pools] =
		scribble_reserve(NULL, size, PROT_READ | PROT_WRITE, 0);
	w->pool_addrs[w->nr_pools] = addr;
	w->pool_sizes[w->nr_pools++] = size;
	return 0;
}

/* All of it into one of them, or into two that are neighbours. */
static int put_code(void *arg, u64 addr, const void *code_, size_t len)
{
	const u8 *from = code_;
	struct world *w = arg;
	size_t done = 0;
	u32 i;

	for (i = 0; i < w->nr_pools; i++)
		for (; done < len &&
		       addr + done - w->pool_addrs[i] < w->pool_sizes[i];
		     done++)
			w->pools[i][addr + done - w->pool_addrs[i]] =
				from[done];
	for (i = 0; i < w->nr_pools && done < len; i++)
		for (; done < len &&
		       addr + done - w->pool_addrs[i] < w->pool_sizes[i];
		     done++)
			w->pools[i][addr + done - w->pool_addrs[i]] =
				from[done];
	must(done == len);
	return 0;
}

static int find_holes(void *arg, struct dp_hole **holes, size_t *n)
{
	struct dp_hole hole = { TEXT + 0x100000, TEXT + 0x10000000, false };
	struct world *w = arg;
	u32 i;

	*holes = dp_port_alloc((3 * DP_MAX_POOLS + 1) * sizeof(**holes));
	must(*holes != NULL);
	(*holes)[0] = hole;
	*n = 1;
	for (i = 0; i < w->nr_pools; i++)
		*n = dp_holes_carve(*holes, *n, w->pool_addrs[i],
				    w->pool_sizes[i]);
	return 0;
}

static int write_stopped(void *arg, const u32 *which, u32 n, bool in)
{
	return 0;
}

static int hold(void *arg, bool unowned, int (*work)(void *what), void *what)
{
	return work(what);
}

static const struct dp_growth_ops growth = {
	map_pool, put_code, find_holes, write_stopped, hold, NULL, false
};

static u8 *build(struct world *w)
{
	struct dp_mapping map = { .base = BASE,
				  .intercept_entry = ENTRY,
				  .entries = { .hit = ENTRY + 64 },
				  .owner = 1,
				  .tool = 2 };
	struct dp_layout_need *need;
	struct dp_engine *e;

	must(!dp_engine_create(&e));
	dp_engine_attach_own(e, ROOM);
	dp_engine_upcall(e, 4);
	must(!dp_engine_add_intercept(e, TEXT + INTERCEPT, code + INTERCEPT, 13,
				      false));
	need = dp_engine_layout(e, 2);
	file_size =
		(DP_FILE_ARENA_OFFSET + need->arena_size + SCRIBBLE_PAGE - 1) &
		~(SCRIBBLE_PAGE - 1);
	arena_size = need->arena_size;
	map.file = scribble_map(file_size);
	scribble_aim(map.file, need);
	must(!dp_engine_build(e, &map, &growth, w));
	must(!dp_engine_plan(e));
	must(!dp_engine_arm_intercepts(e, &w->target));
	w->arena = dp_engine_arena(e);
	dp_engine_destroy(e);
	return map.file;
}

static void add(struct world *w, u32 i)
{
	const struct dp_found found = { .code = code + places[i % SITES],
					.size = sizeof(code) -
						places[i % SITES] };
	const struct dp_handlers handlers = {
		.kind = DP_KIND_UPCALL, .user = i, .pre = ENTRY, .deadline = 10
	};
	struct dp_reach reach = { .start = TEXT,
				  .code = code,
				  .size = sizeof(code),
				  .function = 14,
				  .room = 20 - places[i % SITES] };
	const char *why;
	u32 probe, bad;

	if (w->probes[i] != NONE ||
	    dp_live_add(w->engine, TEXT + places[i % SITES], &found, &handlers,
			true, &probe, &why))
		return;
	if (dp_live_is_new(w->engine, probe))
		dp_engine_allow_jump(w->engine, probe, &reach);
	if (dp_live_commit(w->engine, &w->target, &probe, 1, &bad)) {
		dp_live_remove(w->engine, &w->target, &probe, 1);
		dp_live_forget(w->engine, probe);
		return;
	}
	w->probes[i] = probe;
}

static void take(struct world *w, u32 i)
{
	if (w->probes[i] == NONE)
		return;
	dp_live_remove(w->engine, &w->target, &w->probes[i], 1);
	dp_live_forget(w->engine, w->probes[i]);
	w->probes[i] = NONE;
}

static void no_probe(void *arg, u32 probe)
{
	must(probe < ROOM * 8);
}

static void look(struct world *w, u32 i)
{
	u8 copy[sizeof(code)];
	u32 probe;

	if (w->probes[i] == NONE)
		return;
	dp_live_hits(w->engine, w->probes[i]);
	dp_live_faulted(w->engine, w->probes[i]);
	dp_live_intact(w->engine, &w->target, w->probes[i]);
	dp_live_optimized(w->engine, w->probes[i]);
	must(dp_live_addr(w->engine, w->probes[i]) == TEXT + places[i % SITES]);
	must(dp_live_handlers(w->engine, w->probes[i])->user == i);
	must(dp_live_first(w->engine, TEXT + places[i % SITES], &probe));
	memcpy(copy, text, sizeof(copy));
	dp_engine_originals(w->engine, TEXT, copy, sizeof(copy));
	dp_live_touched(w->engine, no_probe, NULL);
}

static void order(struct world *w, u8 what)
{
	u32 i = (what >> 3) % PROBES;

	switch (what & 7) {
	case 0:
	case 1:
		add(w, i);
		break;
	case 2:
		take(w, i);
		break;
	case 3:
		if (w->probes[i] != NONE)
			dp_live_enable(w->engine, &w->target, &w->probes[i], 1,
				       what & 0x80);
		break;
	case 4:
		dp_live_knobs(w->engine, &w->target, what & 8, what & 16);
		break;
	case 5:
		if (w->probes[i] != NONE)
			dp_live_check(w->engine, &w->target, w->probes[i]);
		break;
	case 6:
		if (w->probes[i] != NONE)
			dp_live_switch_off(w->engine, w->probes[i], i);
		break;
	default:
		look(w, i);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct world w = { .target = { &ops } };
	struct dp_live_setup setup = { .ops = &growth,
				       .arg = &w,
				       .entries = { .hit = ENTRY + 128,
						    .tracked = ENTRY + 192 },
				       .least_pool = 16 * DP_PAGE,
				       .max_sites = ROOM };
	u8 *file;
	u32 i;

	if (size < ORDERS)
		return 0;
	memset(w.probes, 0xff, sizeof(w.probes));
	memcpy(text, code, sizeof(text));
	file = build(&w);
	setup.size = arena_size;
	must(!dp_engine_create(&w.engine));
	dp_engine_set_arming(w.engine,
			     data[0] & 0x40 ? DP_ARM_TRAP : DP_ARM_INTERIOR);
	/* An arena that is not what it should be is refused, mostly. */
	if (data[1] & 0x80)
		scribble_start(data + ORDERS, size - ORDERS);
	if (!dp_engine_adopt(w.engine, w.arena, &setup)) {
		scribble_start(data + ORDERS, size - ORDERS);
		for (i = 0; i < 3 * ORDERS; i++)
			order(&w, (u8)(data[i % ORDERS] + i / ORDERS * 8));
		for (i = 0; i < PROBES; i++)
			take(&w, i);
	}
	scribble_stop();
	dp_engine_destroy(w.engine);
	scribble_unmap(file, file_size);
	while (w.nr_pools--)
		munmap(w.pools[w.nr_pools], w.pool_sizes[w.nr_pools]);
	return 0;
}
