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
#include <linux/export.h>

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

u64 dp_kmod_missed(void)
{
	return DP_KMOD_ASK((u64)0, dp_engine_of_children(dp_kmod.engine));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_missed, DPROBES);

u64 dp_kmod_arrivals(void)
{
	return DP_KMOD_ASK((u64)0, dp_engine_interior_arrivals(dp_kmod.engine));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_arrivals, DPROBES);

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

u32 dp_kmod_sites(u32 *jumps)
{
	*jumps = (u32)DP_KMOD_ASK((size_t)0, dp_engine_jumps(dp_kmod.engine));
	return (u32)DP_KMOD_ASK((size_t)0, dp_engine_sites(dp_kmod.engine)) +
	       DP_KMOD_ASK(0u, dp_mapped_count());
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

void dp_kmod_calls_most(u32 n)
{
	mutex_lock(&dp_kmod.lock);
	dp_returns_most(n);
	mutex_unlock(&dp_kmod.lock);
}

const char *dp_kmod_mode(u32 probe)
{
	return DP_KMOD_ASK((const char *)NULL,
			   dp_engine_mode(dp_kmod.engine, probe));
}
EXPORT_SYMBOL_NS_GPL(dp_kmod_mode, DPROBES);

static const char *reason(u32 probe)
{
	const struct dp_kmod_probe *p = dp_kmod_probe(probe);

	if (p && p->mapped)
		return "it is in a file: the kernel's uprobes are breakpoints";
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
	if (dp_kmod.session)
		dp_engine_state(dp_kmod.engine, probe, &status, count);
	mutex_unlock(&dp_kmod.lock);
	return status;
}
