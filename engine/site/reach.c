// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* reach: how many bytes a site's jump may displace, by the function around the site. */
#include "engine/insn/region.h"
#include "engine/plan/jump.h"
#include "engine/site/internal.h"
#include "engine/site/reach.h"
#include "engine/site/site.h"

void dp_engine_allow_jump(struct dp_engine *e, u32 probe,
			  const struct dp_reach *g)
{
	struct dp_site *s = &e->sites[e->probes[probe].site];
	size_t at = s->addr - g->start, i;
	const u8 *code = g->code + at;
	const char *why;

	if (s->region.nr || s->place || at >= g->function)
		return;
	if (dp_region_decode(code, g->size - at, g->room, &s->region,
			     &s->why)) {
		s->region.nr = 0;
		return;
	}
	why = dp_region_entered(&s->region, s->addr, &g->entries);
	if (why) {
		s->region.nr = 0;
		s->why = why;
		return;
	}
	for (i = s->facts.len; i < s->region.len; i++)
		s->code[i] = code[i];
	s->size = s->region.len;
	s->arrivals = g->arrivals;
}

void dp_engine_forbid_jump(struct dp_engine *e, u32 probe, const char *why)
{
	struct dp_site *s = &e->sites[e->probes[probe].site];

	if (s->place)
		return;
	s->region.nr = 0;
	s->why = why;
}

bool dp_engine_may_jump(const struct dp_engine *e, u32 probe, const char **why)
{
	const struct dp_site *s = &e->sites[e->probes[probe].site];

	*why = s->why;
	return s->region.nr && !s->region.returns;
}

/* The jump of a site that there is goes on to the served one. */
static bool go_on(struct dp_site *s, const struct dp_region *region,
		  const u8 *code)
{
	u8 i;

	if (s->serves)
		return s->serves == region->len;
	if (s->place || !s->region.nr || s->region.len > region->len ||
	    s->intercept >= 0)
		return false;
	for (i = 0; i < region->len; i++)
		s->code[i] = code[i];
	s->region = *region;
	s->size = s->serves = region->len;
	return true;
}

bool dp_engine_start_early(struct dp_engine *e, u64 addr, const u8 *code,
			   size_t size, bool arrivals)
{
	struct dp_region region;
	struct dp_site *s = dp_engine_find(e, addr);
	const char *why;

	if (dp_region_decode_all(code, size, &region, &why) || region.returns)
		return false;
	if (s)
		return go_on(s, &region, code);
	if (dp_site_take(e, addr, code, size, &s, &why))
		return false;
	s->region = region;
	s->size = s->serves = region.len;
	s->early = true;
	s->arrivals = arrivals;
	return true;
}

/* The site whose region has the instruction at @addr, or NULL */
static struct dp_site *around(const struct dp_engine *e, u64 addr)
{
	struct dp_site *s;
	u64 d;

	for (d = 0; d < DP_REGION_MAX; d++) {
		s = dp_engine_find(e, addr - d);
		if (s && dp_jump_insn_at(s, addr) >= 0)
			return s;
	}
	return NULL;
}

static struct dp_site *begin_branch(struct dp_engine *e, u64 addr,
				    const u8 *code, size_t size)
{
	struct dp_region region;
	struct dp_site *s;
	const char *why;

	if (dp_engine_find(e, addr) ||
	    dp_region_decode(code, size, size, &region, &why) ||
	    region.returns || dp_site_take(e, addr, code, size, &s, &why))
		return NULL;
	s->region = region;
	s->size = region.len;
	s->early = s->arrivals = true;
	return s;
}

void dp_engine_duplicate(struct dp_engine *e, u32 probe, u64 addr,
			 const u8 *code, size_t size)
{
	struct dp_site *to = &e->sites[e->probes[probe].site];
	struct dp_site *s;
	u64 target = to->addr;

	if (to->facts.class != DP_INSN_RET || to->region.nr)
		return;
	s = around(e, addr);
	if (!s)
		s = begin_branch(e, addr, code, size);
	/* The sites may be elsewhere now. */
	if (!s || s->place || s->branches_to)
		return;
	s->branches_to = target;
	e->sites[e->probes[probe].site].duplicated = true;
}
