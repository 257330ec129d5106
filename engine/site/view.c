// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* view: check the bounds of a foreign arena once, and read from it. */
#include "arch/arch.h"
#include "engine/site/view.h"
#include "engine/text/strategy.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/text/target.h"

/* A target may write to it at any time. */
#define ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)

/* Offsets and lengths of the tables, each read once. */
struct geometry {
	u64 size;
	u32 site_off, nr_sites, jump_off, nr_jumps, probe_off, nr_probes;
	u32 counter_off, shard_stride, shard_mask, probe_counters, met_counters;
	u32 state_off, program_off, nr_programs;
	u32 gv_off, nr_gv, context_off, nr_contexts;
};

static struct geometry geometry(const struct dp_arena_control *c)
{
	return (struct geometry){
		.size = ONCE(c->arena_size),
		.site_off = ONCE(c->site_off),
		.nr_sites = ONCE(c->nr_sites),
		.jump_off = ONCE(c->jump_off),
		.nr_jumps = ONCE(c->nr_jumps),
		.probe_off = ONCE(c->probe_off),
		.nr_probes = ONCE(c->nr_probes),
		.counter_off = ONCE(c->counter_off),
		.shard_stride = ONCE(c->shard_stride),
		.shard_mask = ONCE(c->shard_mask),
		.probe_counters = ONCE(c->probe_counters),
		.met_counters = ONCE(c->met_counters),
		.state_off = ONCE(c->state_off),
		.program_off = ONCE(c->program_off),
		.nr_programs = ONCE(c->nr_programs),
		.gv_off = ONCE(c->gv_off),
		.nr_gv = ONCE(c->nr_gv),
		.context_off = ONCE(c->context_off),
		.nr_contexts = ONCE(c->nr_contexts),
	};
}

static bool fits(u64 offset, u64 count, u64 each, u64 size)
{
	return offset >= sizeof(struct dp_arena) && offset % 8 == 0 &&
	       offset <= size && count <= (size - offset) / each;
}

static bool counters_fit(const struct geometry *g)
{
	u64 shards = (u64)g->shard_mask + 1;

	return shards <= DP_MAX_SHARDS && !(shards & g->shard_mask) &&
	       g->shard_stride % 8 == 0 && g->shard_stride / 8 >= g->nr_sites &&
	       fits(g->counter_off, 2 * shards,
		    g->shard_stride ? g->shard_stride : 8, g->size);
}

static bool patch_sane(const struct dp_site_entry *s)
{
	if (s->mode == DP_MODE_TRAP)
		return s->patch_len == 1;
	/* A jump; or no patch, where another site's jump covers it. */
	return s->patch_len == sizeof(s->patch) || !s->patch_len;
}

static bool site_sane(const struct dp_site_entry *s, u32 nr_probes)
{
	/* One that serves no site now, or whose site is being made */
	if (!ONCE(s->addr))
		return true;
	return s->mode <= DP_MODE_JUMP && s->first_probe <= nr_probes &&
	       patch_sane(s) && s->single_body <= s->single_len &&
	       s->post_body <= s->post_len;
}

static bool jump_sane(const struct dp_jump *j, u32 nr_sites)
{
	return j->nr <= DP_JUMP_INSNS && (!j->nr || j->site < nr_sites);
}

static bool program_sane(const struct dp_program_entry *p, u64 size)
{
	return fits(p->lv_off, p->nr_lv, sizeof(u64), size) &&
	       !p->name[DP_PROGRAM_NAME - 1];
}

static bool programs_fit(const struct geometry *g)
{
	return fits(g->state_off, g->nr_probes, sizeof(struct dp_probe_state),
		    g->size) &&
	       fits(g->program_off, g->nr_programs,
		    sizeof(struct dp_program_entry), g->size) &&
	       fits(g->gv_off, g->nr_gv, sizeof(u64), g->size) &&
	       fits(g->context_off, g->nr_contexts, sizeof(struct dp_context),
		    g->size);
}

static bool head_sane(const struct dp_arena_control *c)
{
	return c->magic == DP_LAYOUT_MAGIC && c->version == DP_LAYOUT_VERSION &&
	       c->head_size == sizeof(struct dp_arena) &&
	       c->nr_pools <= DP_MAX_POOLS && c->nr_patched <= DP_MAX_PATCHED &&
	       c->nr_caught <= DP_CAUGHT;
}

static void point(struct dp_view *view, char *mem, const struct geometry *g)
{
	*view = (struct dp_view){
		.arena = (void *)mem,
		.sites = (void *)(mem + g->site_off),
		.jumps = (void *)(mem + g->jump_off),
		.probes = (void *)(mem + g->probe_off),
		.states = (void *)(mem + g->state_off),
		.programs = (void *)(mem + g->program_off),
		.gv = (void *)(mem + g->gv_off),
		.nr_sites = g->nr_sites,
		.nr_jumps = g->nr_jumps,
		.nr_probes = g->nr_probes,
		.nr_programs = g->nr_programs,
		.nr_gv = g->nr_gv,
		.counters = mem + g->counter_off,
		.shard_stride = g->shard_stride,
		.probe_counters = g->probe_counters,
		.met_counters = g->met_counters,
		.nr_shards = 2 * (g->shard_mask + 1),
	};
}

static bool tables_sane(const struct dp_view *view, u64 size)
{
	u32 i;

	for (i = 0; i < view->nr_sites; i++)
		if (!site_sane(&view->sites[i], view->nr_probes))
			return false;
	for (i = 0; i < view->nr_jumps; i++)
		if (!jump_sane(&view->jumps[i], view->nr_sites))
			return false;
	for (i = 0; i < view->nr_probes; i++)
		if (view->probes[i].site >= view->nr_sites)
			return false;
	for (i = 0; i < view->nr_programs; i++)
		if (!program_sane(&view->programs[i], size))
			return false;
	return true;
}

int dp_view_open(struct dp_view *view, void *mem, size_t size)
{
	const struct dp_arena_control *c = &((struct dp_arena *)mem)->control;
	struct geometry g;

	if (size < sizeof(struct dp_arena) || !head_sane(c))
		return -EBADMSG;
	g = geometry(c);
	if (g.size > size ||
	    !fits(g.site_off, g.nr_sites, sizeof(*view->sites), g.size) ||
	    !fits(g.jump_off, g.nr_jumps, sizeof(*view->jumps), g.size) ||
	    !g.nr_jumps ||
	    !fits(g.probe_off, g.nr_probes, sizeof(*view->probes), g.size) ||
	    !counters_fit(&g) || !programs_fit(&g))
		return -EBADMSG;
	point(view, mem, &g);
	return tables_sane(view, g.size) ? 0 : -EBADMSG;
}

u64 dp_view_hits(const struct dp_view *view, u64 counter)
{
	u64 sum = 0;
	u32 i;

	if (counter >= view->shard_stride / sizeof(u64))
		return 0;
	for (i = 0; i < view->nr_shards; i++) {
		const u64 *hits =
			(const void *)(view->counters + i * view->shard_stride);
		sum += __atomic_load_n(&hits[counter], __ATOMIC_RELAXED);
	}
	return sum;
}

u64 dp_view_met(const struct dp_view *view, u32 site)
{
	return view->met_counters ?
		       dp_view_hits(view, (u64)view->met_counters + site) :
		       0;
}

u64 dp_view_site_hits(const struct dp_view *view, u32 site)
{
	return dp_view_hits(view, site) + dp_view_met(view, site);
}

u64 dp_view_probe_met(const struct dp_view *view, u32 probe)
{
	const struct dp_probe_entry *p = &view->probes[probe];
	u64 met = ONCE(p->met_earlier);

	if (ONCE(p->counting))
		met += dp_view_met(view, ONCE(p->site)) - ONCE(p->met_since);
	return met;
}

u64 dp_view_local_met(const struct dp_view *view, u32 program, u32 index)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < view->nr_probes; i++)
		if (ONCE(view->probes[i].program) == program + 1 &&
		    ONCE(view->probes[i].counted) == index + 1)
			sum += dp_view_probe_met(view, i);
	return sum;
}

void dp_view_forget_hits(const struct dp_view *view, u32 counter)
{
	u32 i;

	for (i = 0; i < view->nr_shards; i++)
		((u64 *)(view->counters + i * view->shard_stride))[counter] = 0;
}

u64 dp_view_probe_hits(const struct dp_view *view, u32 probe)
{
	const struct dp_probe_entry *p = &view->probes[probe];
	u64 hits = ONCE(p->earlier);

	if (dp_probe_counts_calls(p))
		return hits +
		       dp_view_hits(view, (u64)view->probe_counters + probe);
	if (ONCE(p->counting))
		hits += dp_view_site_hits(view, ONCE(p->site)) - ONCE(p->since);
	return hits;
}

const struct dp_site_entry *dp_view_site_of(const struct dp_view *view,
					    u32 probe)
{
	u32 site = probe < view->nr_probes ? ONCE(view->probes[probe].site) :
					     view->nr_sites;

	return site < view->nr_sites ? &view->sites[site] : NULL;
}

/* The site's first probe has the count of all. */
u64 dp_view_middle(const struct dp_view *view, u32 probe)
{
	const struct dp_site_entry *s = dp_view_site_of(view, probe);
	u32 first = s ? ONCE(s->first_probe) : 0;

	if (!first || first > view->nr_probes)
		return 0;
	return __atomic_load_n(&view->states[first - 1].tally[DP_TALLY_MIDDLE],
			       __ATOMIC_RELAXED);
}

bool dp_view_is_jump(const struct dp_view *view, const struct dp_site_entry *s)
{
	u32 leader = ONCE(s->leader);

	if (leader && leader <= view->nr_sites)
		s = &view->sites[leader - 1];
	return s->mode == DP_MODE_JUMP && s->armed == DP_SITE_THERE;
}

void dp_view_reason(const struct dp_view *view, const struct dp_site_entry *s,
		    char *text)
{
	u32 k = 0, reason = ONCE(s->reason);
	const char *from;

	if (reason && reason <= DP_REASONS) {
		from = view->arena->control.reasons[reason - 1];
		for (; k < DP_REASON_SIZE - 1 && (text[k] = ONCE(from[k])); k++)
			;
	}
	text[k] = '\0';
}

const struct dp_jump *dp_view_jump(const struct dp_view *view,
				   const struct dp_site_entry *s)
{
	u32 i = __atomic_load_n(&s->jump, __ATOMIC_ACQUIRE);

	return &view->jumps[i < view->nr_jumps ? i : 0];
}

static bool in_span(u64 addr, u64 start, u64 size)
{
	return addr >= start && addr - start < size;
}

bool dp_view_owns(const struct dp_view *view, u64 addr)
{
	const struct dp_arena_control *c = &view->arena->control;
	u32 i, n = ONCE(c->nr_pools);

	if (in_span(addr, c->base, DP_AGENT_TEXT))
		return true;
	for (i = 0; i < n && i < DP_MAX_POOLS; i++)
		if (in_span(addr, c->pools[i].start, c->pools[i].size))
			return true;
	return false;
}

/* Tell which instruction of the program a pc inside one of its copies stands for. */
static int original(const struct dp_site_entry *s, u64 offset, u8 body,
		    u64 *orig)
{
	if (!offset)
		*orig = s->addr;
	else if (s->single_atomic && offset >= body)
		*orig = s->addr + s->insn_len;
	else
		return -EAGAIN;
	return 0;
}

/* The same for a pc in a detour. */
static int before_jump(const struct dp_site_entry *s, const struct dp_jump *j,
		       u64 offset, u64 *orig)
{
	int i, n = dp_jump_insns(j);

	if (offset == j->start || offset == j->insn[0]) {
		*orig = s->addr;
		return 0;
	}
	/* In or just behind an observed call: as behind the original. */
	if (s->intercept == DP_INTERCEPT_OBSERVED && n &&
	    offset == (u64)j->insn[n - 1] + DP_SYSCALL_SIZE) {
		*orig = s->addr + j->size;
		return 0;
	}
	for (i = 1; i < n; i++)
		if (offset == j->at[i] || offset == j->insn[i]) {
			*orig = s->addr + j->offset[i];
			return 0;
		}
	if (j->duplicate &&
	    (offset == j->duplicate || offset == j->duplicate_insn)) {
		*orig = j->duplicated_at;
		return 0;
	}
	*orig = s->addr + j->size;
	return offset == j->at[n] ? 0 : -EAGAIN;
}

/* The site whose detour or island @addr is in, or NULL. */
static const struct dp_site_entry *detoured(const struct dp_view *view,
					    u64 addr, const struct dp_jump **j)
{
	u32 i, site;

	for (i = 1; i < view->nr_jumps; i++) {
		*j = &view->jumps[i];
		site = ONCE((*j)->site);
		if ((((*j)->island && (*j)->island == addr) ||
		     in_span(addr, (*j)->base, (*j)->len)) &&
		    site < view->nr_sites)
			return &view->sites[site];
	}
	return NULL;
}

const struct dp_jump *dp_view_jump_at(const struct dp_view *view, u64 pc)
{
	const struct dp_jump *j;

	return detoured(view, pc, &j) ? j : NULL;
}

int dp_view_original(const struct dp_view *view, u64 addr, u64 *orig)
{
	const struct dp_jump *j;
	const struct dp_site_entry *s;
	u32 i;

	s = detoured(view, addr, &j);
	if (s && j->island == addr) {
		*orig = s->addr;
		return 0;
	}
	if (s)
		return before_jump(s, j, addr - j->base, orig);
	for (i = 0; i < view->nr_sites; i++) {
		s = &view->sites[i];
		if (in_span(addr, s->single, s->single_len))
			return original(s, addr - s->single, s->single_body,
					orig);
		if (s->post && in_span(addr, s->post, s->post_len))
			return original(s, addr - s->post, s->post_body, orig);
	}
	return -ENOENT;
}

bool dp_view_intercepts(const struct dp_view *view, u64 addr)
{
	const struct dp_jump *j;
	const struct dp_site_entry *s = detoured(view, addr, &j);

	return s && s->intercept;
}

bool dp_view_is_linkers(const struct dp_view *view,
			const struct dp_site_entry *s)
{
	u32 first = __atomic_load_n(&s->first_probe, __ATOMIC_RELAXED);

	return first && first <= view->nr_probes &&
	       view->probes[first - 1].kind == DP_KIND_LINKER;
}

/* Disarm what is still wanted: the sites of loader events. */
static int disarm_linkers(struct dp_view *view, struct dp_target *target,
			  const struct dp_sites *sites, u64 *bad)
{
	bool any = false;
	u32 i;

	for (i = 0; i < view->nr_sites; i++)
		if (!view->sites[i].intercept && view->sites[i].wanted) {
			view->sites[i].wanted = 0;
			any = true;
		}
	return any ? dp_strategy_trap.disarm(target, sites, bad) : 0;
}

struct dp_sites dp_view_sites(const struct dp_view *view)
{
	return (struct dp_sites){ .v = view->sites,
				  .n = view->nr_sites,
				  .jumps = view->jumps,
				  .nr_jumps = view->nr_jumps,
				  .total = view->nr_sites };
}

int dp_view_disarm(struct dp_view *view, struct dp_target *target,
		   bool intercepts, u64 *bad)
{
	struct dp_sites sites = dp_view_sites(view);
	int traps, jumps, linkers;
	u32 i;

	sites.begun = view->begun;
	/* Libraries must stay mapped until their sites are disarmed: a thread about to
	 * unmap one waits at the site of loader events. */
	for (i = 0; i < view->nr_sites; i++)
		if (!view->sites[i].intercept == !intercepts &&
		    (intercepts || !dp_view_is_linkers(view, &view->sites[i])))
			view->sites[i].wanted = 0;
	if (intercepts)
		return dp_strategy_intercept.disarm(target, &sites, bad);
	traps = dp_strategy_trap.disarm(target, &sites, bad);
	if (view->arena->control.signal_free)
		jumps = dp_sites_restore(target, &sites, traps ? NULL : bad);
	else
		jumps = dp_strategy_interior.disarm(target, &sites,
						    traps ? NULL : bad);
	linkers = disarm_linkers(view, target, &sites,
				 traps || jumps ? NULL : bad);
	return traps ? traps : jumps ? jumps : linkers;
}

bool dp_view_is_reverted(const struct dp_view *view, struct dp_target *target)
{
	u8 now[sizeof(view->sites->orig)];
	u32 i;

	for (i = 0; i < view->nr_sites; i++) {
		const struct dp_site_entry *s = &view->sites[i];

		if (s->armed != DP_SITE_OFF && s->armed != DP_SITE_GONE &&
		    !target->ops->read(target, s->addr, now,
				       dp_site_patch_len(s)) &&
		    dp_site_bytes(s, now) != DP_BYTES_ORIGINAL)
			return false;
	}
	return true;
}

void dp_view_disown(struct dp_view *view)
{
	u32 i;

	for (i = 0; i < view->nr_sites; i++) {
		view->sites[i].wanted = DP_WANT_OFF;
		dp_site_set_state(&view->sites[i], DP_SITE_OFF);
	}
}

bool dp_view_presume(struct dp_view *view)
{
	bool any = false;
	u32 i;

	for (i = 0; i < view->nr_sites; i++)
		if (view->sites[i].returned)
			any |= !dp_site_set_state(&view->sites[i],
						  DP_SITE_THERE);
	return any;
}
