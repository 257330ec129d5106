/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* calls: sites where detours begin and end calls that are only counted. */
#ifndef DP_SITE_CALLS_H
#define DP_SITE_CALLS_H

#include "port_types.h"

struct dp_engine;
struct dp_site;

/** enum dp_calls_way - what a site's call-out comes to first
 *  @DP_CALLS_ENTER, @DP_CALLS_EXIT: code that does all that is to be done if the site has a
 *         struct dp_call_entry, and else goes on to the agent */
enum dp_calls_way {
	DP_CALLS_HIT,
	DP_CALLS_ENTER,
	DP_CALLS_EXIT,
};

/** dp_calls_way() - which code a detour is to call at a site */
enum dp_calls_way dp_calls_way(const struct dp_engine *e,
			       const struct dp_site *site);

/** dp_calls_note() - fill in the struct dp_call_entry of site @i, by its probes as they are now
 *  Context: control half, after the tables have been laid out. */
void dp_calls_note(struct dp_engine *e, u32 i);

#endif
