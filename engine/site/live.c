// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * live: probes that come and go.
 *
 * What bytes stand at a site follows from its probes, its neighbours and the
 * knobs (want()):
 *
 *   off       no probe that is enabled, or all are switched off
 *   jump      it can be one, all its probes bear it, optimising is on, and no
 *             other site is within its five bytes
 *   trap      everything else
 *
 * All ways between the three pass through the breakpoint, so a hit is never
 * missed. From jump to trap and from off to jump, a thread that meets the
 * breakpoint goes on in the detour's copies of all the bytes that the jump
 * replaces (@copy), because these are not what they were; only when they are
 * again does @copy become that of the one instruction.
 */
#include "arch/arch.h"
#include "engine/insn/region.h"
#include "engine/site/live.h"
#include "engine/text/strategy.h"
#include "engine/layout/arena.h"
#include "engine/layout/handler.h"
#include "engine/layout/base.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "engine/plan/plan.h"
#include "engine/site/build.h"
#include "engine/site/engine.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "engine/site/view.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"
#include "port.h"

#define HOOKED "it belongs to a system call that the library watches"
#define NOTHING "it has not been registered"

static struct dp_site_entry *entry_of(const struct dp_engine *e, u32 i)
{
	return &e->view.sites[i];
}

static struct dp_probe_entry *probe_entry(const struct dp_engine *e, u32 probe)
{
	return (struct dp_probe_entry *)&e->view.probes[probe];
}

static bool is_off(const struct dp_engine *e, u32 probe)
{
	return __atomic_load_n(&e->growth->switches[probe].off,
			       __ATOMIC_SEQ_CST);
}

/* The hooks that are there already. */
static int adopt_hook(struct dp_engine *e, u32 i)
{
	const struct dp_site_entry *entry = entry_of(e, i);
	struct dp_site *s;
	const char *why;
	u8 code[DP_REGION_MAX + 1] = { DP_NOP };
	int err = dp_site_take(e, entry->addr, code, 1, &s, &why);
	int k;

	if (err)
		return err;
	s->hook = entry->number;
	s->planned = s->entered = true;
	s->mode = DP_MODE_JUMP;
	s->region.nr = dp_jump_insns(&entry->jump);
	s->region.len = entry->jump.size;
	for (k = 0; k < s->region.nr; k++)
		s->region.at[k] = entry->jump.offset[k];
	return 0;
}

static void adopt_pools(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;
	u32 i;

	e->need.nr_pools = dp_few(&c->nr_pools, DP_MAX_POOLS);
	for (i = 0; i < e->need.nr_pools; i++) {
		e->need.pools[i].addr = c->pools[i].start;
		e->need.pools[i].size = c->pools[i].size;
		e->growth->pools[i].full = true;
	}
}

/* Not only what is there by now, which has been looked at, but all that there will be. */
static bool has_room(const struct dp_engine *e, const struct dp_live_setup *s)
{
	const char *start = (const char *)e->arena;
	u64 site = (u64)((const char *)e->view.sites - start);
	u64 probe = (u64)((const char *)e->view.probes - start);
	u64 state = (u64)((const char *)e->view.states - start);

	return site + s->max_sites * sizeof(struct dp_site_entry) <= s->size &&
	       probe + s->max_sites * sizeof(struct dp_probe_entry) <=
		       s->size &&
	       state + s->max_sites * sizeof(struct dp_probe_state) <= s->size;
}

static int find_asks(struct dp_engine *e, u64 size)
{
	const struct dp_arena_control *c = &e->arena->control;
	u64 off = c->ask_off, n = c->nr_asks;

	if (!n)
		return 0;
	if (off < sizeof(struct dp_arena) || off % sizeof(u64) ||
	    off + sizeof(struct dp_asks) + n * sizeof(struct dp_ask) > size)
		return -EBADMSG;
	e->asks = (void *)((char *)e->arena + off);
	e->nr_asks = (u32)n;
	return 0;
}

struct dp_asks *dp_live_asks(const struct dp_engine *e, u32 *n)
{
	*n = e->nr_asks;
	return e->asks;
}

int dp_engine_adopt(struct dp_engine *e, struct dp_arena *arena,
		    const struct dp_live_setup *setup)
{
	int err = dp_view_open(&e->view, arena, setup->size);
	u32 i;

	if (!err && !arena->control.resident)
		err = -EBADMSG;
	if (!err)
		err = dp_grow_begin(e, setup);
	if (err)
		return err;
	e->arena = arena;
	err = has_room(e, setup) ? dp_hash_find(e, setup->size) : -EBADMSG;
	if (!err)
		err = find_asks(e, setup->size);
	if (err)
		return err;
	e->max_sites = setup->max_sites;
	e->nr_caught = dp_few(&arena->control.nr_caught, DP_CAUGHT);
	if (arena->control.counts_alone)
		dp_engine_set_rseq(e, arena->control.rseq_offset,
				   arena->control.rseq_signature);
	adopt_pools(e);
	for (i = 0; i < e->view.nr_sites && !err; i++)
		err = adopt_hook(e, i);
	return err;
}

static bool inside_hook(const struct dp_engine *e, u64 addr)
{
	const struct dp_site *s;
	u64 d;

	for (d = 1; d < DP_REGION_MAX; d++) {
		s = dp_engine_find(e, addr - d);
		if (s && s->hook >= 0 && s->region.len > d)
			return true;
	}
	return false;
}

/* Nobody comes to this site any more, and it is found at no address. */
static void bury(struct dp_engine *e, struct dp_site *s)
{
	struct dp_site_entry *entry = entry_of(e, (u32)(s - e->sites));

	s->addr = 0;
	entry->addr = 0;
	entry->jump.traps = 0;
	dp_site_set_state(entry, DP_SITE_OFF);
	entry->wanted = DP_WANT_OFF;
}

/* The code at a site that nobody uses may have been replaced: its library went,
 * and another came. */
static void retire(struct dp_engine *e, u64 addr, const u8 *code)
{
	struct dp_site *s = dp_engine_find(e, addr);

	if (!s || s->first_probe || s->hook >= 0 ||
	    dp_bytes_same(s->code, code, s->size))
		return;
	bury(e, s);
}

static int take_probe(struct dp_engine *e, u32 *probe)
{
	struct dp_growth *g = e->growth;

	if (g->free_probe) {
		*probe = g->free_probe - 1;
		g->free_probe = e->probes[*probe].next;
		return 0;
	}
	if (e->nr_probes == e->max_sites ||
	    dp_engine_reserve((void **)&e->probes, e->nr_probes, &e->cap_probes,
			      sizeof(*e->probes)))
		return -ENOMEM;
	*probe = e->nr_probes++;
	e->view.nr_probes = e->nr_probes;
	__atomic_store_n(&e->arena->control.nr_probes, e->nr_probes,
			 __ATOMIC_RELEASE);
	return 0;
}

static void give_probe(struct dp_engine *e, u32 probe)
{
	e->probes[probe].next = e->growth->free_probe;
	e->growth->free_probe = probe + 1;
}

/* So that taking probes away never wants for memory. */
static int reserve_batch(struct dp_engine *e)
{
	u32 want = e->nr_sites + 2; /* each once */
	struct dp_growth *g = e->growth;
	u32 *bigger;

	if (2 * want <= g->cap_touched)
		return 0;
	bigger = dp_port_resize(g->touched, 2 * want * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	g->touched = bigger;
	g->cap_touched = 2 * want;
	return 0;
}

int dp_live_add(struct dp_engine *e, u64 addr, const struct dp_found *found,
		const struct dp_handlers *h, bool enabled, u32 *probe,
		const char **why)
{
	struct dp_site *s;
	int err;

	*why = "there are too many probes";
	if (e->nr_sites == e->max_sites && !dp_engine_find(e, addr))
		return -ENOMEM;
	*why = "out of memory";
	if (reserve_batch(e))
		return -ENOMEM;
	*why = "there are too many probes";
	retire(e, addr, found->code);
	if (inside_hook(e, addr)) {
		*why = HOOKED;
		return -EINVAL;
	}
	err = dp_site_take(e, addr, found->code, found->size, &s, why);
	if (!err && s->hook >= 0 && h->kind == DP_KIND_JPROBE) {
		*why = HOOKED;
		err = -EINVAL;
	}
	if (!err)
		err = take_probe(e, probe);
	if (err)
		return err;
	if (!s->planned)
		s->x87 = found->x87;
	s->stray = found->stray;
	e->probes[*probe] =
		(struct dp_probe){ .handlers = *h, .enabled = enabled };
	/* A jprobe goes elsewhere, so it is the last. */
	if (h->first && h->kind != DP_KIND_JPROBE)
		dp_site_link_first(e, s, *probe);
	else if (s->last_probe && h->kind != DP_KIND_JPROBE &&
		 e->probes[s->last_probe - 1].handlers.kind == DP_KIND_JPROBE)
		dp_site_link_before_last(e, s, *probe);
	else
		dp_site_link(e, s, *probe);
	return 0;
}

bool dp_live_is_new(const struct dp_engine *e, u32 probe)
{
	const struct dp_site *s = &e->sites[e->probes[probe].site];

	return !s->planned && !s->region.nr && s->hook < 0;
}

static int plan(struct dp_engine *e, u32 i)
{
	struct dp_site *s = &e->sites[i];
	struct dp_arena_control *c = &e->arena->control;
	int err;

	if (s->planned)
		return 0;
	err = dp_grow_site(e, i);
	if (err)
		return err;
	s->planned = true;
	s->mode = entry_of(e, i)->mode;
	if (e->view.nr_sites < i + 1) {
		e->view.nr_sites = i + 1;
		__atomic_store_n(&c->nr_sites, i + 1, __ATOMIC_RELEASE);
	}
	return 0;
}

/* Is it all by itself what there is to do at a hit by the detour that is there? */
static bool may_be_fast(const struct dp_engine *e, u32 i,
			const struct dp_handlers *h)
{
	if (h->kind == DP_KIND_RETURN)
		return entry_of(e, i)->jump.follows;
	return h->kind == DP_KIND_KPROBE && h->pre;
}

/* One probe, and nothing else to do? */
static u64 fast(const struct dp_engine *e, u32 i)
{
	u32 p, only = 0;

	for (p = e->sites[i].first_probe; p; p = e->probes[p - 1].next) {
		const struct dp_probe *probe = &e->probes[p - 1];

		if (!probe->linked)
			continue;
		if (only || !probe->enabled || is_off(e, p - 1) ||
		    !may_be_fast(e, i, &probe->handlers) ||
		    e->view.states[p - 1].status)
			return 0;
		only = p;
	}
	return only ? e->arena->control.base + DP_ARENA_OFFSET +
			       e->arena->control.probe_off +
			       (only - 1) * sizeof(struct dp_probe_entry) :
		      0;
}

static bool has_handlers(const struct dp_engine *e, u32 i)
{
	u32 p;

	for (p = e->sites[i].first_probe; p; p = e->probes[p - 1].next) {
		const struct dp_handlers *h = &e->probes[p - 1].handlers;

		if (h->kind != DP_KIND_KPROBE || h->pre || h->post)
			return true;
	}
	return false;
}

/* The hit half follows these while we change them: one word at a time. */
static void mirror(struct dp_engine *e, u32 i)
{
	struct dp_site_entry *entry = entry_of(e, i);
	u32 p, *link = &entry->first_probe;

	for (p = e->sites[i].first_probe; p; p = e->probes[p - 1].next) {
		if (!e->probes[p - 1].linked)
			continue;
		if (*link != p)
			__atomic_store_n(link, p, __ATOMIC_RELEASE);
		link = &probe_entry(e, p - 1)->next;
	}
	if (*link)
		__atomic_store_n(link, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->fast, fast(e, i), __ATOMIC_SEQ_CST);
	/* One that has been switched off meanwhile has looked before. */
	if (!fast(e, i))
		__atomic_store_n(&entry->fast, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&entry->gate, has_handlers(e, i), __ATOMIC_RELEASE);
}

static void switch_on(struct dp_engine *e, u32 probe)
{
	struct dp_switch *s = &e->growth->switches[probe];

	s->follow = e->probes[probe].handlers.follow;
	s->site = e->probes[probe].site;
	__atomic_store_n(&s->off, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->user, e->probes[probe].handlers.user,
			 __ATOMIC_RELEASE);
}

/* 1 + the one behind it that hits come to, 0 for none. */
static u32 next_linked(const struct dp_engine *e, u32 probe)
{
	u32 p = e->probes[probe].next;

	while (p && !e->probes[p - 1].linked)
		p = e->probes[p - 1].next;
	return p;
}

/* A hit may come to it as soon as it is linked, and goes on to the next. */
static void fill_probe(struct dp_engine *e, u32 probe)
{
	struct dp_probe_entry *p = probe_entry(e, probe);
	struct dp_probe_state *state = &e->view.states[probe];
	const struct dp_handlers *h = &e->probes[probe].handlers;

	*p = (struct dp_probe_entry){ .site = e->probes[probe].site,
				      .next = next_linked(e, probe),
				      .enabled = e->probes[probe].enabled,
				      .kind = h->kind,
				      .pre_needs = h->pre_needs,
				      .post_needs = h->post_needs,
				      .user = h->user,
				      .pre = h->pre,
				      .post = h->post,
				      .fault = h->fault,
				      .nmissed = h->nmissed,
				      .follow = h->follow,
				      .deadline = h->deadline };
	*state = (struct dp_probe_state){ 0 };
	switch_on(e, probe);
}

static int prepare(struct dp_engine *e, u32 probe)
{
	u32 i = e->probes[probe].site;
	int err = plan(e, i);

	if (!err && e->probes[probe].handlers.post)
		err = dp_grow_post(e, i);
	return err;
}

/* All that it leads to has been written. */
static void link_in(struct dp_engine *e, u32 probe)
{
	u32 i = e->probes[probe].site;

	if (!e->sites[i].entered)
		dp_grow_enter(e, i);
	e->sites[i].entered = true;
	fill_probe(e, probe);
	entry_of(e, i)->calls = 1;
	e->probes[probe].linked = true;
	e->probes[probe].hits = 0;
	e->probes[probe].since = dp_view_hits(&e->view, i);
	mirror(e, i);
}

static bool in_use(const struct dp_site *s)
{
	return s && (s->first_probe || s->hook >= 0);
}

/* Somebody may still be in a copy of it that leads back to between two of the
 * five bytes: where no breakpoint is inside a jump, that must not be one. */
static bool leads_inside(const struct dp_engine *e, u64 addr, u64 d)
{
	const struct dp_site *after = dp_engine_find(e, addr + d);
	const struct dp_site *before = dp_engine_find(e, addr - d);

	return (after && after->planned) || (before && before->was_jump);
}

static bool is_overlapped(const struct dp_engine *e, const struct dp_site *s)
{
	u64 d;

	for (d = 1; d < DP_JUMP_SIZE; d++)
		if (in_use(dp_engine_find(e, s->addr + d)) ||
		    (e->arming == DP_ARM_QUIESCE &&
		     leads_inside(e, s->addr, d)))
			return true;
	return false;
}

static u8 want(const struct dp_engine *e, struct dp_site *s)
{
	bool enabled = false;
	u32 p;

	/* One that cannot be a jump has its reason for good. */
	if (s->mode == DP_MODE_TRAP)
		s->why = s->why ? s->why : "breakpoints were asked for";
	else
		s->why = NULL;
	for (p = s->first_probe; p; p = e->probes[p - 1].next) {
		const struct dp_probe *probe = &e->probes[p - 1];

		if (!probe->linked)
			continue;
		enabled |= probe->enabled;
		if (probe->handlers.single && s->mode == DP_MODE_JUMP)
			s->why = probe->handlers.why;
	}
	if (!enabled || e->growth->disarmed)
		return DP_WANT_OFF;
	if (!s->why && e->growth->unoptimized)
		s->why = "optimising is switched off";
	if (!s->why && s->mode == DP_MODE_JUMP && is_overlapped(e, s))
		s->why = "overlap: another probe needs the same bytes";
	return s->why && s->mode == DP_MODE_JUMP ? DP_WANT_TRAP : DP_WANT_PLAN;
}

/* Sites, each once. */
struct batch {
	u32 *v, n;
};

static void mark(struct dp_engine *e, struct batch *b, struct dp_site *s)
{
	if (!s || s->marked || !s->planned || s->hook >= 0)
		return;
	s->marked = true;
	b->v[b->n++] = (u32)(s - e->sites);
}

/* A site, and those whose five bytes it is in. */
static void mark_around(struct dp_engine *e, struct batch *b, u32 i)
{
	u64 addr = e->sites[i].addr, d;

	mark(e, b, &e->sites[i]);
	for (d = 1; d < DP_JUMP_SIZE; d++)
		mark(e, b, dp_engine_find(e, addr - d));
}

static struct batch batch_of(struct dp_engine *e, const u32 *probes, u32 n)
{
	struct batch b = { e->growth->touched, 0 };
	u32 i;

	for (i = 0; i < n; i++)
		mark_around(e, &b, e->probes[probes[i]].site);
	return b;
}

static void set_copy(struct dp_site_entry *s, bool whole)
{
	u64 copy = whole ? s->jump.base + s->jump.insn[0] : s->single;

	__atomic_store_n(&s->copy, copy, __ATOMIC_RELEASE);
}

static bool is_later(const struct dp_engine *e, u32 a, u32 b)
{
	return e->sites[a].addr > e->sites[b].addr;
}

static void sort_by_address(const struct dp_engine *e, u32 *v, u32 n)
{
	u32 gap, i, j, x;

	for (gap = n / 2; gap; gap /= 2)
		for (i = gap; i < n; i++) {
			x = v[i];
			for (j = i; j >= gap && is_later(e, v[j - gap], x);
			     j -= gap)
				v[j] = v[j - gap];
			v[j] = x;
		}
}

/* Threads could not be brought out of the way: breakpoints do as well, until the
 * next call. */
static int stay_traps(struct dp_engine *e, const u32 *which, u32 n)
{
	static const char *const why = "threads are in the way of a jump";
	u32 i;

	for (i = 0; i < n; i++) {
		struct dp_site_entry *s = entry_of(e, which[i]);

		e->sites[which[i]].why = why;
		dp_entry_why(e->arena, s, why);
		s->wanted = DP_WANT_TRAP;
	}
	return 0;
}

/* Somebody else has to stop us for that. */
static int arm_stopped(struct dp_engine *e, const struct dp_sites *sites)
{
	const struct dp_growth *g = e->growth;
	u32 *which = g->touched + sites->n, n = 0, i;
	int err;

	for (i = 0; i < sites->n; i++) {
		const struct dp_site_entry *s = dp_sites_at(sites, i);

		if (s->mode == DP_MODE_JUMP && s->wanted == DP_WANT_PLAN &&
		    s->armed != DP_SITE_THERE && s->armed != DP_SITE_GONE)
			which[n++] = sites->which[i];
	}
	sort_by_address(e, which, n);
	err = n ? g->setup.ops->stopped(g->setup.arg, which, n) : 0;
	return err == -EAGAIN ? stay_traps(e, which, n) : err;
}

static int arm_jumps(struct dp_engine *e, struct dp_target *target,
		     const struct dp_sites *sites, u64 *bad)
{
	if (e->arming == DP_ARM_QUIESCE)
		return arm_stopped(e, sites);
	return dp_strategy_interior.arm(target, sites, bad);
}

static void decide(struct dp_engine *e, const struct batch *b)
{
	u32 i;

	for (i = 0; i < b->n; i++) {
		struct dp_site *s = &e->sites[b->v[i]];
		struct dp_site_entry *entry = entry_of(e, b->v[i]);

		entry->wanted = want(e, s);
		entry->jump.stray = s->stray;
		dp_entry_why(e->arena, entry, s->why);
		s->was_jump |= s->mode == DP_MODE_JUMP &&
			       entry->wanted == DP_WANT_PLAN;
	}
}

/** struct pass - over a batch; @bad: address where it failed, or NULL */
struct pass {
	struct dp_engine *e;
	struct dp_target *target;
	const struct batch *b;
	u64 *bad;
};

/* To what the sites shall be. What fails stays as it is. */
static int write_batch(void *what)
{
	const struct pass *p = what;
	struct dp_engine *e = p->e;
	struct dp_target *target = p->target;
	const struct batch *b = p->b;
	struct dp_sites sites = { e->view.sites, b->n, b->v, true, false };
	u64 *bad = p->bad;
	int err, later;
	u32 i;

	decide(e, b);
	err = dp_strategy_interior.disarm(target, &sites, bad);
	later = dp_strategy_trap.disarm(target, &sites, err ? NULL : bad);
	err = err ? err : later;
	if (!err)
		err = dp_text_sync(target);
	for (i = 0; i < b->n; i++) {
		struct dp_site_entry *s = entry_of(e, b->v[i]);

		set_copy(s,
			 s->mode == DP_MODE_JUMP && s->wanted == DP_WANT_PLAN);
	}
	if (!err)
		err = arm_jumps(e, target, &sites, bad);
	if (!err)
		err = dp_strategy_trap.arm(target, &sites, bad);
	return err;
}

static void take_out(struct dp_engine *e, u32 probe)
{
	struct dp_probe *p = &e->probes[probe];

	dp_engine_drop(e, probe);
	if (p->linked)
		mirror(e, p->site);
	p->linked = false;
	probe_entry(e, probe)->gone = 0;
}

/* Until it is removed, who lists the probes from outside is told where it was. */
static void take_gone(struct dp_engine *e, u32 probe)
{
	u64 addr = e->sites[e->probes[probe].site].addr;

	take_out(e, probe);
	probe_entry(e, probe)->gone = addr;
}

/* With all its probes. */
static void drop(struct dp_engine *e, u32 i)
{
	while (e->sites[i].first_probe)
		take_gone(e, e->sites[i].first_probe - 1);
	bury(e, &e->sites[i]);
	e->growth->lost = true;
}

/* First all are looked at: the bytes of one are told from what is armed around
 * it. Return: whether there were any. */
static bool drop_gone(struct dp_engine *e, struct dp_target *target,
		      const struct batch *b)
{
	u32 *gone = b->v + b->n, n = 0, i;

	for (i = 0; i < b->n; i++)
		if (dp_site_is_gone(e, target, b->v[i]))
			gone[n++] = b->v[i];
	for (i = 0; i < n; i++)
		drop(e, gone[i]);
	return n;
}

static bool met_gone(const struct dp_engine *e, const struct batch *b)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		if (entry_of(e, b->v[i])->armed == DP_SITE_GONE)
			return true;
	return false;
}

static bool any_stray(const struct dp_engine *e, const struct batch *b)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		if (e->sites[b->v[i]].stray)
			return true;
	return false;
}

/* Where it fails, that may be because code has gone: then it is done for the
 * others. */
static int apply(struct dp_engine *e, struct dp_target *target, struct batch *b,
		 u64 *bad)
{
	const struct dp_live_setup *setup = &e->growth->setup;
	struct pass pass = { e, target, b, bad };
	bool again = true;
	int err = 0;
	u32 i;

	while (again) {
		err = setup->ops->hold(setup->arg, any_stray(e, b), write_batch,
				       &pass);
		again = (err || met_gone(e, b)) && drop_gone(e, target, b);
	}
	for (i = 0; i < b->n; i++)
		e->sites[b->v[i]].marked = false;
	e->growth->nr_touched = b->n;
	return err;
}

static int apply_around(struct dp_engine *e, struct dp_target *target,
			const u32 *probes, u32 n, u64 *bad)
{
	struct batch b = batch_of(e, probes, n);

	return apply(e, target, &b, bad);
}

int dp_live_commit(struct dp_engine *e, struct dp_target *target,
		   const u32 *probes, u32 n, u32 *bad)
{
	u64 addr = 0;
	int err = 0;
	u32 i;

	for (i = 0; i < n && !err; i++) {
		err = prepare(e, probes[i]);
		*bad = i;
	}
	if (!err)
		err = dp_grow_write(e);
	for (i = 0; i < n && !err; i++)
		link_in(e, probes[i]);
	if (!err)
		err = apply_around(e, target, probes, n, &addr);
	for (i = 0; addr && i < n; i++)
		if (dp_live_addr(e, probes[i]) == addr)
			*bad = i;
	for (i = 0; !err && i < n; i++)
		if (dp_live_gone(e, probes[i])) {
			*bad = i;
			err = -EFAULT;
		}
	return err;
}

int dp_live_remove(struct dp_engine *e, struct dp_target *target,
		   const u32 *probes, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		take_out(e, probes[i]);
	return apply_around(e, target, probes, n, NULL);
}

const struct dp_handlers *dp_live_handlers(const struct dp_engine *e, u32 probe)
{
	return &e->probes[probe].handlers;
}

/* For the hit half, which goes by its own memory, and by what only control writes. */
static void tell_off(struct dp_engine *e, u32 probe)
{
	__atomic_fetch_or(&e->view.states[probe].status, DP_PROBE_REMOVED,
			  __ATOMIC_SEQ_CST);
	__atomic_store_n(&probe_entry(e, probe)->enabled, 0, __ATOMIC_SEQ_CST);
}

/* Only what never moves is looked at here, and nothing that a probed process can write. */
bool dp_live_switch_off(struct dp_engine *e, u32 probe, u64 user)
{
	struct dp_switch *s;

	if (probe >= e->max_sites)
		return false;
	s = &e->growth->switches[probe];
	if (__atomic_load_n(&s->user, __ATOMIC_ACQUIRE) != user ||
	    __atomic_exchange_n(&s->off, 1, __ATOMIC_SEQ_CST))
		return false;
	tell_off(e, probe);
	__atomic_store_n(&entry_of(e, s->site)->fast, 0, __ATOMIC_SEQ_CST);
	if (s->follow)
		__atomic_store_n(&((struct dp_follow *)s->follow)->handler, 0,
				 __ATOMIC_RELEASE);
	return true;
}

bool dp_live_is_off(const struct dp_engine *e, u32 probe)
{
	return is_off(e, probe);
}

void dp_live_forget(struct dp_engine *e, u32 probe)
{
	give_probe(e, probe);
}

static u64 missed(const struct dp_engine *e, u32 probe)
{
	const u64 *tally = e->view.states[probe].tally;

	return __atomic_load_n(&tally[DP_TALLY_RECURSED], __ATOMIC_RELAXED) +
	       __atomic_load_n(&tally[DP_TALLY_CONTEXT], __ATOMIC_RELAXED) +
	       __atomic_load_n(&tally[DP_TALLY_SELF], __ATOMIC_RELAXED);
}

/* Sites are counted, so a probe has what came while it was enabled. */
static void note_hits(struct dp_engine *e, u32 probe)
{
	struct dp_probe *p = &e->probes[probe];
	u64 now = dp_view_hits(&e->view, p->site);

	if (p->enabled)
		p->hits += now - p->since;
	p->since = now;
}

u64 dp_live_hits(struct dp_engine *e, u32 probe)
{
	u64 lost = missed(e, probe);

	note_hits(e, probe);
	return e->probes[probe].hits > lost ? e->probes[probe].hits - lost : 0;
}

/* Handlers that have faulted are called again. */
static void forgive(struct dp_engine *e, u32 probe)
{
	__atomic_fetch_and(&e->view.states[probe].status, ~DP_PROBE_FAULTED,
			   __ATOMIC_RELEASE);
}

int dp_live_enable(struct dp_engine *e, struct dp_target *target,
		   const u32 *probes, u32 n, bool enabled)
{
	u32 i;

	for (i = 0; i < n; i++) {
		note_hits(e, probes[i]);
		if (enabled)
			forgive(e, probes[i]);
		e->probes[probes[i]].enabled = enabled;
		__atomic_store_n(&probe_entry(e, probes[i])->enabled, enabled,
				 __ATOMIC_SEQ_CST);
		/* One that has been switched off meanwhile stays so. */
		if (is_off(e, probes[i]))
			tell_off(e, probes[i]);
		mirror(e, e->probes[probes[i]].site);
	}
	return apply_around(e, target, probes, n, NULL);
}

void dp_live_set_knobs(struct dp_engine *e, bool armed, bool jumps)
{
	e->growth->disarmed = !armed;
	e->growth->unoptimized = !jumps;
}

int dp_live_knobs(struct dp_engine *e, struct dp_target *target, bool armed,
		  bool jumps)
{
	struct batch b = { e->growth->touched, 0 };
	u32 i;

	dp_live_set_knobs(e, armed, jumps);
	for (i = 0; i < e->nr_sites; i++)
		mark(e, &b, &e->sites[i]);
	return apply(e, target, &b, NULL);
}

bool dp_live_faulted(const struct dp_engine *e, u32 probe)
{
	return e->view.states[probe].status & DP_PROBE_FAULTED;
}

bool dp_live_intact(const struct dp_engine *e, struct dp_target *target,
		    u32 probe)
{
	const struct dp_site_entry *s = entry_of(e, e->probes[probe].site);
	u8 now[DP_JUMP_SIZE];

	if (!s->addr ||
	    target->ops->read(target, s->addr, now, dp_site_patch_len(s)))
		return false;
	switch (s->armed) {
	case DP_SITE_OFF:
		return dp_site_bytes(s, now) == DP_BYTES_ORIGINAL;
	case DP_SITE_THERE:
		return dp_site_bytes(s, now) == DP_BYTES_PATCH;
	default:
		return now[0] == DP_BREAKPOINT;
	}
}

void dp_live_abandon(struct dp_engine *e, u32 probe)
{
	struct dp_site *s = &e->sites[e->probes[probe].site];

	if (!e->probes[probe].linked)
		return;
	take_gone(e, probe);
	if (!s->first_probe)
		bury(e, s);
}

void dp_live_check(struct dp_engine *e, struct dp_target *target, u32 probe)
{
	u32 i = e->probes[probe].site;

	if (dp_site_is_gone(e, target, i))
		drop(e, i);
}

bool dp_live_gone(const struct dp_engine *e, u32 probe)
{
	return !dp_live_addr(e, probe);
}

bool dp_live_lost(struct dp_engine *e)
{
	bool lost = e->growth->lost;

	e->growth->lost = false;
	return lost;
}

/* Return: whether there are others. */
static bool take_back(const struct dp_engine *e, struct dp_target *target,
		      enum dp_bytes most)
{
	u8 now[DP_JUMP_SIZE];
	bool others = false;
	enum dp_bytes is;
	u32 i;

	for (i = 0; i < e->nr_sites; i++) {
		const struct dp_site_entry *s = entry_of(e, i);
		u8 n = dp_site_patch_len(s);

		if (!e->sites[i].planned || e->sites[i].hook >= 0 || !s->addr ||
		    target->ops->read(target, s->addr, now, n))
			continue;
		is = dp_site_bytes(s, now);
		if (is != DP_BYTES_ORIGINAL && is <= most)
			target->ops->write(target, s->addr, s->orig, n);
		others |= is > most;
	}
	return others;
}

/* Which of them was armed when we were made nobody knows any more; but what
 * belongs there, unless other code has come to that place. Jumps may begin inside
 * the bytes of another site, so they go first, and those on their way next. */
void dp_live_leave(const struct dp_engine *e, struct dp_target *target)
{
	if (take_back(e, target, DP_BYTES_PATCH) &&
	    take_back(e, target, DP_BYTES_MINGLED))
		take_back(e, target, DP_BYTES_MINGLED);
}

void dp_live_touched(const struct dp_engine *e,
		     void (*tell)(void *arg, u32 probe), void *arg)
{
	u32 i, p;

	for (i = 0; i < e->growth->nr_touched; i++)
		for (p = e->sites[e->growth->touched[i]].first_probe; p;
		     p = e->probes[p - 1].next)
			tell(arg, p - 1);
}

bool dp_live_first(const struct dp_engine *e, u64 addr, u32 *probe)
{
	const struct dp_site *s = dp_engine_find(e, addr);

	if (s && s->first_probe)
		*probe = s->first_probe - 1;
	return s && s->first_probe;
}

bool dp_live_next(const struct dp_engine *e, u32 *probe)
{
	u32 next = e->probes[*probe].next;

	if (next)
		*probe = next - 1;
	return next;
}

void dp_live_originals(const struct dp_engine *e, u64 addr, u8 *code,
		       size_t size)
{
	const struct dp_site *s;
	const struct dp_site_entry *entry;
	u64 at;
	u32 k, n;

	for (at = addr - (DP_JUMP_SIZE - 1); at != addr + size; at++) {
		s = dp_engine_find(e, at);
		if (!s || !s->planned)
			continue;
		entry = entry_of(e, (u32)(s - e->sites));
		n = entry->armed ? dp_site_patch_len(entry) : 0;
		for (k = 0; k < n; k++)
			if (at + k - addr < size)
				code[at + k - addr] = entry->orig[k];
	}
}

bool dp_live_optimized(const struct dp_engine *e, u32 probe)
{
	const struct dp_site_entry *s = entry_of(e, e->probes[probe].site);

	return s->mode == DP_MODE_JUMP && s->armed == DP_SITE_THERE;
}

u64 dp_live_addr(const struct dp_engine *e, u32 probe)
{
	return e->sites[e->probes[probe].site].addr;
}
