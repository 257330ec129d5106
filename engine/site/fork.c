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
#include "engine/text/state.h"

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

	if (!e)
		return -ENOMEM;
	e->arena = NULL;
	e->growth = NULL;
	e->cap_sites = of->nr_sites;
	e->cap_probes = of->nr_probes;
	e->cap_programs = of->nr_programs;
	e->sites = copy_of(of->sites, of->nr_sites * sizeof(*of->sites));
	e->probes = copy_of(of->probes, of->nr_probes * sizeof(*of->probes));
	e->order = copy_of(of->order, of->nr_sites * sizeof(*of->order));
	e->hash = copy_of(of->hash, (of->hash_mask + 1) * sizeof(*of->hash));
	*copy = e;
	return copy_programs(e, of) || !e->sites || !e->probes || !e->order ||
			       !e->hash ?
		       -ENOMEM :
		       0;
}

/* Copy the states that have changed since the plan. */
static void take_over(struct dp_engine *e, const struct dp_engine *of)
{
	struct dp_arena_control *to = &e->arena->control;
	const struct dp_arena_control *from = &of->arena->control;
	u32 i;

	for (i = 0; i < e->view.nr_sites; i++) {
		dp_site_mirror_state(&e->view.sites[i], &of->view.sites[i]);
		e->view.sites[i].wanted = of->view.sites[i].wanted;
		e->view.sites[i].returned = of->view.sites[i].returned;
	}
	to->revertible = from->revertible;
	to->nr_patched = from->nr_patched;
	for (i = 0; i < DP_MAX_PATCHED; i++)
		to->patched[i] = from->patched[i];
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
		err = dp_engine_build(*child, map);
	if (err) {
		dp_engine_destroy(*child);
		*child = NULL;
		return err;
	}
	take_over(*child, of);
	dp_engine_admit(*child, true);
	return 0;
}
