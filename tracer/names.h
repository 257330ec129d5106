/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* names: whether a spec's values and condition can be computed. */
#ifndef DP_TRACER_NAMES_H
#define DP_TRACER_NAMES_H

#include <stddef.h>

struct dp_diag;
struct dp_modules;
struct dp_session;
struct dp_spec;

/** dp_names_check() - check a spec's ARGS and COND with the names that its prototype has, or set
 *  its @asks. Return: 0; -EINVAL, -EOPNOTSUPP with a caret; -ENOMEM. */
int dp_names_check(const struct dp_session *s, struct dp_spec *spec,
		   struct dp_diag *diag);
/**
 * dp_names_ask() - find what the names of @spec are at its points, of which @first is the first
 *
 * Points at which a name has no value are refused, with the reason.
 * Return: 0; a negative errno with words, if no point has all values.
 */
int dp_names_ask(struct dp_session *s, struct dp_modules *mods,
		 struct dp_spec *spec, size_t first, struct dp_diag *diag);

#endif
