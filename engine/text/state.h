/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* state: whether a site's patch is in the text. */
#ifndef DP_TEXT_STATE_H
#define DP_TEXT_STATE_H

#include "engine/layout/site.h"

/**
 * dp_site_set_state() - the only function that changes a site's @armed
 * @site: control's own; what a target may write there is not believed
 * @to: DP_SITE_*; the table is in state.c
 *
 * A site counts as armed from before its patch's first byte is written until after the
 * last is back. An arming therefore calls this before it writes, and writes nothing if it
 * fails.
 *
 * Context: control. One thread at a time writes to a site; others may read it.
 * Return: 0; -EINVAL: no site goes from its state to @to. The state then stays, the site
 * is no longer wanted, and dp_engine_impossible() counts one more.
 */
int dp_site_set_state(struct dp_site_entry *site, u8 to);

/**
 * dp_site_mirror_state() - give an entry the state of another entry for the same bytes
 * @of: the leader whose jump covers @site; the parent's entry of the same site; or the
 *   copy of the entry with which another process has worked
 * Return: 0; -EINVAL as above: @of has no valid state.
 */
int dp_site_mirror_state(struct dp_site_entry *site,
			 const struct dp_site_entry *of);

/** enum dp_bytes - the bytes at a site; all are ours but the last */
enum dp_bytes {
	DP_BYTES_ORIGINAL,
	DP_BYTES_PATCH,
	DP_BYTES_BETWEEN, /* on the way from one to the other */
	/* and with breakpoints that other sites may have inside */
	DP_BYTES_MINGLED,
	DP_BYTES_FOREIGN,
};

/**
 * dp_site_bytes() - are these bytes ours?
 * @now: dp_site_patch_len() bytes, as they are in the text
 */
enum dp_bytes dp_site_bytes(const struct dp_site_entry *site, const u8 *now);

/** dp_site_patch_len() - how many bytes are replaced for this site, and not for one whose jump
 *  covers it; bounded, whatever a target writes to the entry meanwhile */
static inline u8 dp_site_patch_len(const struct dp_site_entry *site)
{
	u8 n = __atomic_load_n(&site->patch_len, __ATOMIC_RELAXED);

	if (site->inner && __atomic_load_n(&site->leader, __ATOMIC_RELAXED))
		return 0;
	return n <= sizeof(site->patch) ? n : sizeof(site->patch);
}

/** dp_engine_impossible() - refused changes of a site's state, since the tool began */
u64 dp_engine_impossible(void);

bool dp_bytes_same(const u8 *a, const u8 *b, size_t n);

#endif
