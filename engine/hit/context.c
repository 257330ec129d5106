// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * context: the fixed pool of contexts for hits with programs.
 *
 * A context is claimed without a lock. A nested hit takes another one. Each CPU begins
 * its search at its own place in the pool, which is nearly always free.
 */
#include "engine/hit/hit.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/hit/program.h"
#include "engine/hit/thread.h"
#include "engine/ring/log.h"
#include "arch/arch.h"
#include "port.h"

#define APART 8

static struct dp_context *contexts(void)
{
	return dp_at(dp_arena.control.context_off);
}

static bool on_alternate(const struct dp_hit *alt, u64 sp)
{
	return sp - alt->alt_sp < alt->alt_size;
}

/* A thread whose stack pointer is at its old hit's, or above, has left that hit by
 * siglongjmp out of a signal handler. */
static bool is_left(const struct dp_context *ctx, u32 tid,
		    const struct dp_hit *hit)
{
	u64 sp = hit->sp;
	struct dp_hit alt = *hit;

	if (ctx->tid != tid || ctx->sp > sp)
		return false;
	if (alt.alt_size == DP_ALT_UNKNOWN)
		dp_port_altstack(&alt.alt_sp, &alt.alt_size);
	return on_alternate(&alt, ctx->sp) == on_alternate(&alt, sp);
}

static bool take_over(struct dp_context *ctx, u32 tid, const struct dp_hit *hit)
{
	u32 is = __atomic_load_n(&ctx->state, __ATOMIC_RELAXED);

	if (is == DP_CONTEXT_RUNS)
		return is_left(ctx, tid, hit);
	return is == DP_CONTEXT_FREE &&
	       __atomic_compare_exchange_n(&ctx->state, &is, DP_CONTEXT_RUNS,
					   false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

struct dp_context *dp_context_claim(const struct dp_hit *hit)
{
	u32 n = dp_arena.control.nr_contexts, from = dp_hit_cpu() * APART, i;
	u32 tid = dp_hit_tid();

	for (i = 0; i < n; i++) {
		struct dp_context *ctx = &contexts()[(from + i) % n];

		if (!take_over(ctx, tid, hit))
			continue;
		ctx->sp = hit->sp;
		__atomic_store_n(&ctx->tid, tid, __ATOMIC_RELEASE);
		return ctx;
	}
	return NULL;
}

void dp_context_release(struct dp_context *ctx)
{
	/* A running context with a thread's id belongs to that thread. */
	ctx->tid = 0;
	__atomic_store_n(&ctx->state, DP_CONTEXT_FREE, __ATOMIC_RELEASE);
}

void dp_context_suspend(struct dp_context *ctx)
{
	__atomic_fetch_add(&dp_probe_state(ctx->probe)->waiting, 1,
			   __ATOMIC_RELAXED);
	__atomic_fetch_add(&dp_arena.hit.pending, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ctx->state, DP_CONTEXT_PENDING, __ATOMIC_RELEASE);
}

/* Take a pending context out of those that wait. */
static bool take(struct dp_context *ctx)
{
	u32 is = DP_CONTEXT_PENDING;

	if (!__atomic_compare_exchange_n(&ctx->state, &is, DP_CONTEXT_RUNS,
					 false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	/* A hit in a signal handler, meanwhile, must not take the context for left. */
	ctx->sp = ~0ull;
	__atomic_fetch_sub(&dp_probe_state(ctx->probe)->waiting, 1,
			   __ATOMIC_RELAXED);
	__atomic_fetch_sub(&dp_arena.hit.pending, 1, __ATOMIC_RELAXED);
	return true;
}

static bool waits(const struct dp_context *ctx, u32 tid)
{
	return __atomic_load_n(&ctx->state, __ATOMIC_ACQUIRE) ==
		       DP_CONTEXT_PENDING &&
	       ctx->tid == tid;
}

/* Hits nest, through signal handlers: the innermost completes first. */
static u64 latest(u32 tid, u32 site)
{
	u64 serial = 0;
	u32 i;

	for (i = 0; i < dp_arena.control.nr_contexts; i++) {
		const struct dp_context *ctx = &contexts()[i];

		if (waits(ctx, tid) && ctx->site == site &&
		    ctx->serial > serial)
			serial = ctx->serial;
	}
	return serial;
}

/* The records of one hit, in the order of its probes. */
static struct dp_context *first_of(u32 tid, u64 serial)
{
	struct dp_context *first = NULL;
	u32 i;

	for (i = 0; i < dp_arena.control.nr_contexts; i++) {
		struct dp_context *ctx = &contexts()[i];

		if (waits(ctx, tid) && ctx->serial == serial &&
		    (!first || ctx->probe < first->probe))
			first = ctx;
	}
	return first;
}

void dp_pending_complete(const struct dp_site_entry *site,
			 const struct dp_hit *hit)
{
	u32 tid = dp_hit_tid();
	u64 serial = latest(tid, dp_site_index(site));
	struct dp_context *ctx;

	while (serial && (ctx = first_of(tid, serial)))
		if (take(ctx)) {
			ctx->hit = (u64)hit;
			dp_facility_due(ctx, DP_FACILITY_COMMITS);
			dp_log_commit(ctx);
			dp_context_release(ctx);
		}
}

/* A thread that has come up its stack past a hit does not go back into it. Hits on the
 * thread's other stack are left alone. */
void dp_pending_abandon(u32 tid, const struct dp_hit *hit)
{
	struct dp_hit alt = *hit;
	u64 sp = hit->sp;
	u32 i;

	if (alt.alt_size == DP_ALT_UNKNOWN)
		dp_port_altstack(&alt.alt_sp, &alt.alt_size);
	for (i = 0; i < dp_arena.control.nr_contexts; i++) {
		struct dp_context *ctx = &contexts()[i];

		if (waits(ctx, tid) && ctx->sp <= sp &&
		    on_alternate(&alt, ctx->sp) == on_alternate(&alt, sp) &&
		    take(ctx)) {
			dp_log_discard(ctx);
			dp_context_release(ctx);
		}
	}
}
