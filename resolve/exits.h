/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: where a function that is to be followed is left. */
#ifndef DP_RESOLVE_EXITS_H
#define DP_RESOLVE_EXITS_H

#include "resolve/points.h"
#include "sym/exits.h"
#include "sym/sym.h"

/**
 * dp_exit_reader_find() - fill in @point->exits
 * @m: the module of the point
 * Return: 0; a negative errno with the reason in @point.
 */
int dp_exit_reader_find(struct dp_exit_reader *reader, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *point);

/**
 * dp_exits_follow() - where the function at @addr is left, for the library
 * @list: filled in; free with dp_exits_free()
 * Return: 0; -EINVAL no function begins there; -EOPNOTSUPP where it is left is not known,
 * or not when; -ENOMEM; with words in @diag.
 */
int dp_exits_follow(struct dp_exit_reader *reader, struct dp_modules *mods,
		    u64 addr, struct dp_exit_list *list, struct dp_diag *diag);

/** dp_exits_begin() - does a function begin at @addr, as far as is known?
 *  Return: 0; -EINVAL with words in @diag. */
int dp_exits_begin(struct dp_modules *mods, u64 addr, struct dp_diag *diag);

#endif
