// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* call: which call-outs come to code that counts calls (arch/x86/exits.S). */
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
#include "engine/layout/probe.h"
#include "engine/layout/ring.h"
#include "engine/plan/call.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

/* What makes a call more than two counts and a record of its time */
#define MORE (DP_WAY_JUDGED | DP_WAY_XMM)
/* An exit that has to be looked at before it is one */
#define DEPENDS (DP_WAY_TAKEN | DP_WAY_TAIL_TARGET)

/* Code in a detour costs eight times the memory of a call-out, and cache lines of its own: worth it for
 * functions that somebody has picked, not for all that there are. */
#define INLINE_SITES 1024

static bool can(const struct dp_engine *e)
{
	return e->rseq_usable && e->rseq.signature == DP_STREAM_SIGNATURE &&
	       e->instances.entries && !e->own;
}

/* Has its program anything to do? */
static bool has_work(const struct dp_probe *p)
{
	return p->bound && (p->binding.start != DP_NO_START ||
			    p->binding.leaves || p->binding.judged);
}

/* Records of calls go into streams as they are, at once, with their times. */
static bool can_time(const struct dp_engine *e)
{
	return e->arena && e->arena->control.stream_mask && e->tid_offset &&
	       !e->coarse && !e->block;
}

/* What code does for calls that begin at the entry @probe */
static enum dp_call_way begins(const struct dp_engine *e, u32 probe)
{
	const struct dp_probe *p = &e->probes[probe];

	if (p->kind != DP_KIND_ENTER || p->handlers.instance_pool ||
	    p->way & MORE || has_work(p))
		return DP_CALL_HITS;
	if (!(p->way & DP_WAY_LOGS))
		return p->bound ? DP_CALL_HITS : DP_CALL_BEGINS;
	return can_time(e) ? DP_CALL_BEGINS_TIMED : DP_CALL_HITS;
}

static enum dp_call_way finishes(const struct dp_engine *e, u32 probe)
{
	const struct dp_probe *p = &e->probes[probe];

	if (p->group == DP_NO_GROUP || p->way & DEPENDS)
		return DP_CALL_HITS;
	switch (begins(e, p->group)) {
	case DP_CALL_BEGINS:
		return DP_CALL_FINISHES;
	case DP_CALL_BEGINS_TIMED:
		return probe < DP_STREAM_PROBES ? DP_CALL_FINISHES_TIMED :
						  DP_CALL_HITS;
	default:
		return DP_CALL_HITS;
	}
}

enum dp_call_way dp_call_way_of(const struct dp_engine *e, u32 probe)
{
	if (!can(e))
		return DP_CALL_HITS;
	return e->probes[probe].kind == DP_KIND_EXIT ? finishes(e, probe) :
						       begins(e, probe);
}

enum dp_call_way dp_call_way(const struct dp_engine *e, const struct dp_site *s)
{
	u32 p = s->first_probe;

	if (!p || e->probes[p - 1].next || s->intercept >= 0)
		return DP_CALL_HITS;
	return dp_call_way_of(e, p - 1);
}

static u32 counter_of(const struct dp_engine *e, u32 probe)
{
	return (e->view.probe_counters + probe) * (u32)sizeof(u64);
}

struct dp_call_entry dp_call_entry(const struct dp_engine *e, u32 probe,
				   enum dp_call_way way)
{
	u32 group = e->probes[probe].group + 1;
	u32 exit = DP_CALL_EXIT |
		   (e->probes[probe].way & DP_WAY_SHARED ? DP_CALL_SHARED : 0);

	switch (way) {
	case DP_CALL_BEGINS:
	case DP_CALL_BEGINS_TIMED:
		return (struct dp_call_entry){
			probe + 1, counter_of(e, probe) | DP_CALL_ENTER
		};
	case DP_CALL_FINISHES:
		return (struct dp_call_entry){ group,
					       counter_of(e, probe) | exit };
	case DP_CALL_FINISHES_TIMED:
		return (struct dp_call_entry){ group,
					       probe << DP_CALL_SHIFT | exit };
	default:
		return (struct dp_call_entry){ 0 };
	}
}

bool dp_call_is_inline(const struct dp_engine *e, const struct dp_site *s)
{
	enum dp_call_way way = dp_call_way(e, s);

	return (way == DP_CALL_BEGINS || way == DP_CALL_FINISHES) &&
	       s - e->sites < INLINE_SITES;
}
