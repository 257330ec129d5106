/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* copy: one instruction of a site, made to run out of line. */
#ifndef DP_PLAN_COPY_H
#define DP_PLAN_COPY_H

#include "port_types.h"

struct dp_site;
struct dp_site_entry;

/** dp_entry_begin() - fill in what an entry says of its instruction */
void dp_entry_begin(const struct dp_site *s, struct dp_site_entry *entry);
/** dp_entry_copy() - write a site's copy, at @entry->single. Return: 0; -ENOMEM the copy
 *  cannot address what it refers to. */
int dp_entry_copy(const struct dp_site *s, struct dp_site_entry *entry,
		  u8 *out);
/** dp_entry_post() - write a site's copy that ends in a breakpoint, at @entry->post */
int dp_entry_post(const struct dp_site *s, struct dp_site_entry *entry,
		  u8 *out);
/** dp_site_needs_post() - does a record have to wait for the instruction? */
bool dp_site_needs_post(const struct dp_site *s);

#endif
