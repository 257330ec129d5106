/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* landing: addresses for jumps that contain breakpoints. */
#ifndef DP_PLAN_LANDING_H
#define DP_PLAN_LANDING_H

#include "port_types.h"

struct dp_engine;
struct dp_site;
struct dp_hole;

struct dp_landings;
/** dp_landing_find() - an address for one site's jump: @s->landing, @s->last.
 *  @l: begins as NULL; the holes are those at the time.
 *  Return: 0; -ENOMEM; 1 there is none. */
int dp_landing_find(struct dp_landings **l, struct dp_engine *e,
		    struct dp_site *s, const struct dp_hole *holes, size_t n);
void dp_landings_free(struct dp_landings *l);
/** dp_landings_place() - find addresses for jumps that contain breakpoints */
int dp_landings_place(struct dp_engine *e, const struct dp_hole *holes,
		      size_t n);

#endif
