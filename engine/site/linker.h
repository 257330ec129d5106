/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* linker: where libraries come and go, and specs that wait for one. */
#ifndef DP_SITE_LINKER_H
#define DP_SITE_LINKER_H

#include "port_types.h"

struct dp_engine;
struct dp_target;

/**
 * dp_engine_watch_linker() - a hidden probe where the dynamic linker tells
 * debuggers of libraries
 * @addr: of _dl_debug_state(); @code: bytes found there
 * @state: address of r_state in _r_debug
 *
 * The last probe that is added. Before the layout. Return: as dp_engine_add().
 */
int dp_engine_watch_linker(struct dp_engine *engine, u64 addr, const u8 *code,
			   size_t size, u64 state, const char **why);
/** dp_engine_arm_linker() - that probe alone, before dp_engine_arm(). Return: as that. */
int dp_engine_arm_linker(struct dp_engine *engine, struct dp_target *target,
			 u64 *bad);
/** dp_engine_set_pending() - name a spec that waits for its library, for those who
 *  list the probes. Before the build. */
void dp_engine_set_pending(struct dp_engine *engine, const char *spec);

#endif
