// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jump: which sites are armed with a jump, and their detours.
 *
 * A jump covers five bytes. A site within them belongs to the jump of the site before it.
 * The same detour calls its probes, ahead of its own instruction. For threads that branch
 * to it, its first byte is a breakpoint inside the jump.
 */
#include "arch/arch.h"
#include "engine/insn/detour.h"
#include "engine/insn/region.h"
#include "engine/insn/callout.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "engine/plan/copy.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"

/* The instruction of a region that begins at @addr, or -1. */
static int insn_at(const struct dp_site *s, u64 addr)
{
	int i;

	for (i = 0; i < s->region.nr; i++)
		if (s->addr + s->region.at[i] == addr)
			return i;
	return -1;
}

void dp_jump_cover_none(struct dp_site *s)
{
	int k;

	for (k = 0; k < DP_REGION_INSNS; k++)
		s->covers[k] = 0;
}

bool dp_jump_cover(struct dp_site *lead, struct dp_site *s)
{
	int k = insn_at(lead, s->addr);

	if (k <= 0)
		return false;
	lead->covers[k] = s->place;
	s->leader = lead->place;
	return true;
}

void dp_jump_give_up(struct dp_engine *e, u32 i, const char *why)
{
	u32 leader = i + 1;

	dp_jump_cover_none(dp_order_site(e, i));
	do {
		dp_order_site(e, i)->mode = DP_MODE_TRAP;
		dp_order_site(e, i)->leader = 0;
		dp_order_site(e, i)->why = why;
		i++;
	} while (i < dp_batch_end(e) && dp_order_site(e, i)->leader == leader);
}

static bool meets_intercept(const struct dp_engine *e, u32 i)
{
	const struct dp_site *s = dp_order_site(e, i), *other;
	u32 j;

	if (i > e->batch.first) {
		other = dp_order_site(e, i - 1);
		if (other->intercept >= 0 &&
		    other->addr + other->region.len > s->addr)
			return true;
	}
	for (j = i + 1; j < dp_batch_end(e); j++) {
		other = dp_order_site(e, j);
		if (other->addr >= s->addr + s->region.len)
			break;
		if (other->intercept >= 0)
			return true;
	}
	return false;
}

void dp_jump_note_traps(const struct dp_engine *e, struct dp_site *s)
{
	int i;

	s->traps = 0;
	/* An intercept replaces one instruction, and is written while no thread runs. */
	if (e->arming == DP_ARM_QUIESCE || s->intercept >= 0)
		return;
	for (i = 1; i < s->region.nr; i++)
		s->traps |= (u8)(1u << s->region.at[i]);
}

/* Bytes within which a later site belongs to the jump of this one. */
static u64 reach(const struct dp_site *s)
{
	return s->intercept < 0 ? DP_JUMP_SIZE : s->region.len;
}

/* Put a site inside the jump of the @lead-th site. Return: false if that is not possible;
 * then that jump has been given up. */
static bool join(struct dp_engine *e, u32 lead, struct dp_site *s)
{
	if (s->intercept < 0 && dp_jump_cover(dp_order_site(e, lead), s)) {
		s->mode = DP_MODE_JUMP;
		return true;
	}
	dp_jump_give_up(e, lead, DP_WHY_OVERLAP);
	return false;
}

/* Can this site begin a jump? */
static bool leads(const struct dp_engine *e, u32 i)
{
	struct dp_site *s = dp_order_site(e, i);

	if (s->intercept >= 0)
		return true;
	if (e->arming == DP_ARM_TRAP)
		s->why = "breakpoints were asked for";
	else if (s->region.nr && meets_intercept(e, i))
		s->why = DP_WHY_OVERLAP;
	else if (s->region.nr && s->region.returns &&
		 e->arming == DP_ARM_QUIESCE)
		s->why = DP_WHY_RETURNS;
	else
		return s->region.nr != 0;
	return false;
}

void dp_jumps_choose(struct dp_engine *e)
{
	u32 i, lead = 0; /* 1 + place in the order */

	for (i = e->batch.first; i < dp_batch_end(e); i++) {
		struct dp_site *s = dp_order_site(e, i);

		s->mode = DP_MODE_TRAP;
		s->leader = 0;
		dp_jump_cover_none(s);
		s->island = 0;
		s->last = 0;
		if (lead &&
		    s->addr - dp_order_site(e, lead - 1)->addr <
			    reach(dp_order_site(e, lead - 1)) &&
		    join(e, lead - 1, s))
			continue;
		lead = 0;
		if (!leads(e, i))
			continue;
		s->mode = DP_MODE_JUMP;
		dp_jump_note_traps(e, s);
		lead = i + 1;
	}
}

u32 dp_jump_room(const struct dp_engine *e, const struct dp_site *s)
{
	return DP_DETOUR_MAX / 4 + s->region.nr * DP_DETOUR_MAX / 8 +
	       DP_DETOUR_ALIGN;
}

static bool counts_alone(const struct dp_engine *e, const struct dp_site *s)
{
	return e->rseq_usable && !s->records && !s->instances &&
	       s->intercept < 0 && (e->max_sites || s->first_probe);
}

static void fill_jump(struct dp_jump *j, const struct dp_site *s,
		      const struct dp_detour *d, u64 at)
{
	int i;

	j->base = at;
	j->island = s->island;
	j->len = d->len;
	j->start = d->start;
	j->nr = s->region.nr;
	j->size = s->region.len;
	j->atomic = d->atomic;
	for (i = 0; i < j->nr; i++) {
		j->at[i] = d->at[i];
		j->insn[i] = d->insn[i];
		j->offset[i] = s->region.at[i];
	}
	j->at[i] = d->at[i];
}

/* The site at the k-th instruction: itself, or one that its jump covers, or NULL. */
static const struct dp_site *member_at(const struct dp_engine *e,
				       const struct dp_site *s, int k)
{
	if (!k)
		return s;
	return s->covers[k] ? dp_order_site(e, s->covers[k] - 1) : NULL;
}

/* The number of a call-out before instruction @k. A detour counts for the first one alone,
 * if for any. */
static u32 number_of(const struct dp_site *member, int k, bool counts)
{
	u32 number = member->place - 1;

	if (k)
		return number | DP_CALLOUT_UNCOUNTED | DP_CALLOUT_INNER;
	return counts ? number : number | DP_CALLOUT_UNCOUNTED;
}

static u32 number_after(const struct dp_site *member)
{
	return (member->place - 1) | DP_CALLOUT_UNCOUNTED | DP_CALLOUT_AFTER;
}

/* Choose the call-outs for the site and for sites that its jump covers. */
static void encode(const struct dp_engine *e, u32 i,
		   struct dp_detour_spec *spec)
{
	const struct dp_site *s = dp_order_site(e, i), *member;
	int k;

	for (k = 0; k < s->region.nr; k++) {
		member = member_at(e, s, k);
		if (!member)
			continue;
		/* A process that probes itself may add probes later. */
		if (member->first_probe ||
		    (s->observed && (u32)s->intercept != DP_PLAIN_CALL) ||
		    e->max_sites)
			spec->before[k] = number_of(member, k, spec->rseq) + 1;
		if (dp_site_needs_post(member))
			spec->after[k] = number_after(member) + 1;
	}
	if (s->observed)
		spec->after[s->region.nr - 1] = number_after(s) + 1;
	if ((u32)s->intercept == DP_PLAIN_CALL)
		spec->call = (i | DP_CALLOUT_CALLS) + 1;
}

/* In an engine whose probes come and go, a site that is covered keeps its own copy. */
static void fill_members(const struct dp_engine *e, const struct dp_site *s,
			 struct dp_jump *j, const struct dp_detour *d, u64 at)
{
	const struct dp_site *member;
	struct dp_site_entry *entry;
	int k;

	for (k = 0; k < s->region.nr; k++) {
		member = member_at(e, s, k);
		if (!member)
			continue;
		if (e->max_sites && s->intercept < 0) {
			j->member[k] = member->place;
			continue;
		}
		entry = &e->view.sites[member->place - 1];
		entry->copy = at + d->insn[k];
		entry->calls_out = dp_site_needs_post(member);
	}
}

/* Is one of its probes a return probe? */
static bool has_returns(const struct dp_engine *e, const struct dp_site *s)
{
	u32 p;

	for (p = s->first_probe; p; p = e->probes[p - 1].next)
		if (e->probes[p - 1].kind == DP_KIND_RETURN)
			return true;
	return false;
}

bool dp_jump_is_tracked(const struct dp_engine *e, const struct dp_site *s)
{
	return e->max_sites && counts_alone(e, s) && has_returns(e, s);
}

int dp_jump_plan(const struct dp_engine *e, u32 i, struct dp_jump *j, u64 at,
		 u8 *out, u64 stubs, u64 intercept_entry)
{
	const struct dp_site *s = dp_order_site(e, i);
	struct dp_detour_spec spec = {
		.from = s->addr,
		.at = at,
		.entry = stubs +
			 (s->intercept < 0 ? DP_STUB_HIT : DP_STUB_OBSERVE),
		.code = s->code,
		.region = &s->region
	};
	struct dp_detour d;
	u16 n;
	int err;

	if (s->intercept >= 0 && !s->observed) {
		spec.intercept_entry = intercept_entry;
		spec.intercept = (u32)s->intercept;
	}
	if (counts_alone(e, s)) {
		spec.rseq = &e->rseq;
		spec.table = e->arena->control.base + DP_TABLE_OFFSET;
		spec.counter = i * (u32)sizeof(u64);
	}
	encode(e, i, &spec);
	spec.self = e->arena->control.self_offset;
	if (dp_jump_is_tracked(e, s))
		spec.tracked = stubs + DP_STUB_TRACKED;
	if (e->max_sites)
		spec.enable_word =
			e->arena->control.base + DP_ARENA_OFFSET +
			e->arena->control.site_off +
			i * sizeof(struct dp_site_entry) +
			__builtin_offsetof(struct dp_site_entry, enable_word);
	err = dp_detour_make(&spec, &d);
	if (err)
		return err;
	for (n = 0; n < d.len; n++)
		out[n] = d.code[n];
	fill_jump(j, s, &d, at);
	j->site = i;
	j->tracked = spec.tracked != 0;
	fill_members(e, s, j, &d, at);
	return 0;
}
