// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fork: the engine of a fork child.
 *
 * Its text, copies and tables have the addresses and contents of its parent's. Memory
 * that the hit half writes is the child's own, and begins anew.
 */
#include "arch/arch.h"
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "port.h"
#include "engine/site/site.h"
#include "engine/site/build.h"
#include "engine/text/state.h"
#include "engine/text/strategy.h"
#include "engine/text/target.h"

static int copy_programs(struct dp_engine *e, const struct dp_engine *of)
{
	u32 i;

	e->nr_programs = 0;
	e->programs = dp_engine_dup(of->programs,
				    of->nr_programs * sizeof(*of->programs));
	for (i = 0; e->programs && i < of->nr_programs; i++) {
		const struct dp_program *p = &of->programs[i];

		e->programs[i].natives = NULL;
		e->programs[i].starts = dp_engine_dup(
			p->starts, p->spec.nr_starts * sizeof(*p->starts));
		e->programs[i].code = dp_engine_dup(p->code, p->spec.code_len);
		e->nr_programs++;
		if (!e->programs[i].code || !e->programs[i].starts)
			return -ENOMEM;
	}
	return e->programs ? 0 : -ENOMEM;
}

static int copy_engine(const struct dp_engine *of, struct dp_engine **copy)
{
	struct dp_engine *e = dp_engine_dup(of, sizeof(*of));

	if (!e)
		return -ENOMEM;
	e->reader.shapes = NULL;
	dp_engine_make_scratch(e);
	e->cap_sites = of->nr_sites;
	e->cap_probes = of->nr_probes;
	e->cap_programs = of->nr_programs;
	e->sites = dp_engine_dup(of->sites, of->nr_sites * sizeof(*of->sites));
	e->probes =
		dp_engine_dup(of->probes, of->nr_probes * sizeof(*of->probes));
	e->hash = dp_engine_dup(of->hash,
				(of->hash_mask + 1) * sizeof(*of->hash));
	e->cap_aggregates = of->nr_aggregates;
	e->aggregates = dp_engine_dup(
		of->aggregates, of->nr_aggregates * sizeof(*of->aggregates));
	*copy = e;
	e->growth = dp_room_copy(of);
	return copy_programs(e, of) || dp_backtraces_copy(e, of) ||
			       !e->scratch_block || !e->sites || !e->probes ||
			       !e->hash || !e->aggregates || !e->growth ?
		       -ENOMEM :
		       0;
}

static void begin_anew(struct dp_engine *e, u32 probe)
{
	struct dp_probe_entry *p = (void *)&e->view.probes[probe];

	p->since = p->earlier = p->met_since = p->met_earlier = 0;
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

/* Is a jump there that the site had before? */
static bool is_earlier(const struct dp_engine *e, const struct dp_site *s,
		       const u8 *now)
{
	u8 jmp[DP_JUMP_SIZE];
	const struct dp_jump *j;
	u32 n;

	for (n = s->jumps; n; n = j->earlier) {
		j = &e->view.jumps[n];
		if (dp_grow_patch(s, j, jmp) &&
		    dp_bytes_same(jmp, now, sizeof(jmp)))
			return true;
	}
	return false;
}

/** enum step - a jump, and what is off, goes; then breakpoints come, and then jumps: the
 *  breakpoints of sites that they cover are in their bytes */
enum step { STEP_OUT, STEP_TRAPS, STEP_JUMPS, STEPS };

static bool is_trap(const struct dp_site_entry *s)
{
	return s->armed == DP_SITE_TRAPPED ||
	       (s->armed == DP_SITE_THERE && s->mode == DP_MODE_TRAP);
}

/* Are the bytes ours, and not what is to be there? */
static bool differs(const struct dp_engine *e, u32 i, const u8 *now)
{
	const struct dp_site_entry *s = &e->view.sites[i];
	enum dp_bytes is = dp_site_bytes(s, now);

	if (is_trap(s) && now[0] == s->orig[0])
		return true;
	if (is == DP_BYTES_FOREIGN)
		return is_earlier(e, &e->sites[i], now);
	if (is_trap(s))
		return now[0] != DP_BREAKPOINT;
	return is !=
	       (s->armed == DP_SITE_THERE ? DP_BYTES_PATCH : DP_BYTES_ORIGINAL);
}

/* The parent may have changed the site since the fork; its table says what is there. */
static int catch_up(struct dp_engine *e, struct dp_target *target, u32 i,
		    enum step step)
{
	static const u8 breakpoint = DP_BREAKPOINT;
	const struct dp_sites sites = { .v = e->view.sites,
					.total = e->view.nr_sites };
	const struct dp_site_entry *s = &e->view.sites[i];
	bool covered = dp_site_is_covered(&sites, s);
	u8 now[DP_JUMP_SIZE], n = dp_site_patch_len(s);

	if (s->intercept || !n || target->ops->read(target, s->addr, now, n) ||
	    !differs(e, i, now))
		return 0;
	if (step == STEP_OUT && now[0] != s->orig[0] &&
	    !(covered && now[0] == DP_BREAKPOINT))
		return target->ops->write(target, s->addr, s->orig, n);
	if (step == STEP_TRAPS && is_trap(s) && !covered)
		return target->ops->write(target, s->addr, &breakpoint, 1);
	if (step == STEP_JUMPS && !is_trap(s) && s->armed == DP_SITE_THERE)
		return target->ops->write(target, s->addr, s->patch, n);
	return 0;
}

int dp_engine_catch_up(struct dp_engine *e, struct dp_target *target)
{
	const struct dp_growth *g = e->growth;
	enum step which;
	int err = 0;
	u32 i;

	for (which = STEP_OUT; which < STEPS; which++)
		for (i = 0; i < g->nr_changed && !err; i++)
			err = catch_up(e, target, g->touched[i], which);
	return err;
}

int dp_engine_fork(const struct dp_engine *of, const struct dp_mapping *map,
		   void *arg, struct dp_engine **child)
{
	int err;

	*child = NULL;
	if (of->own)
		return -EOPNOTSUPP;
	err = copy_engine(of, child);
	if (!err)
		err = copy_arena(*child, of, map);
	if (!err)
		(*child)->growth->setup.arg = arg;
	if (err) {
		dp_engine_destroy(*child);
		*child = NULL;
		return err;
	}
	dp_engine_admit(*child, true);
	return 0;
}
