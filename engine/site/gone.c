// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gone: has the code at a site been unmapped or replaced?
 *
 * Of code that the dynamic linker has loaded the library knows. Other code can go
 * at any time, and something else may be in its place: then its bytes tell. Only
 * where nobody who comes there would come to us is a site gone: a breakpoint of
 * ours that nobody knows any more ends the program.
 */
#include "arch/arch.h"
#include "engine/insn/region.h"
#include "engine/site/live.h"
#include "engine/text/strategy.h"
#include "engine/layout/site.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "engine/text/target.h"

#define KNOWN DP_REGION_MAX

/* As far as it is mapped. */
static size_t read_known(struct dp_target *target, u64 addr, u8 *now)
{
	size_t n = KNOWN;

	while (n && target->ops->read(target, addr, now, n))
		n--;
	return n;
}

/* A breakpoint alone may be anybody's: does the code behind it look as it did?
 * Programs change some of their code in place, but not all of it. Where
 * @now and @mended differ another site is armed. */
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

static bool is_replaced(const struct dp_engine *e, u32 i, const u8 *now,
			size_t n)
{
	const struct dp_site *s = &e->sites[i];
	const struct dp_site_entry *entry = &e->view.sites[i];
	u8 mended[KNOWN];
	size_t k;

	for (k = 0; k < n; k++)
		mended[k] = now[k];
	dp_live_originals(e, s->addr, mended, n);
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

	if (!s->addr || !s->planned || s->hook >= 0)
		return false;
	if (entry->armed == DP_SITE_GONE)
		return true;
	n = read_known(target, s->addr, now);
	if (n < s->size || n < dp_site_patch_len(entry))
		return true;
	return s->stray && is_replaced(e, i, now, n);
}
