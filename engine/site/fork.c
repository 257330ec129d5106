// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fork: the engine of a fork child.
 *
 * Its text, copies and tables have the addresses and contents of its parent's. Memory
 * that the hit half writes is the child's own, and begins anew.
 */
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "port.h"
#include "engine/site/site.h"
#include "engine/site/build.h"
#include "engine/text/state.h"
#include "engine/text/target.h"

static void *copy_of(const void *from, size_t bytes)
{
	const u8 *in = from;
	u8 *to = dp_port_alloc(bytes ? bytes : 1);
	size_t i;

	for (i = 0; to && i < bytes; i++)
		to[i] = in[i];
	return to;
}

static int copy_programs(struct dp_engine *e, const struct dp_engine *of)
{
	u32 i;

	e->nr_programs = 0;
	e->programs =
		copy_of(of->programs, of->nr_programs * sizeof(*of->programs));
	for (i = 0; e->programs && i < of->nr_programs; i++) {
		e->programs[i].code = copy_of(of->programs[i].code,
					      of->programs[i].spec.code_len);
		if (!e->programs[i].code)
			return -ENOMEM;
		e->nr_programs++;
	}
	return e->programs ? 0 : -ENOMEM;
}

static int copy_engine(const struct dp_engine *of, struct dp_engine **copy)
{
	struct dp_engine *e = copy_of(of, sizeof(*of));
	u32 i;

	if (!e)
		return -ENOMEM;
	for (i = 0; i < e->need.nr_pools; i++)
		e->need.pools[i].code = NULL;
	e->cap_sites = of->nr_sites;
	e->cap_probes = of->nr_probes;
	e->cap_programs = of->nr_programs;
	e->cap_places = of->nr_places;
	e->sites = copy_of(of->sites, of->nr_sites * sizeof(*of->sites));
	e->probes = copy_of(of->probes, of->nr_probes * sizeof(*of->probes));
	e->cap_earlier = of->nr_earlier;
	e->earlier =
		copy_of(of->earlier, of->nr_earlier * sizeof(*of->earlier));
	e->order = copy_of(of->order, of->nr_places * sizeof(*of->order));
	e->hash = copy_of(of->hash, (of->hash_mask + 1) * sizeof(*of->hash));
	*copy = e;
	return copy_programs(e, of) || !e->sites || !e->probes || !e->order ||
			       !e->earlier || !e->hash ?
		       -ENOMEM :
		       0;
}

static void begin_anew(struct dp_engine *e, u32 probe)
{
	struct dp_probe_entry *p = (void *)&e->view.probes[probe];

	p->since = p->earlier = 0;
	e->view.states[probe].count = -(s64)e->probes[probe].binding.passcount;
}

/* What the parent's tables and control's part say holds for the child. What the hit half
 * has written there begins anew, as do the answers to it. */
static int copy_arena(struct dp_engine *e, const struct dp_engine *of,
		      const struct dp_mapping *map)
{
	struct dp_arena_control *c;
	int err;
	u32 i;

	e->arena = (void *)((char *)map->file + DP_FILE_ARENA_OFFSET);
	c = &e->arena->control;
	*c = of->arena->control;
	__builtin_memcpy((char *)e->arena + c->tables_off,
			 (char *)of->arena + c->tables_off,
			 of->need.arena_size - c->tables_off);
	c->owner = map->owner;
	c->tool_futex = c->linker_answered = c->linker_hold = 0;
	c->tool_link = c->filter_answered = c->filter_leaving = 0;
	err = dp_hash_find(e, of->need.arena_size);
	if (!err)
		err = dp_view_open(&e->view, e->arena, of->need.arena_size);
	for (i = 0; !err && i < e->nr_probes; i++)
		begin_anew(e, i);
	dp_reader_open(e);
	dp_instances_open(e);
	return err;
}

/* The parent may have got the last batch since the fork; its table says what is there. */
static int catch_up(struct dp_target *target, const struct dp_site_entry *s)
{
	u8 now[DP_JUMP_SIZE], n = dp_site_patch_len(s);

	if (s->armed != DP_SITE_THERE ||
	    target->ops->read(target, s->addr, now, n) ||
	    dp_site_bytes(s, now) > DP_BYTES_MINGLED ||
	    dp_site_bytes(s, now) == DP_BYTES_PATCH)
		return 0;
	return target->ops->write(target, s->addr, s->patch, n);
}

int dp_engine_catch_up(struct dp_engine *e, struct dp_target *target)
{
	int err = 0;
	u32 i;

	for (i = e->batch.first; e->batch.later && i < dp_batch_end(e) && !err;
	     i++)
		err = catch_up(target, &e->view.sites[i]);
	return err;
}

int dp_engine_fork(const struct dp_engine *of, const struct dp_mapping *map,
		   u32 was, u32 is, struct dp_engine **child)
{
	int err;

	*child = NULL;
	if (of->max_sites)
		return -EOPNOTSUPP;
	err = copy_engine(of, child);
	if (!err)
		err = copy_arena(*child, of, map);
	if (err) {
		dp_engine_destroy(*child);
		*child = NULL;
		return err;
	}
	dp_engine_admit(*child, true);
	return 0;
}
