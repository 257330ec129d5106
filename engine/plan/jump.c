// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jump: the detours of jumps.
 *
 * A jump covers five bytes. Sites within them belong to the jump: its detour calls their
 * probes, ahead of their own instructions. Which sites jump is decided in engine/site/group.c.
 */
#include "arch/arch.h"
#include "engine/insn/detour.h"
#include "engine/insn/region.h"
#include "engine/insn/callout.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "engine/plan/call.h"
#include "engine/plan/copy.h"
#include "engine/plan/jump.h"
#include "engine/plan/native.h"
#include "engine/plan/plan.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"

int dp_jump_insn_at(const struct dp_site *s, u64 addr)
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
	int k = dp_jump_insn_at(lead, s->addr);

	if (k <= 0)
		return false;
	lead->covers[k] = s->place;
	s->leader = lead->place;
	return true;
}

void dp_jump_note_traps(const struct dp_engine *e, struct dp_site *s)
{
	int i;

	s->traps = 0;
	/* An intercept replaces one instruction, and is written while no thread runs. */
	if (dp_site_arming(e, s) == DP_ARM_QUIESCE || s->intercept >= 0)
		return;
	for (i = 1; i < s->region.nr && s->region.at[i] < DP_JUMP_SIZE; i++)
		s->traps |= (u8)(1u << s->region.at[i]);
}

static u32 head_room(const struct dp_engine *e, const struct dp_site *s)
{
	if (s->runs)
		return DP_NATIVE_MAX;
	return dp_jump_way(e, s).calls == DP_CALLS_FOLLOWED ? DP_FOLLOWED_MAX :
							      DP_DETOUR_HEAD;
}

u32 dp_jump_room(const struct dp_engine *e, const struct dp_site *s)
{
	return head_room(e, s) +
	       (s->region.nr + (s->branches_to != 0)) * DP_DETOUR_INSN +
	       DP_DETOUR_ALIGN;
}

static bool counts_alone(const struct dp_engine *e, const struct dp_site *s)
{
	struct dp_jump_program runs;

	return e->rseq_usable && !s->instances && s->intercept < 0 &&
	       (e->own || s->first_probe) &&
	       (!s->runs || dp_native_of(e, s, &runs));
}

static void fill_jump(struct dp_jump *j, const struct dp_site *s,
		      const struct dp_detour *d, u64 at)
{
	int i;

	j->base = at;
	j->island = s->island;
	j->len = d->len;
	j->start = d->start;
	j->leave = d->leave;
	j->nr = s->region.nr;
	j->size = s->region.len;
	j->atomic = d->atomic;
	for (i = 0; i < j->nr; i++) {
		j->at[i] = d->at[i];
		j->insn[i] = d->insn[i];
		j->offset[i] = s->region.at[i];
	}
	j->at[i] = d->at[i];
	j->duplicate = d->duplicate;
	j->duplicate_insn = d->duplicate_insn;
	j->duplicates = s->duplicates;
	j->duplicated_at = s->duplicates ? s->branches_to : 0;
}

/* The site at the k-th instruction: itself, or one that its jump covers, or NULL. */
static const struct dp_site *member_at(const struct dp_engine *e,
				       const struct dp_site *s, int k)
{
	if (!k)
		return s;
	return s->covers[k] ? &e->sites[s->covers[k] - 1] : NULL;
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

/* Has the detour to call out before the member at instruction @k? One that counts alone does
 * only if it has an enable word. */
static bool calls_before(const struct dp_engine *e, const struct dp_site *s,
			 const struct dp_site *member, int k)
{
	/* A process that probes itself may add probes later. */
	if (e->own)
		return true;
	if (!k && s->observed)
		return (u32)s->intercept != DP_PLAIN_CALL ||
		       member->first_probe;
	return member->first_probe && (k || !counts_alone(e, s));
}

/* Is that all that the hits of an inner member want? */
static bool is_counted(const struct dp_engine *e, const struct dp_site *member)
{
	return e->rseq_usable && !e->own && !member->runs &&
	       !member->instances && member->intercept < 0;
}

struct dp_jump_work dp_jump_work(const struct dp_engine *e,
				 const struct dp_site *s)
{
	struct dp_jump_work w = { 0 };
	const struct dp_site *member;
	u8 bit;
	int k;

	for (k = 0; k < s->region.nr; k++) {
		member = member_at(e, s, k);
		bit = (u8)(1 << k);
		if (!member)
			continue;
		if (dp_site_needs_post(member))
			w.after |= bit;
		if (!calls_before(e, s, member, k))
			continue;
		if (k && is_counted(e, member))
			w.counted |= bit;
		else
			w.before |= bit;
	}
	if (s->observed)
		w.after |= (u8)(1 << (s->region.nr - 1));
	return w;
}

/* What the call-out of a member comes to first; 0: as usual */
static u64 by_of(const struct dp_engine *e, const struct dp_site *member,
		 u64 stubs)
{
	switch (dp_call_way(e, member)) {
	case DP_CALL_BEGINS:
		return stubs + DP_STUB_ENTER;
	case DP_CALL_FINISHES:
		return stubs + DP_STUB_EXIT;
	case DP_CALL_BEGINS_TIMED:
		return stubs + DP_STUB_ENTER_TIMED;
	case DP_CALL_FINISHES_TIMED:
		return stubs + DP_STUB_EXIT_TIMED;
	default:
		return 0;
	}
}

/* Calls that the detour counts itself */
static void encode_calls(const struct dp_engine *e, const struct dp_site *s,
			 struct dp_detour_spec *spec)
{
	const struct dp_arena_control *c = &e->arena->control;
	const struct dp_site *member;
	u32 probe;
	int k;

	for (k = 0; k < s->region.nr && !spec->native; k++) {
		member = member_at(e, s, k);
		if (!spec->before[k] || spec->inner[k] ||
		    !dp_call_is_inline(e, member))
			continue;
		probe = member->first_probe - 1;
		spec->calls = (struct dp_detour_calls){
			.wipe = c->base + DP_WIPE_OFFSET,
			.blocks = c->blocks,
			.block_bits = (u32)c->block_bits,
			.instance_words = c->instance_words,
		};
		spec->call_at[k] =
			c->calls +
			(member->place - 1) * sizeof(struct dp_call_entry);
		spec->call_value[k] = dp_call_value(
			dp_call_entry(e, probe, dp_call_way(e, member)));
	}
}

/* @by: what the first one's comes to, if the detour does not count; or 0 */
static void encode(const struct dp_engine *e, const struct dp_site *s,
		   const struct dp_jump *j, u64 stubs, u64 by,
		   struct dp_detour_spec *spec)
{
	const struct dp_site *member;
	int k;

	for (k = 0; k < s->region.nr; k++) {
		member = member_at(e, s, k);
		/* Where counting is impossible, the agent counts. */
		if ((j->before | j->counted) >> k & 1 || (!k && spec->rseq))
			spec->before[k] =
				number_of(member, k, spec->rseq || by) + 1;
		if (spec->before[k])
			spec->by[k] = k || !by ? by_of(e, member, stubs) : by;
		if (j->counted >> k & 1)
			spec->inner[k] =
				(member->place - 1) * (u32)sizeof(u64) + 1;
		if (j->after >> k & 1)
			spec->after[k] = number_after(member ? member : s) + 1;
	}
	if (s->observed)
		spec->after[s->region.nr - 1] = number_after(s) + 1;
	if ((u32)s->intercept == DP_PLAIN_CALL)
		spec->call = ((s->place - 1) | DP_CALLOUT_CALLS) + 1;
}

u8 dp_jump_branches(const struct dp_site *s)
{
	return s->branches_to ? dp_region_branches(&s->region,
						   s->branches_to - s->addr) :
				0;
}

static void encode_duplicate(const struct dp_engine *e, const struct dp_site *s,
			     u64 stubs, struct dp_detour_spec *spec)
{
	const struct dp_site *to =
		s->duplicates ? &e->sites[s->duplicates - 1] : NULL;

	if (!to)
		return;
	spec->duplicate = (struct dp_duplicate){
		.before = number_of(to, 1, false) + 1,
		.by = by_of(e, to, stubs),
		.code = to->code,
		.len = to->facts.len,
		.branches = dp_jump_branches(s),
	};
}

static void fill_members(const struct dp_engine *e, const struct dp_site *s,
			 struct dp_jump *j)
{
	const struct dp_site *member;
	int k;

	for (k = 0; k < s->region.nr; k++) {
		member = member_at(e, s, k);
		j->member[k] = member ? member->place : 0;
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
	return e->own && counts_alone(e, s) && has_returns(e, s);
}

/* Can the agent count for handlers, and call them without asking which process this is? */
static bool counts_for_handlers(const struct dp_engine *e,
				const struct dp_site *s)
{
	const struct dp_arena_control *c = e->arena ? &e->arena->control : NULL;

	return e->own && c && c->self_offset && c->handler_sequence[1] &&
	       counts_alone(e, s) && !s->runs;
}

/* Is a return probe its only one? */
static bool is_pair(const struct dp_engine *e, const struct dp_site *s)
{
	const struct dp_probe *p =
		s->first_probe ? &e->probes[s->first_probe - 1] : NULL;

	return p && p->kind == DP_KIND_RETURN && !p->next && !p->bound;
}

struct dp_jump_way dp_jump_way(const struct dp_engine *e,
			       const struct dp_site *s)
{
	struct dp_jump_way way = { DP_CALLS_COUNTED, 0 };
	const struct dp_probe *probe;
	u32 p, n = 0;
	bool any = false;

	if (!counts_for_handlers(e, s))
		return way;
	if (is_pair(e, s))
		way.calls = DP_CALLS_TRACKED;
	for (p = s->first_probe; p; p = probe->next, n++) {
		probe = &e->probes[p - 1];
		if (!dp_kind_is_called(probe->kind) || probe->bound)
			return way;
		any |= probe->handlers.pre != 0;
		way.touches = ~probe->handlers.spares;
	}
	if (any && n == 1 && ~way.touches)
		way.calls = DP_CALLS_FOLLOWED;
	else
		way = (struct dp_jump_way){ any ? DP_CALLS_HANDLER :
						  DP_CALLS_COUNTED,
					    0 };
	return way;
}

/* And all that the handlers before have touched: so a site has few jumps, whatever comes. */
static u32 touches_of(const struct dp_engine *e, const struct dp_site *s,
		      u32 touches)
{
	u32 n;

	for (n = s->jumps; n; n = e->view.jumps[n].earlier)
		touches |= e->view.jumps[n].touches;
	return touches;
}

static u64 arena_at(const struct dp_engine *e, u64 offset)
{
	return e->arena->control.base + DP_ARENA_OFFSET + offset;
}

/* Address of a field of the site's entry */
static u64 entry_at(const struct dp_engine *e, const struct dp_site *s,
		    u64 offset)
{
	return arena_at(e,
			e->arena->control.site_off + offset +
				(s->place - 1) * sizeof(struct dp_site_entry));
}

static struct dp_detour_stream stream_of(const struct dp_engine *e,
					 const struct dp_site *s)
{
	const struct dp_arena_control *c = &e->arena->control;
	struct dp_detour_stream stream = { 0 };

	if (!s->runs)
		return stream;
	stream.base = c->base + DP_ARENA_OFFSET + c->stream_off;
	stream.stride = c->stream_stride;
	stream.mask = c->stream_mask;
	stream.tid_offset = c->tid_offset;
	stream.probe = s->first_probe - 1;
	stream.coarse = e->coarse;
	stream.commits = dp_native_commits(e, s, &stream.memory);
	return stream;
}

/* What the detour counts, and runs, itself */
static void encode_native(const struct dp_engine *e, const struct dp_site *s,
			  u64 stubs, struct dp_jump *j,
			  struct dp_detour_spec *spec)
{
	spec->counter = (s->place - 1) * (u32)sizeof(u64);
	spec->met_counter = spec->counter +
			    e->arena->control.met_counters * (u32)sizeof(u64);
	if (counts_alone(e, s)) {
		spec->rseq = &e->rseq;
		spec->keep = stubs + DP_STUB_KEEP;
		spec->keep_texts = stubs + DP_STUB_KEEP_TEXTS;
		spec->tables = arena_at(e, e->arena->control.aggregate_off);
		spec->native = dp_native_of(e, s, &j->runs);
		spec->stream = stream_of(e, s);
	} else if (e->percpu) {
		spec->native = dp_native_of(e, s, &j->runs);
		spec->percpu = spec->native ? e->percpu : NULL;
	}
}

/* Both entries do whatever a site's hits are to do. */
static u64 entry_of(const struct dp_engine *e, const struct dp_site *s,
		    u64 stubs)
{
	const struct dp_agent_entries *entries = &e->map.entries;

	if (s->intercept >= 0)
		return stubs + DP_STUB_OBSERVE;
	if (!e->map.near)
		return stubs + DP_STUB_HIT;
	return s->first_probe && dp_kind_is_called(
					 e->probes[s->first_probe - 1].kind) ?
		       entries->handler :
		       entries->hit;
}

int dp_jump_plan(const struct dp_engine *e, const struct dp_site *s,
		 struct dp_jump *j, u64 at, u32 pad, u8 *out, u64 stubs,
		 struct dp_unwind_states *states)
{
	struct dp_detour_spec spec = {
		.from = s->addr,
		.at = at,
		.pad = pad,
		.entry = entry_of(e, s, stubs),
		.code = s->code,
		.region = &s->region,
		.self = e->arena->control.self_offset,
		.inner_rseq = &e->rseq,
		.table = e->arena->control.base + DP_TABLE_OFFSET,
	};
	u32 i = s->place - 1;
	u64 by = 0;
	struct dp_jump_way way = dp_jump_way(e, s);
	struct dp_detour_followed followed = {
		.fast = entry_at(e, s, offsetof(struct dp_site_entry, fast)),
		.vm_children =
			arena_at(e, offsetof(struct dp_arena, hit.vm_children)),
		.touches = touches_of(e, s, way.touches),
	};
	struct dp_jump_work work;
	struct dp_detour *d = &e->scratch->detour;
	u16 n;
	int err;

	if (s->intercept >= 0 && !s->observed) {
		spec.intercept_entry = e->map.intercept_entry;
		spec.intercept = (u32)s->intercept;
	}
	if (way.calls == DP_CALLS_HANDLER) {
		by = stubs + DP_STUB_HANDLER;
	} else if (way.calls == DP_CALLS_TRACKED) {
		by = stubs + DP_STUB_PAIR;
	} else {
		encode_native(e, s, stubs, j, &spec);
	}
	work = dp_jump_work(e, s);
	j->before = work.before;
	j->after = work.after;
	j->counted = work.counted;
	encode(e, s, j, stubs, by, &spec);
	encode_calls(e, s, &spec);
	encode_duplicate(e, s, stubs, &spec);
	if (way.calls == DP_CALLS_TRACKED)
		spec.tracked = by;
	else if (dp_jump_is_tracked(e, s))
		spec.tracked = stubs + DP_STUB_TRACKED;
	if (way.calls == DP_CALLS_FOLLOWED)
		spec.followed = &followed;
	else if (e->own && way.calls != DP_CALLS_TRACKED)
		spec.enable_word = entry_at(
			e, s, offsetof(struct dp_site_entry, enable_word));
	err = dp_detour_make(&spec, d);
	if (err)
		return err;
	for (n = 0; n < d->len; n++)
		out[n] = d->code[n];
	if (states)
		dp_unwind_copy(states, &d->unwind);
	fill_jump(j, s, d, at);
	j->site = i;
	j->tracked = spec.tracked != 0;
	j->calls = (u8)way.calls;
	if (spec.followed)
		j->touches = followed.touches;
	fill_members(e, s, j);
	return 0;
}
