// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* site: the probed addresses of an engine, one object each. */
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/insn/insn.h"
#include "engine/insn/region.h"
#include "engine/layout/private.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"
#include "port.h"

/* Callers often search a range: neighbours share cache lines, and most of their slots are
 * free. */
#define NEIGHBOURS 64

static u32 slot_of(const struct dp_engine *e, u64 addr)
{
	u32 block = dp_site_hash(addr / NEIGHBOURS) * NEIGHBOURS;

	return (block + (u32)(addr % NEIGHBOURS)) & e->hash_mask;
}

struct dp_site *dp_engine_find(const struct dp_engine *e, u64 addr)
{
	u32 i = slot_of(e, addr);

	if (!e->hash)
		return NULL;
	for (; e->hash[i].site; i = (i + 1) & e->hash_mask)
		if (e->hash[i].low == (u32)addr &&
		    e->sites[e->hash[i].site - 1].addr == addr)
			return &e->sites[e->hash[i].site - 1];
	return NULL;
}

/* Data is found by its number alone. */
static void hash_insert(struct dp_engine *e, u32 site)
{
	u64 addr = e->sites[site].addr;
	u32 i = slot_of(e, addr);

	if (e->sites[site].watch)
		return;
	while (e->hash[i].site)
		i = (i + 1) & e->hash_mask;
	e->hash[i] = (struct dp_site_slot){ site + 1, (u32)addr };
	e->nr_hashed++;
}

/* At most half full, so that a failing search is short. */
static int hash_reserve(struct dp_engine *e)
{
	u32 slots = e->hash ? e->hash_mask + 1 : 0;
	struct dp_site_slot *bigger;
	u32 i;

	if (slots / 2 > e->nr_hashed)
		return 0;
	while (slots / 2 <= e->nr_sites)
		slots = slots ? slots * 2 : 16;
	bigger = dp_port_alloc(slots * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	dp_port_free(e->hash);
	e->hash = bigger;
	e->hash_mask = slots - 1;
	e->nr_hashed = 0;
	for (i = 0; i < e->nr_sites; i++)
		hash_insert(e, i);
	return 0;
}

int dp_engine_reserve(void **array, u32 used, u32 *cap, size_t each)
{
	u32 want = *cap ? *cap * 2 : 16;
	void *bigger;

	if (used < *cap)
		return 0;
	bigger = dp_port_resize(*array, want * each);
	if (!bigger)
		return -ENOMEM;
	*array = bigger;
	*cap = want;
	return 0;
}

void *dp_engine_dup(const void *from, size_t bytes)
{
	void *to = dp_port_alloc(bytes ? bytes : 1);

	if (to && bytes)
		__builtin_memcpy(to, from, bytes);
	return to;
}

static int new_site(struct dp_engine *e, const struct dp_site *site,
		    struct dp_site **made)
{
	u32 i = e->spare_sites ? e->spare_sites - 1 : e->nr_sites;
	struct dp_left left = { 0 };

	if (dp_engine_reserve((void **)&e->sites, e->nr_sites, &e->cap_sites,
			      sizeof(*e->sites)) ||
	    hash_reserve(e))
		return -ENOMEM;
	if (e->spare_sites) {
		e->spare_sites = e->sites[i].pool;
		left = e->sites[i].left;
	} else {
		e->nr_sites++;
	}
	e->sites[i] = *site;
	e->sites[i].left = left;
	hash_insert(e, i);
	*made = &e->sites[i];
	return 0;
}

static int examine(struct dp_site *site, u64 addr, const u8 *code, size_t size,
		   const char **why)
{
	size_t i;
	int err;

	*site = (struct dp_site){ .addr = addr, .intercept = -1 };
	if (size && code[0] == DP_BREAKPOINT) {
		*why = "a breakpoint is already there, a debugger's or a kernel uprobe's: take that away first";
		return -EBUSY;
	}
	err = dp_insn_facts(code, size, &site->facts);
	if (err) {
		*why = "there is no instruction there";
		return err;
	}
	if (site->facts.class == DP_INSN_REFUSED) {
		*why = site->facts.refusal;
		return -EINVAL;
	}
	site->size = site->facts.len;
	site->why = "nothing is known of the code behind it";
	/* A breakpoint's entry notes five bytes; those behind it are not ours. */
	for (i = 0; i < DP_REGION_MAX; i++)
		site->code[i] = i < size ? code[i] : 0;
	return 0;
}

static void belong(struct dp_engine *e, struct dp_site *site, u32 probe)
{
	e->probes[probe].site = (u32)(site - e->sites);
	e->probes[probe].fresh = true;
	site->probes++;
}

void dp_site_link(struct dp_engine *e, struct dp_site *site, u32 probe)
{
	belong(e, site, probe);
	e->probes[probe].next = 0;
	if (site->last_probe)
		e->probes[site->last_probe - 1].next = probe + 1;
	else
		site->first_probe = probe + 1;
	site->last_probe = probe + 1;
}

void dp_site_link_first(struct dp_engine *e, struct dp_site *site, u32 probe)
{
	belong(e, site, probe);
	e->probes[probe].next = site->first_probe;
	site->first_probe = probe + 1;
	if (!site->last_probe)
		site->last_probe = probe + 1;
}

void dp_site_link_before_last(struct dp_engine *e, struct dp_site *site,
			      u32 probe)
{
	u32 last = site->last_probe, *link = &site->first_probe;

	while (*link != last)
		link = &e->probes[*link - 1].next;
	belong(e, site, probe);
	e->probes[probe].next = last;
	*link = probe + 1;
}

void dp_engine_drop(struct dp_engine *e, u32 probe)
{
	struct dp_site *site = &e->sites[e->probes[probe].site];
	u32 *link = &site->first_probe, last = 0;

	while (*link && *link != probe + 1) {
		last = *link;
		link = &e->probes[last - 1].next;
	}
	if (*link)
		*link = e->probes[probe].next;
	if (site->last_probe == probe + 1)
		site->last_probe = last;
}

int dp_site_take(struct dp_engine *e, u64 addr, const u8 *code, size_t size,
		 struct dp_site **site, const char **why)
{
	struct dp_site fresh;
	int err;

	*site = dp_engine_find(e, addr);
	if (*site)
		return 0;
	err = examine(&fresh, addr, code, size, why);
	if (!err) {
		*why = "out of memory";
		err = new_site(e, &fresh, site);
	}
	return err;
}

bool dp_site_is_jump(const struct dp_site *s)
{
	return s->wants == DP_WANT_PLAN || s->leader || s->behind;
}

bool dp_engine_jumps_over(const struct dp_engine *e, u64 addr)
{
	const struct dp_site_entry *entry;
	const struct dp_site *s;
	u64 d;

	for (d = 1; d < DP_JUMP_SIZE; d++) {
		s = dp_engine_find(e, addr - d);
		entry = s ? dp_entry_of(e, s) : NULL;
		if (entry && dp_site_jumps(entry))
			return true;
	}
	return false;
}

bool dp_site_inside_intercept(const struct dp_engine *e, u64 addr)
{
	const struct dp_site *s;
	u64 d;

	for (d = e->own ? 1 : 0; d < DP_REGION_MAX; d++) {
		s = dp_engine_find(e, addr - d);
		if (s && s->intercept >= 0 && s->region.len > d)
			return true;
	}
	return false;
}

/* A jump that is written in one go cannot become another one without missing a hit. */
static bool inside_jump(const struct dp_engine *e, u64 addr)
{
	const struct dp_site *s;
	u64 d;

	for (d = 0; e->signal_free && d < DP_REGION_MAX; d++) {
		s = dp_engine_find(e, addr - d);
		if (s && s->wants == DP_WANT_PLAN && d < s->region.len)
			return true;
	}
	return false;
}

/* The last entry of the table is nobody's: see dp_hash_leave(). */
bool dp_site_has_room(const struct dp_engine *e, u64 addr)
{
	return e->nr_sites < e->max_sites - 1 || e->spare_sites ||
	       dp_engine_find(e, addr);
}

int dp_site_may_join(const struct dp_engine *e, u64 addr, const char **why)
{
	if (!e->arena)
		return 0;
	*why = DP_WHY_OVERLAP;
	if (dp_site_inside_intercept(e, addr) || inside_jump(e, addr))
		return -EBUSY;
	*why = "there are too many probes";
	return dp_site_has_room(e, addr) ? 0 : -ENOSPC;
}

int dp_engine_add(struct dp_engine *e, u64 addr, const u8 *code, size_t size,
		  u32 *probe, const char **why)
{
	struct dp_site *site;
	const char *reason = "out of memory";
	int err = dp_engine_reserve((void **)&e->probes, e->nr_probes,
				    &e->cap_probes, sizeof(*e->probes));

	dp_release_replaced(e, addr, code, size);
	if (!err)
		err = dp_site_may_join(e, addr, &reason);
	if (!err)
		err = dp_site_take(e, addr, code, size, &site, &reason);
	if (err) {
		if (why)
			*why = reason;
		return err;
	}
	e->probes[e->nr_probes] = (struct dp_probe){ .kind = DP_KIND_PLAIN,
						     .enabled = true,
						     .waits = e->exchanging };
	dp_site_link(e, site, e->nr_probes);
	*probe = e->nr_probes++;
	return 0;
}

int dp_site_make_data(struct dp_engine *e, u64 addr, u8 len, u8 watch,
		      struct dp_site **site)
{
	const struct dp_site fresh = {
		.addr = addr,
		.intercept = -1,
		.why = DP_WHY_DATA,
		.watch = watch,
		.watch_len = len,
		.watch_serial = (u16)(e->watch_serials++ % DP_WATCH_SERIALS)
	};

	return new_site(e, &fresh, site);
}

int dp_site_make_absent(struct dp_engine *e, struct dp_site **site)
{
	const struct dp_site fresh = { .intercept = -1,
				       .why = "its code is not there" };

	return new_site(e, &fresh, site);
}

int dp_engine_add_watch(struct dp_engine *e, u64 addr, u8 len, u8 watch,
			u32 *probe)
{
	struct dp_site *site;

	if (dp_engine_reserve((void **)&e->probes, e->nr_probes, &e->cap_probes,
			      sizeof(*e->probes)) ||
	    dp_site_make_data(e, addr, len, watch, &site))
		return -ENOMEM;
	e->probes[e->nr_probes] = (struct dp_probe){ .kind = DP_KIND_PLAIN,
						     .enabled = true,
						     .waits = e->exchanging };
	dp_site_link(e, site, e->nr_probes);
	*probe = e->nr_probes++;
	return 0;
}

bool dp_engine_probed(const struct dp_engine *e, u64 addr, u64 len)
{
	const struct dp_site *s;
	u64 i;

	for (i = 0; i < len; i++) {
		s = dp_engine_find(e, addr + i);
		if (s && s->first_probe)
			return true;
	}
	return len && e->own;
}

/* Find the instructions that an intercept displaces: from the one that sets the number to
 * the call. For a masked wait, one instruction. */
static void take_call(struct dp_site *s, const u8 *code)
{
	struct dp_region *r = &s->region;
	struct insn_facts f;
	u8 i;

	*r = (struct dp_region){ 0 };
	do {
		dp_insn_facts(code + r->len, DP_REGION_MAX - r->len, &f);
		r->at[r->nr] = r->len;
		r->facts[r->nr++] = f;
		r->len += f.len;
	} while (f.class != DP_INSN_SYSCALL && r->nr < DP_REGION_INSNS &&
		 !dp_call_is_masked_wait((u32)s->intercept));
	for (i = 0; i < r->len; i++)
		s->code[i] = code[i];
}

int dp_engine_add_intercept(struct dp_engine *e, u64 addr, const u8 *code,
			    u32 nr, bool observed)
{
	struct dp_site *site;
	const char *why;
	int err = dp_site_take(e, addr, code, DP_REGION_MAX, &site, &why);

	if (err)
		return err;
	site->intercept = nr;
	site->observed = observed;
	take_call(site, code);
	return 0;
}

u32 dp_engine_probes(const struct dp_engine *e)
{
	return e->nr_probes;
}

bool dp_engine_site(const struct dp_engine *e, size_t i, u64 *addr)
{
	*addr = i < e->nr_sites && !e->sites[i].watch ? e->sites[i].addr : 0;
	return i < e->nr_sites;
}

bool dp_engine_site_comes(const struct dp_engine *e, size_t i)
{
	const struct dp_site *s = &e->sites[i];
	const struct dp_site_entry *entry =
		s->place && !s->watch && !s->leader ? dp_entry_of(e, s) : NULL;

	return entry && entry->armed == DP_SITE_OFF && entry->wanted;
}
