// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* call: which call-outs come to code that counts calls (arch/x86/exits.S). */
#include "arch/arch.h"
#include "engine/layout/probe.h"
#include "engine/plan/call.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

/* What makes a call more than two counts */
#define MORE (DP_WAY_LOGS | DP_WAY_JUDGED)
/* An exit that has to be looked at before it is one */
#define DEPENDS (DP_WAY_TAKEN | DP_WAY_SHARED | DP_WAY_TAIL_TARGET)

static bool can(const struct dp_engine *e)
{
	return e->rseq_usable && e->rseq.signature == DP_STREAM_SIGNATURE &&
	       e->instances.entries && !e->own;
}

static bool is_counted(const struct dp_engine *e, u32 probe)
{
	const struct dp_probe *p = &e->probes[probe];

	return p->kind == DP_KIND_ENTER && !p->bound && !(p->way & MORE) &&
	       !p->handlers.instance_pool;
}

enum dp_call_way dp_call_way_of(const struct dp_engine *e, u32 probe)
{
	const struct dp_probe *p = &e->probes[probe];

	if (!can(e))
		return DP_CALL_HITS;
	if (is_counted(e, probe))
		return DP_CALL_BEGINS;
	if (p->kind == DP_KIND_EXIT && p->group != DP_NO_GROUP &&
	    !(p->way & DEPENDS) && is_counted(e, p->group))
		return DP_CALL_FINISHES;
	return DP_CALL_HITS;
}

enum dp_call_way dp_call_way(const struct dp_engine *e, const struct dp_site *s)
{
	u32 p = s->first_probe;

	if (!p || e->probes[p - 1].next || s->intercept >= 0)
		return DP_CALL_HITS;
	return dp_call_way_of(e, p - 1);
}
