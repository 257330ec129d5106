/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* call: which call-outs come to code that counts calls. */
#ifndef DP_PLAN_CALL_H
#define DP_PLAN_CALL_H

#include "port_types.h"
#include "engine/layout/block.h"

struct dp_engine;
struct dp_site;

/** enum dp_call_way - what a call-out comes to first
 *  @DP_CALL_BEGINS, @DP_CALL_FINISHES: code that does all that is to be done if the site has a
 *         struct dp_call_entry, and else goes on to the agent
 *  @DP_CALL_BEGINS_TIMED, @DP_CALL_FINISHES_TIMED: likewise, of calls that make records */
enum dp_call_way {
	DP_CALL_HITS,
	DP_CALL_BEGINS,
	DP_CALL_FINISHES,
	DP_CALL_BEGINS_TIMED,
	DP_CALL_FINISHES_TIMED,
};

/** dp_call_way() - what the call-out of @site is to come to
 *  dp_call_way_of() - the same for a site with no other probe than @probe */
enum dp_call_way dp_call_way(const struct dp_engine *e,
			     const struct dp_site *site);
enum dp_call_way dp_call_way_of(const struct dp_engine *e, u32 probe);

/** dp_call_entry() - what there is to do at the site of @probe, whose only probe it is; @way: not
 *  DP_CALL_HITS */
struct dp_call_entry dp_call_entry(const struct dp_engine *e, u32 probe,
				   enum dp_call_way way);

/** dp_call_is_inline() - does the detour itself count the calls that begin or end at @site? */
bool dp_call_is_inline(const struct dp_engine *e, const struct dp_site *site);

#endif
