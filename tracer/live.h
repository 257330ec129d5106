/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* live: what is said of probes before they cost anything. */
#ifndef DP_LIVE_H
#define DP_LIVE_H

struct dp_session;

/** dp_live_begin() - probes are armed: say so to a person at a terminal, and to anybody how many are slow,
 *  with -v which, and why; then let a launched command run */
void dp_live_begin(const struct dp_session *s);
/** dp_live_more() - probes have come to a session later: how many are slow, once in a run */
void dp_live_more(const struct dp_session *s);

#endif
