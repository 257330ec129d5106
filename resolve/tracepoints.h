/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tracepoints: the static tracepoints that a spec names. */
#ifndef DP_RESOLVE_TRACEPOINTS_H
#define DP_RESOLVE_TRACEPOINTS_H

#include "sym/tracepoints.h"

struct dp_diag;
struct dp_module;
struct dp_modules;
struct dp_spec;

/**
 * struct dp_found_tracepoint - one place
 * @note: its number among those of its file
 */
struct dp_found_tracepoint {
	const struct dp_module *m;
	const struct dp_tracepoint *t;
	u32 note;
};

struct dp_found_tracepoints {
	struct dp_found_tracepoint *v;
	size_t n, room;
};

/**
 * dp_spec_tracepoints() - the places of the tracepoints that a spec names
 * @found: at least one, module by module; its @v is for free()
 *
 * Of usdt:A:NAME, A is a module if one has that name and such a tracepoint; else it is a provider.
 * Context: may sleep. Source: ours.
 * Return: 0; -ENOENT with words and a caret; -ENOMEM.
 */
int dp_spec_tracepoints(struct dp_modules *mods, const struct dp_spec *spec,
			struct dp_found_tracepoints *found,
			struct dp_diag *diag);

/** dp_tracepoint_spec() - the shortest spec that leads to all places of @f's tracepoint and no others:
 *  "usdt:PROVIDER:NAME", or with its module. Return: for free(); NULL: no memory. */
char *dp_tracepoint_spec(struct dp_modules *mods, const char *module,
			 const struct dp_found_tracepoint *f);

#endif
