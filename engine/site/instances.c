// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* instances: calls tracked from entry to exit: see engine/instance/exits.c. */
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/layout/ring.h"
#include "engine/layout/instance.h"
#include "engine/layout/block.h"
#include "engine/site/calls.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"

/* Lines that tell how full a table is; every table has more. */
#define SAMPLE 1024
/* Of all instances, where a process probes itself */
#define OWN_BYTES (8u << 20)
_Static_assert(OWN_BYTES / DP_INSTANCE_WAYS /
			       (sizeof(struct dp_exit_instance) + DP_VM_LOG) >=
		       SAMPLE,
	       "a table has fewer lines than are looked at");

int dp_engine_track(struct dp_engine *e, u32 probe, bool logs)
{
	struct dp_probe *p = &e->probes[probe];

	if (probe >= DP_INSTANCE_GROUPS)
		return -ENOMEM;
	p->kind = DP_KIND_ENTER;
	p->way = logs ? DP_WAY_LOGS : 0;
	e->sites[p->site].instances = true;
	e->instances.entries = true;
	return 0;
}

void dp_live_track(struct dp_engine *e, u32 probe, u32 group)
{
	struct dp_probe *p = &e->probes[probe];

	p->group = p->kind == DP_KIND_EXIT ? group : DP_NO_GROUP;
	e->sites[p->site].instances = true;
	e->instances.entries = true;
	if (p->kind != DP_KIND_EXIT || !(p->way & DP_WAY_TAIL_TARGET))
		return;
	e->instances.tail_target = true;
	e->arena->control.tail_target = 1;
}

void dp_engine_track_xmm(struct dp_engine *e, u32 probe)
{
	e->probes[probe].way |= DP_WAY_XMM;
}

/* The entry's probe knows if an exit of its function is another one's, too. */
static void note_shared(struct dp_engine *e, u32 exit)
{
	const struct dp_probe *p = &e->probes[exit];

	if (p->kind == DP_KIND_EXIT && p->group != DP_NO_GROUP &&
	    p->way & DP_WAY_SHARED)
		dp_engine_set_way(e, p->group,
				  e->probes[p->group].way | DP_WAY_SHARED);
}

int dp_engine_add_exit(struct dp_engine *e, u32 enter, u32 way, u64 addr,
		       const u8 *code, size_t size, u32 *probe,
		       const char **why)
{
	int err = dp_engine_add(e, addr, code, size, probe, why);

	if (err)
		return err;
	e->probes[*probe].kind = DP_KIND_EXIT;
	e->probes[*probe].group = enter;
	e->probes[*probe].way = way;
	e->sites[e->probes[*probe].site].instances = true;
	e->instances.tail_target |= way & DP_WAY_TAIL_TARGET;
	note_shared(e, *probe);
	return 0;
}

int dp_engine_add_unwind(struct dp_engine *e, u32 way, u64 addr, const u8 *code,
			 size_t size, u32 *probe)
{
	int err = dp_engine_add(e, addr, code, size, probe, NULL);

	if (err)
		return err;
	e->probes[*probe].kind = DP_KIND_UNWIND;
	e->probes[*probe].group = DP_NO_GROUP;
	e->probes[*probe].way = way;
	e->sites[e->probes[*probe].site].instances = true;
	return 0;
}

static bool is_hidden(const struct dp_probe *p, u8 kind)
{
	return p->kind == kind && p->group == DP_NO_GROUP;
}

u32 dp_engine_hidden_at(const struct dp_engine *e, u8 kind, u64 addr)
{
	const struct dp_site *s = dp_engine_find(e, addr);
	u32 p = s ? s->first_probe : 0;

	while (p && !is_hidden(&e->probes[p - 1], kind))
		p = e->probes[p - 1].next;
	return p ? p - 1 : DP_NO_GROUP;
}

u32 dp_engine_hidden_spare(const struct dp_engine *e, u8 kind)
{
	u32 i;

	for (i = 0; i < e->nr_probes; i++)
		if (is_hidden(&e->probes[i], kind) && dp_engine_is_gone(e, i))
			return i;
	return DP_NO_GROUP;
}

void dp_engine_set_way(struct dp_engine *e, u32 probe, u32 way)
{
	struct dp_probe *p = &e->probes[probe];

	p->way = way;
	e->instances.tail_target |= way & DP_WAY_TAIL_TARGET;
	if (!p->fresh)
		__atomic_store_n((u32 *)&e->view.probes[probe].way, way,
				 __ATOMIC_RELEASE);
	note_shared(e, probe);
}

void dp_engine_admit(struct dp_engine *e, bool may)
{
	u32 i;

	for (i = 0; e->arena && i < e->nr_probes; i++) {
		if (e->probes[i].kind != DP_KIND_ENTER)
			continue;
		__atomic_store_n((u32 *)&e->view.probes[i].enabled,
				 may && e->probes[i].enabled &&
					 !e->probes[i].waits,
				 __ATOMIC_RELEASE);
		dp_calls_note(e, e->probes[i].site);
	}
}

static u32 staged(const struct dp_engine *e)
{
	bool any = e->expected.calls && e->expected.programs;
	u32 i;

	for (i = 0; i < e->nr_probes; i++)
		any |= e->probes[i].way & DP_WAY_LOGS ||
		       (e->probes[i].bound && e->probes[i].binding.judged);
	return any ? dp_programs_longest(e) : 0;
}

void dp_instances_measure(const struct dp_engine *e, u32 *lines, u32 *blocks,
			  u32 *stride)
{
	*stride = ((u32)sizeof(struct dp_exit_instance) + staged(e) + 7) & ~7u;
	*lines = DP_INSTANCE_LINES;
	while (*lines * DP_INSTANCE_WAYS * (u64)*stride >
	       (e->own ? OWN_BYTES : DP_INSTANCE_BYTES))
		*lines /= 2;
	*blocks = e->tight ? DP_BLOCKS_TIGHT : DP_BLOCKS_MOST;
	while (*blocks > DP_BLOCKS_LEAST &&
	       *blocks * DP_BLOCK_WORDS * (u64)*stride > DP_BLOCKS_BYTES)
		*blocks /= 2;
	if (e->own)
		*blocks = 0;
}

void dp_account_begin(const struct dp_engine *e, u32 enter,
		      struct dp_account *a)
{
	*a = (struct dp_account){
		.entered = dp_engine_hits(e, enter) +
			   dp_engine_tally(e, enter, DP_TALLY_BROUGHT),
		.returned = dp_engine_tally(e, enter, DP_TALLY_RETURNED),
		.tail = dp_engine_tally(e, enter, DP_TALLY_TAIL_CALLED),
		.unwound = dp_engine_tally(e, enter, DP_TALLY_UNWOUND),
		.abandoned = dp_engine_tally(e, enter, DP_TALLY_ABANDONED),
		.inside = dp_engine_tally(e, enter, DP_TALLY_INSIDE),
		.missed = dp_engine_missed(e, enter) -
			  dp_engine_tally(e, enter, DP_TALLY_UNJUDGED),
		.damaged = dp_engine_tally(e, enter, DP_TALLY_DAMAGED),
		.unmet = dp_engine_tally(e, enter, DP_TALLY_UNMET),
		.unseen = dp_engine_tally(e, enter, DP_TALLY_UNSEEN),
		.cut = dp_engine_tally(e, enter, DP_TALLY_CUT),
	};
	a->lost =
		(s64)(a->entered - a->returned - a->tail - a->unwound -
		      a->abandoned - a->inside - a->missed - a->damaged -
		      a->unmet - dp_engine_tally(e, enter, DP_TALLY_DISABLED));
}

void dp_account_exit(const struct dp_engine *e, u32 exit, struct dp_account *a)
{
	u64 hits = dp_engine_hits(e, exit);

	if (e->probes[exit].way & DP_WAY_TAIL)
		a->tail += hits;
	else
		a->returned += hits;
	a->lost = (s64)((u64)a->lost - hits);
}

/* Its exits were added right behind it. */
void dp_engine_account(const struct dp_engine *e, u32 enter,
		       struct dp_account *a)
{
	u32 i;

	dp_account_begin(e, enter, a);
	for (i = enter + 1; i < e->nr_probes; i++) {
		if (e->probes[i].kind != DP_KIND_EXIT ||
		    e->probes[i].group != enter)
			break;
		dp_account_exit(e, i, a);
	}
}

void dp_instances_open(struct dp_engine *e)
{
	struct dp_arena_control *c = &e->arena->control;
	struct dp_exit_instances *v = &e->instances;
	u64 base = c->base + DP_ARENA_OFFSET;

	if (!c->line_off)
		return;
	v->tables = 1;
	v->instance_stride = c->instance_stride;
	v->table[0].line = (void *)((char *)e->arena + c->line_off);
	v->table[0].instances = (char *)e->arena + c->instance_off;
	v->table[0].lines = c->line_mask + 1;
	c->instance_tables[0].lines = base + c->line_off;
	c->instance_tables[0].instances = base + c->instance_off;
	c->instance_tables[0].line_mask = c->line_mask;
	c->nr_instance_tables = 1;
	if (!c->block_mask)
		return;
	if (!e->mirrored) {
		v->calls = (void *)((char *)e->arena + c->call_off);
		v->max_calls = c->max_sites;
	}
	if (e->own)
		return;
	v->blocks = c->block_mask + 1;
	v->block = (void *)((char *)e->arena + c->block_off);
	v->block_instances = (char *)e->arena + c->blocks_off;
}

/* Judged by the first lines of the newest table: the hash is even. */
static bool is_half_full(const struct dp_engine *e)
{
	u32 newest = e->instances.tables - 1, i, way, used = 0;
	const struct dp_instance_line *line = e->instances.table[newest].line;

	for (i = 0; i < SAMPLE; i++)
		for (way = 0; way < DP_INSTANCE_WAYS; way++)
			used += __atomic_load_n(&line[i].key[way],
						__ATOMIC_RELAXED) != 0;
	return used * 2 >= SAMPLE * DP_INSTANCE_WAYS;
}

static u32 further_lines(const struct dp_engine *e)
{
	return e->instances.table[e->instances.tables - 1].lines *
	       DP_INSTANCE_GROWTH;
}

static u64 further_bytes(const struct dp_engine *e)
{
	u64 size = further_lines(e) *
		   (sizeof(struct dp_instance_line) +
		    DP_INSTANCE_WAYS * (u64)e->instances.instance_stride);

	return (size + DP_PAGE - 1) & ~(u64)(DP_PAGE - 1);
}

u64 dp_engine_instances_want(const struct dp_engine *e)
{
	const struct dp_exit_instances *v = &e->instances;

	if (!e->arena || !v->tables || v->tables == DP_INSTANCE_TABLES)
		return 0;
	if (__atomic_load_n(&e->arena->hit.full, __ATOMIC_RELAXED) == v->full &&
	    !is_half_full(e))
		return 0;
	return further_bytes(e);
}

u64 dp_engine_instances_owed(const struct dp_engine *e,
			     const struct dp_engine *of)
{
	return e->instances.tables &&
			       e->instances.tables < of->instances.tables ?
		       further_bytes(e) :
		       0;
}

u64 dp_engine_instances_at(const struct dp_engine *e, u32 table)
{
	return table < e->instances.tables ?
		       e->arena->control.instance_tables[table].lines :
		       0;
}

void dp_engine_instances_grow(struct dp_engine *e, u64 addr, void *ours)
{
	struct dp_arena_control *c = &e->arena->control;
	struct dp_exit_instances *v = &e->instances;
	u32 i = v->tables, lines = further_lines(e);
	u64 keys = lines * sizeof(struct dp_instance_line);

	v->table[i].line = ours;
	v->table[i].instances = (char *)ours + keys;
	v->table[i].lines = lines;
	v->full = __atomic_load_n(&e->arena->hit.full, __ATOMIC_RELAXED);
	c->instance_tables[i].lines = addr;
	c->instance_tables[i].instances = addr + keys;
	c->instance_tables[i].line_mask = lines - 1;
	__atomic_store_n(&c->nr_instance_tables, ++v->tables, __ATOMIC_RELEASE);
}
