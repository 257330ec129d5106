// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * accounts: what has become of hits, and how probes are armed.
 *
 * Lock: each function takes dp_kmod's, but dp_kmod_data_hits(), which needs it.
 */
#include "kmod/shared.h"
#include "engine/layout/instance.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "kmod/mapped.h"
#include "kmod/returns.h"
#include "kmod/watches.h"
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/string.h>

/* Of data also those that came within hits */
static u64 hits_of(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	return !p || !p->data ? dp_engine_hits(dp_kmod.engine, probe) :
	       p->watch	      ? dp_watch_hits(p->watch) :
				p->hits;
}

u64 dp_kmod_data_hits(u32 probe)
{
	return hits_of(probe);
}

u64 dp_kmod_hits(u32 probe)
{
	return DP_KMOD_ASK((u64)0, hits_of(probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_hits, DPROBES);

u64 dp_client_within(const struct dp_client *c)
{
	return DP_KMOD_ASK((u64)0,
			   dp_engine_of_children(dp_kmod.engine) - c->within);
}

u64 dp_client_arrivals(const struct dp_client *c)
{
	return DP_KMOD_ASK((u64)0, dp_engine_interior_arrivals(dp_kmod.engine) -
					   c->arrivals);
}

/* Hits go on meanwhile: they are read first. */
static u64 missed_of(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);
	u64 hits = hits_of(probe), seen = dp_engine_hits(dp_kmod.engine, probe);

	return dp_engine_missed(dp_kmod.engine, probe) +
	       (p && p->data && hits > seen ? hits - seen : 0);
}

u64 dp_kmod_missed_of(u32 probe)
{
	return DP_KMOD_ASK((u64)0, missed_of(probe));
}

/* Sites of one that has been seen already */
static DECLARE_BITMAP(seen, DP_KMOD_PROBES);

static u32 count_sites(const struct dp_client *c, u32 *jumps)
{
	const struct dp_kmod_probe *p;
	u32 i, site, n = 0;

	bitmap_zero(seen, DP_KMOD_PROBES);
	*jumps = 0;
	for (i = 0; i < DP_KMOD_PROBES; i++) {
		p = dp_kmod_probe(i);
		if (!p || p->client != c || p->data || p->mapped || !p->addr)
			continue;
		site = dp_engine_site_of(dp_kmod.engine, i);
		if (test_and_set_bit(site, seen))
			continue;
		n++;
		*jumps += !strcmp(dp_engine_mode(dp_kmod.engine, i), "jump");
	}
	return n + dp_mapped_count(c);
}

u32 dp_client_sites(const struct dp_client *c, u32 *jumps)
{
	*jumps = 0;
	return DP_KMOD_ASK(0u, count_sites(c, jumps));
}

static int account(u32 probe, struct dp_account *a)
{
	dp_returns_account(probe, a);
	return 0;
}

int dp_kmod_calls(u32 probe, struct dp_account *a)
{
	return DP_KMOD_ASK(-ENOENT, account(probe, a));
}

/* What has been planned and not armed is nothing in the engine. */
static const char *mode(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	if (p && p->plan)
		return p->plan;
	/* To the engine a probe on a file is data, as it writes no text for it. */
	return p && p->mapped ? "trap" : dp_engine_mode(dp_kmod.engine, probe);
}

const char *dp_kmod_mode(u32 probe)
{
	return DP_KMOD_ASK((const char *)NULL, mode(probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_mode, DPROBES);

static const char *reason(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	if (p && p->mapped)
		return dp_mapped_reason(p->mapped);
	if (p && p->plan)
		return p->plan_reason;
	if (!p || p->state == DP_KMOD_THERE)
		return dp_engine_reason(dp_kmod.engine, probe);
	if (p->reason)
		return p->reason;
	return p->state == DP_KMOD_GONE ? "its module has gone" :
					  "its module is not loaded";
}

const char *dp_kmod_reason(u32 probe)
{
	return DP_KMOD_ASK((const char *)NULL, reason(probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_reason, DPROBES);

u64 dp_kmod_tally(u32 probe, enum dp_tally what)
{
	return DP_KMOD_ASK((u64)0,
			   dp_engine_tally(dp_kmod.engine, probe, what));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_tally, DPROBES);

u32 dp_kmod_status(u32 probe, s64 *count)
{
	u32 status = 0;

	*count = 0;
	mutex_lock(&dp_kmod.lock);
	if (dp_kmod.clients)
		dp_engine_state(dp_kmod.engine, probe, &status, count);
	mutex_unlock(&dp_kmod.lock);
	return status;
}
