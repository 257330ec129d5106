/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* copy: one instruction of a site, made to run out of line. */
#ifndef DP_PLAN_COPY_H
#define DP_PLAN_COPY_H

#include "port_types.h"

struct dp_site;
struct dp_site_entry;

/** dp_entry_begin() - what an entry says of its instruction */
void dp_entry_begin(const struct dp_site *s, struct dp_site_entry *entry);
/** dp_entry_copy() - write its copy, at @entry->copy. Return: 0; -ENOMEM it does not reach
 *  what it refers to. */
int dp_entry_copy(const struct dp_site *s, struct dp_site_entry *entry,
		  u8 *out);
/** dp_entry_post() - write its copy that ends in a breakpoint, at @entry->post */
int dp_entry_post(const struct dp_site *s, struct dp_site_entry *entry,
		  u8 *out);
/** dp_site_needs_post() - has a record to wait for the instruction? */
bool dp_site_needs_post(const struct dp_site *s);

#endif
