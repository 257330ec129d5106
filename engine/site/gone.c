// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gone: has the code at a site been unmapped or replaced?
 *
 * For code loaded by the dynamic linker, libdprobes knows when it is unloaded. Other code
 * can go at any time, and other code may take its place: then the bytes decide. A site
 * only counts as gone if no thread there can meet our breakpoint: a forgotten one would
 * kill the program.
 */
#include "arch/arch.h"
#include "engine/insn/region.h"
#include "engine/site/grow.h"
#include "engine/site/live.h"
#include "engine/text/strategy.h"
#include "engine/layout/site.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "engine/text/target.h"

#define KNOWN DP_REGION_MAX

/* Read as many bytes as are mapped. */
static size_t read_known(struct dp_target *target, u64 addr, u8 *now)
{
	size_t n = KNOWN;

	while (n && target->ops->read(target, addr, now, n))
		n--;
	return n;
}

/* A breakpoint alone may be foreign: does the code behind it look as it did? Programs
 * change some of their code in place, but not all of it. Where @now and @mended differ,
 * another site is armed. */
static bool is_familiar(const struct dp_site *s, const u8 *now,
			const u8 *mended, size_t n)
{
	bool any = false;
	size_t i;

	for (i = 1; i < n; i++) {
		if (now[i] != mended[i])
			continue;
		if (now[i] == s->code[i])
			return true;
		any = true;
	}
	return !any;
}

static void mend(const struct dp_engine *e, const struct dp_site *s, u64 addr,
		 u8 *code, size_t size)
{
	const struct dp_site_entry *entry = dp_entry_of(e, s);
	u32 k, n = entry && entry->armed ? dp_site_patch_len(entry) : 0;

	for (k = 0; k < n; k++)
		if (s->addr + k - addr < size)
			code[s->addr + k - addr] = entry->orig[k];
}

void dp_engine_originals(const struct dp_engine *e, u64 addr, u8 *code,
			 size_t size)
{
	const struct dp_site *s;
	u64 at;
	u32 i;

	for (i = 0; i < e->nr_sites && e->nr_sites < size; i++)
		mend(e, &e->sites[i], addr, code, size);
	if (i)
		return;
	for (at = addr - (DP_JUMP_SIZE - 1); at != addr + size; at++) {
		s = dp_engine_find(e, at);
		if (s)
			mend(e, s, addr, code, size);
	}
}

static bool is_replaced(const struct dp_engine *e, u32 i, const u8 *now,
			size_t n)
{
	const struct dp_site *s = &e->sites[i];
	const struct dp_site_entry *entry = &e->view.sites[i];
	u8 mended[KNOWN];
	size_t k;

	for (k = 0; k < n; k++)
		mended[k] = now[k];
	dp_engine_originals(e, s->addr, mended, n);
	if (now[0] == DP_BREAKPOINT)
		return !is_familiar(s, now, mended, n);
	return entry->armed ? dp_site_bytes(entry, now) != DP_BYTES_PATCH :
			      !dp_bytes_same(mended, s->code, s->size);
}

bool dp_site_is_gone(const struct dp_engine *e, struct dp_target *target, u32 i)
{
	const struct dp_site *s = &e->sites[i];
	const struct dp_site_entry *entry = &e->view.sites[i];
	u8 now[KNOWN];
	size_t n;

	if (!s->addr || !s->place || s->intercept >= 0)
		return false;
	if (entry->armed == DP_SITE_GONE)
		return true;
	n = read_known(target, s->addr, now);
	if (n < s->size || n < dp_site_patch_len(entry))
		return true;
	return s->unowned && is_replaced(e, i, now, n);
}

/* Until the probe is removed, listings of the arena show its former address. */
static void take_gone(struct dp_engine *e, u32 probe)
{
	u64 addr = e->sites[e->probes[probe].site].addr;

	dp_link_out(e, probe);
	dp_live_probe(e, probe)->gone = addr;
}

void dp_gone_drop(struct dp_engine *e, u32 i)
{
	while (e->sites[i].first_probe)
		take_gone(e, e->sites[i].first_probe - 1);
	dp_release_site(e, &e->sites[i]);
	e->growth->lost = true;
}

void dp_live_abandon(struct dp_engine *e, u32 probe)
{
	struct dp_site *s = &e->sites[e->probes[probe].site];

	if (!e->probes[probe].linked)
		return;
	take_gone(e, probe);
	if (!s->first_probe)
		dp_release_site(e, s);
}

u32 dp_live_leave_code(struct dp_engine *e, bool (*goes)(void *arg, u64 addr),
		       void *arg)
{
	u32 i, n = 0;

	for (i = 0; i < e->nr_sites; i++) {
		if (!e->sites[i].addr || e->sites[i].watch ||
		    !goes(arg, e->sites[i].addr))
			continue;
		dp_gone_drop(e, i);
		n++;
	}
	return n;
}

void dp_live_check(struct dp_engine *e, struct dp_target *target, u32 probe)
{
	u32 i = e->probes[probe].site;

	if (dp_site_is_gone(e, target, i))
		dp_gone_drop(e, i);
}

bool dp_live_gone(const struct dp_engine *e, u32 probe)
{
	return !e->sites[e->probes[probe].site].addr;
}

bool dp_live_lost(struct dp_engine *e)
{
	bool lost = e->growth->lost;

	e->growth->lost = false;
	return lost;
}

bool dp_live_intact(const struct dp_engine *e, struct dp_target *target,
		    u32 probe)
{
	const struct dp_site_entry *s = dp_live_site(e, e->probes[probe].site);
	u8 now[DP_JUMP_SIZE];

	if (!s->addr ||
	    target->ops->read(target, s->addr, now, dp_site_patch_len(s)))
		return false;
	switch (s->armed) {
	case DP_SITE_OFF:
		dp_engine_originals(e, s->addr, now, dp_site_patch_len(s));
		return dp_site_bytes(s, now) == DP_BYTES_ORIGINAL;
	case DP_SITE_THERE:
		return dp_site_bytes(s, now) == DP_BYTES_PATCH;
	default:
		return now[0] == DP_BREAKPOINT;
	}
}
