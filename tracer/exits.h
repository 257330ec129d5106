/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: where the function of a return point is left. */
#ifndef DP_TRACER_EXITS_H
#define DP_TRACER_EXITS_H

#include "tracer/tracer.h"
#include "sym/exits.h"

/**
 * dp_exit_reader_find() - fill in @point->exits
 * @m: the module of the point
 * Return: 0; a negative errno with the reason in @point.
 */
int dp_exit_reader_find(struct dp_exit_reader *reader, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *point);

#endif
