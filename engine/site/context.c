// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * context: the contexts of hits, as control sees them.
 *
 * Contexts are the target's private memory, because threads run on them. The number of
 * waiting records is in the arena, which can be read after the process has ended.
 */
#include "engine/layout/arena.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/internal.h"
#include "engine/text/target.h"

/* The part of each that control reads: the rest is a stack, and a machine's state. */
struct head {
	u32 state, tid, probe;
};

_Static_assert(offsetof(struct dp_context, state) == 0 &&
		       offsetof(struct dp_context, tid) == 4 &&
		       offsetof(struct dp_context, probe) == 8,
	       "struct head is how a struct dp_context begins");

static u64 address_of(const struct dp_engine *e, u32 i)
{
	const struct dp_arena_control *c = &e->arena->control;

	return c->base + DP_ARENA_OFFSET + c->context_off +
	       (u64)i * sizeof(struct dp_context);
}

static struct dp_context *own(const struct dp_engine *e)
{
	return (void *)((char *)e->arena + e->arena->control.context_off);
}

bool dp_live_runs_programs(const struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->arena->control.nr_contexts; i++)
		if (__atomic_load_n(&own(e)[i].state, __ATOMIC_SEQ_CST) ==
		    DP_CONTEXT_RUNS)
			return true;
	return false;
}

static int free_one(const struct dp_engine *e, struct dp_target *target, u32 i)
{
	static const u32 none = DP_CONTEXT_FREE;

	return target->ops->write(target, address_of(e, i), &none,
				  sizeof(none));
}

/* Count records as discarded, and no longer as waiting. */
static void discard(struct dp_engine *e, u32 probe, u32 n)
{
	struct dp_probe_state *s = &e->view.states[probe];

	__atomic_fetch_sub(&s->waiting, n, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&e->arena->hit.pending, n, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->tally[DP_TALLY_DISCARDED], n, __ATOMIC_RELAXED);
}

u64 dp_engine_waiting(const struct dp_engine *e)
{
	return e->arena && e->nr_programs ?
		       __atomic_load_n(&e->arena->hit.pending,
				       __ATOMIC_RELAXED) :
		       0;
}

void dp_engine_settle(struct dp_engine *e, struct dp_target *target,
		      bool (*alive)(void *, u32), void *arg)
{
	struct head h;
	u32 i;

	if (!dp_engine_waiting(e))
		return;
	for (i = 0; i < DP_CONTEXTS; i++)
		if (!target->ops->read(target, address_of(e, i), &h,
				       sizeof(h)) &&
		    h.state == DP_CONTEXT_PENDING && h.probe < e->nr_probes &&
		    !alive(arg, h.tid) && !free_one(e, target, i))
			discard(e, h.probe, 1);
}

/* As the thread itself takes it: the two may meet. */
static void discard_own(struct dp_engine *e, struct dp_context *ctx)
{
	u32 is = DP_CONTEXT_PENDING, probe = ctx->probe;

	if (!__atomic_compare_exchange_n(&ctx->state, &is, DP_CONTEXT_RUNS,
					 false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	if (probe < e->nr_probes)
		discard(e, probe, 1);
	ctx->tid = 0;
	__atomic_store_n(&ctx->state, DP_CONTEXT_FREE, __ATOMIC_RELEASE);
}

void dp_live_settle(struct dp_engine *e, bool (*over)(u32 tid, u32 probe))
{
	struct dp_context *ctx = own(e);
	u32 i;

	for (i = 0; i < e->arena->control.nr_contexts; i++)
		if (__atomic_load_n(&ctx[i].state, __ATOMIC_ACQUIRE) ==
			    DP_CONTEXT_PENDING &&
		    over(ctx[i].tid, ctx[i].probe))
			discard_own(e, &ctx[i]);
}

void dp_engine_settle_all(struct dp_engine *e)
{
	u32 i;

	if (!dp_engine_waiting(e))
		return;
	for (i = 0; i < e->nr_probes; i++)
		discard(e, i,
			__atomic_load_n(&e->view.states[i].waiting,
					__ATOMIC_RELAXED));
}

static void take_along(struct dp_engine *e, struct dp_target *target, u32 i,
		       const struct head *h, u32 is)
{
	u64 tid = address_of(e, i) + offsetof(struct head, tid);

	target->ops->write(target, tid, &is, sizeof(is));
	if (h->state != DP_CONTEXT_PENDING || h->probe >= e->nr_probes)
		return;
	e->view.states[h->probe].waiting++;
	e->arena->hit.pending++;
}

void dp_engine_fork_contexts(struct dp_engine *e, struct dp_target *target,
			     u32 was, u32 is)
{
	struct head h;
	u32 i;

	for (i = 0; i < e->arena->control.nr_contexts; i++) {
		if (target->ops->read(target, address_of(e, i), &h, sizeof(h)))
			return;
		if (h.state == DP_CONTEXT_FREE)
			continue;
		if (h.tid == was)
			take_along(e, target, i, &h, is);
		else
			free_one(e, target, i);
	}
}
