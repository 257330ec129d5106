/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* site: those that control has prepared, as a thread that hits finds them. */
#ifndef DP_HIT_SITE_H
#define DP_HIT_SITE_H

#include "port_types.h"
#include "engine/layout/site.h"

#pragma GCC visibility push(hidden)

/** dp_site_lookup() - the site that has a breakpoint of ours at an address, be
 *  it in the text or behind its second copy; or NULL */
const struct dp_site_entry *dp_site_lookup(u64 addr);

/**
 * dp_site_boundary() - the instruction of a site's region that stands behind a breakpoint
 * in its jump at @addr
 * Return: its number, from 1; -1: there is none.
 */
int dp_site_boundary(const struct dp_site_entry *site, u64 addr);

/**
 * dp_site_trapped() - whose breakpoint a thread has met
 * @pc: its address
 * @int3: it is one; false: what stands for one where the bytes of a jump allow no other
 * @around: set to the site whose jump it is in the middle of, or NULL
 * Return: the site that the trap is of, or NULL. A site of its own that has no probe any
 * more leaves the trap to the one around it.
 */
const struct dp_site_entry *dp_site_trapped(u64 pc, bool int3,
					    const struct dp_site_entry **around);

#pragma GCC visibility pop

#endif
