/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: where the function of a return point is left. */
#ifndef DP_RESOLVE_EXITS_H
#define DP_RESOLVE_EXITS_H

#include "resolve/points.h"
#include "sym/exits.h"

/**
 * dp_exit_reader_find() - fill in @point->exits
 * @m: the module of the point
 * Return: 0; a negative errno with the reason in @point.
 */
int dp_exit_reader_find(struct dp_exit_reader *reader, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *point);

#endif
