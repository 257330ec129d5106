// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mirror: an engine whose tables are another process's, for a tool that reads them. */
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/instance.h"
#include "engine/layout/ring.h"
#include "engine/site/build.h"
#include "engine/site/instances.h"
#include "engine/site/internal.h"
#include "engine/site/mirror.h"
#include "engine/site/program.h"
#include "port.h"

/* The process may have got more probes since. */
static int grow(struct dp_engine *e)
{
	struct dp_probe *bigger;
	u32 n = e->view.nr_probes;

	if (n > e->cap_probes) {
		bigger = dp_port_resize(e->probes, n * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		e->probes = bigger;
		while (e->cap_probes < n)
			e->probes[e->cap_probes++] =
				(struct dp_probe){ .group = DP_NO_GROUP };
	}
	e->nr_probes = n;
	return 0;
}

int dp_mirror_look(struct dp_engine *e, struct dp_arena *arena, u64 size)
{
	int err = dp_view_open(&e->view, arena, size);

	if (!err)
		err = grow(e);
	e->arena = err ? NULL : arena;
	return err;
}

static bool is_power(u64 n)
{
	return n && !(n & (n - 1));
}

static bool lies_in(u64 offset, u64 bytes, u64 from, u64 to)
{
	return !(offset % 8) && offset >= from && bytes <= to &&
	       offset <= to - bytes;
}

static bool rings_fit(const struct dp_arena_control *c, u64 to)
{
	u64 slots = (u64)c->slot_mask + 1;

	return is_power(slots) && is_power((u64)c->shard_mask + 1) &&
	       c->shard_mask < DP_MAX_SHARDS && !(c->slot_size % 8) &&
	       !(c->ring_stride % 8) && c->slot_size > sizeof(struct dp_slot) &&
	       c->ring_stride >= sizeof(struct dp_ring) &&
	       slots <= (c->ring_stride - sizeof(struct dp_ring)) /
				c->slot_size &&
	       lies_in(c->ring_off, (u64)c->ring_stride * (c->shard_mask + 1),
		       c->ring_off, to);
}

static bool instances_fit(const struct dp_arena_control *c, u64 to)
{
	u64 lines = (u64)c->line_mask + 1;

	return is_power(lines) && lines <= DP_INSTANCE_LINES &&
	       !(c->instance_stride % 8) &&
	       c->instance_stride >= sizeof(struct dp_exit_instance) &&
	       lies_in(c->line_off, lines * sizeof(struct dp_instance_line),
		       c->ring_off, to) &&
	       lies_in(c->instance_off,
		       lines * DP_INSTANCE_WAYS * c->instance_stride,
		       c->ring_off, to);
}

/* The rings come first. */
bool dp_mirror_part(const struct dp_engine *e, u64 *from, u64 *to)
{
	const struct dp_arena_control *c = &e->arena->control;

	*from = c->ring_off;
	*to = c->private_off;
	return !((*from | *to) & (DP_PAGE - 1)) &&
	       *from >= sizeof(struct dp_arena) && *to <= c->arena_size &&
	       *from < *to && rings_fit(c, *to) && instances_fit(c, *to) &&
	       c->nr_gv == DP_VARS_MAX &&
	       lies_in(c->gv_off, ((u64)c->nr_gv + c->max_locals) * sizeof(u64),
		       *from, *to);
}

void dp_mirror_open(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;

	e->shards = c->shard_mask + 1;
	e->gv_off = c->gv_off;
	e->max_locals = c->max_locals;
	/* It has no streams, whatever it says. */
	e->mirrored = true;
	dp_reader_open(e);
	dp_instances_open(e);
}

bool dp_mirror_programs(struct dp_engine *e)
{
	u32 i, used = 0;

	for (i = 0; i < e->nr_programs; i++) {
		struct dp_program *p = &e->programs[i];

		if (used + p->spec.nr_lv > e->max_locals)
			return false;
		p->lv_off = e->gv_off + (DP_VARS_MAX + used) * (u32)sizeof(u64);
		used += p->spec.nr_lv;
	}
	return true;
}

const struct dp_view *dp_mirror_view(const struct dp_engine *e)
{
	return &e->view;
}

void dp_mirror_probe(struct dp_engine *e, u32 probe, u8 kind, u32 way,
		     u32 group)
{
	e->probes[probe] =
		(struct dp_probe){ .kind = kind, .way = way, .group = group };
}

void dp_mirror_doubt(struct dp_engine *e)
{
	e->reader.torn++;
}
