/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hold: what is done for a facility when a record is committed. In a kernel, port/kernel/hold.c does it. */
#ifndef DP_HIT_HOLD_H
#define DP_HIT_HOLD_H

#include "port_types.h"

struct dp_context;
struct dp_hit;

/** The numbers of the facilities that call a debugger, that end a kernel for a dump, and that make core dumps */
#define DP_FACILITY_DEBUGGER 1
#define DP_FACILITY_DUMP 2
#define DP_FACILITY_CORE 3

#pragma GCC visibility push(hidden)

/** dp_hold_begin() - before a record is committed: is its thread to be held for one of them?
 *  Context: may sleep, for a second or so. dp_hold_end() - wait for the tool, likewise. For the
 *  debugger the tool says that the hit halts, see struct dp_hit */
bool dp_hold_begin(const struct dp_context *ctx, const struct dp_hit *hit);
void dp_hold_end(const struct dp_context *ctx);

#pragma GCC visibility pop

#endif
