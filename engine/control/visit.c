// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* visit: calls that are followed from entry to exit: see engine/hit/visit.c. */
#include "engine/control/internal.h"

int dp_engine_follow(struct dp_engine *e, u32 probe, bool logs)
{
	struct dp_probe *p = &e->probes[probe];

	if (probe >= DP_VISIT_GROUPS)
		return -ENOMEM;
	p->kind = DP_KIND_ENTER;
	p->way = logs ? DP_WAY_LOGS : 0;
	e->sites[p->site].visits = true;
	e->visits.entries++;
	return 0;
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
	e->sites[e->probes[*probe].site].visits = true;
	return 0;
}

void dp_engine_admit(struct dp_engine *e, bool may)
{
	u32 i;

	for (i = 0; e->arena && i < e->nr_probes; i++)
		if (e->probes[i].kind == DP_KIND_ENTER)
			__atomic_store_n((u32 *)&e->view.probes[i].enabled, may,
					 __ATOMIC_RELEASE);
}

static u32 staged(const struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->nr_probes; i++)
		if (e->probes[i].way & DP_WAY_LOGS)
			return dp_programs_longest(e);
	return 0;
}

void dp_visits_measure(const struct dp_engine *e, u32 *lines, u32 *stride)
{
	*stride = ((u32)sizeof(struct dp_visit) + staged(e) + 7) & ~7u;
	*lines = DP_VISIT_LINES;
	while (*lines * DP_VISIT_WAYS * (u64)*stride > DP_VISIT_BYTES)
		*lines /= 2;
}

void dp_engine_account(const struct dp_engine *e, u32 enter,
		       struct dp_account *a)
{
	u32 i;

	*a = (struct dp_account){
		.abandoned = dp_engine_tally(e, enter, DP_TALLY_ABANDONED),
		.missed = dp_engine_missed(e, enter),
		.damaged = dp_engine_tally(e, enter, DP_TALLY_DAMAGED),
	};
	/* Its exits were added behind it. */
	for (i = enter + 1; i < e->nr_probes; i++) {
		const struct dp_probe *p = &e->probes[i];

		if (p->kind != DP_KIND_EXIT || p->group != enter)
			break;
		if (p->way & DP_WAY_TAIL)
			a->tail += dp_engine_hits(e, i);
		else
			a->returned += dp_engine_hits(e, i);
	}
}

static const struct dp_visit_line *lines_of(const struct dp_engine *e)
{
	return (const void *)((const char *)e->arena + e->visits.line_off);
}

static const struct dp_visit *visit_at(const struct dp_engine *e, u32 index)
{
	return (const void *)((const char *)e->arena + e->visits.visit_off +
			      (u64)index * e->visits.visit_stride);
}

/* What the target may have written there is only believed if it is a key. */
static bool copy_visit(const struct dp_engine *e, u32 index, u64 key,
		       struct dp_visit_copy *copy)
{
	const struct dp_visit *v = visit_at(e, index);
	u64 group = (key >> DP_VISIT_SLOT_BITS) - 1;

	if (group >= e->nr_probes || e->probes[group].kind != DP_KIND_ENTER)
		return false;
	*copy = (struct dp_visit_copy){
		.index = index,
		.probe = (u32)group,
		.slot = key << 3 & ((1ull << (DP_VISIT_SLOT_BITS + 3)) - 1),
		.serial = __atomic_load_n(&v->serial, __ATOMIC_RELAXED),
	};
	/* One that is not complete says nothing of its return address. */
	if (__atomic_load_n(&v->slot, __ATOMIC_ACQUIRE) == copy->slot)
		copy->ret = __atomic_load_n(&v->ret, __ATOMIC_RELAXED);
	return true;
}

size_t dp_engine_visits(const struct dp_engine *e,
			void (*take)(void *, const struct dp_visit_copy *),
			void *arg)
{
	struct dp_visit_copy copy;
	size_t n = 0;
	u32 i, way;

	for (i = 0; e->arena && i < e->visits.lines; i++)
		for (way = 0; way < DP_VISIT_WAYS; way++) {
			u64 key = __atomic_load_n(&lines_of(e)[i].key[way],
						  __ATOMIC_ACQUIRE);

			if (!key ||
			    !copy_visit(e, i * DP_VISIT_WAYS + way, key, &copy))
				continue;
			take(arg, &copy);
			n++;
		}
	return n;
}

bool dp_engine_visits_still(const struct dp_engine *e,
			    const struct dp_visit_copy *v)
{
	const struct dp_visit_line *l = &lines_of(e)[v->index / DP_VISIT_WAYS];
	u64 key = __atomic_load_n(&l->key[v->index % DP_VISIT_WAYS],
				  __ATOMIC_ACQUIRE);

	return key == dp_visit_key(v->probe, v->slot) &&
	       __atomic_load_n(&visit_at(e, v->index)->serial,
			       __ATOMIC_RELAXED) == v->serial;
}

void dp_engine_visit_record(const struct dp_engine *e,
			    const struct dp_visit_copy *copy,
			    struct dp_record_copy *record)
{
	const struct dp_visit *v = visit_at(e, copy->index);
	struct dp_leaving leaving = { .entered = v->ticks,
				      .how = DP_LEFT_ABANDONED };
	u32 most = e->visits.visit_stride - (u32)sizeof(*v), len = v->len, i;
	const u8 *from = (const u8 *)(v + 1);
	u8 *to = record->data + sizeof(leaving);

	len = len < most ? len : most;
	record->head = (struct dp_record){
		.ticks = dp_engine_ticks(),
		.probe = copy->probe,
		.tid = v->tid,
		.len = (u16)(sizeof(leaving) + len),
	};
	__builtin_memcpy(record->data, &leaving, sizeof(leaving));
	for (i = 0; i < len; i++)
		to[i] = from[i];
}
