/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* state: what a site says of its own bytes in the text. */
#ifndef DP_TEXT_STATE_H
#define DP_TEXT_STATE_H

#include "engine/layout/site.h"

/**
 * dp_site_set_state() - the one way in which a site's @armed changes
 * @site: control's; a target that may write it is believed nothing
 * @to: DP_SITE_*; the table is in state.c
 *
 * Before the first byte of a patch is written the site says that it is armed, and after
 * the last one is back that it is not. So an arming calls this before it writes, and
 * writes nothing if this fails.
 *
 * Context: control. One thread at a time writes to a site; others may read it.
 * Return: 0; -EINVAL: no site goes from its state to @to. Then the state stays, the site
 * is wanted no more, and dp_engine_impossible() is one more.
 */
int dp_site_set_state(struct dp_site_entry *site, u8 to);

/**
 * dp_site_mirror_state() - a record says what another one says of the same bytes
 * @of: the leader whose jump covers @site; the parent's record of the same site; or the copy
 *      of it with which another process has worked
 * Return: 0; -EINVAL as above: @of says nothing that a site can say.
 */
int dp_site_mirror_state(struct dp_site_entry *site,
			 const struct dp_site_entry *of);

/** enum dp_bytes - what stands where a site is; each is ours but the last */
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

/** dp_site_patch_len() - how many bytes are replaced; never more than there are, whatever
 *  a target writes there meanwhile */
static inline u8 dp_site_patch_len(const struct dp_site_entry *site)
{
	u8 n = __atomic_load_n(&site->patch_len, __ATOMIC_RELAXED);

	return n <= sizeof(site->patch) ? n : sizeof(site->patch);
}

/** dp_engine_impossible() - changes of a site that none makes: refused, since the tool
 *  began */
u64 dp_engine_impossible(void);

bool dp_bytes_same(const u8 *a, const u8 *b, size_t n);

#endif
