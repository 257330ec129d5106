/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prototype: what the tables of prototypes know of the functions that specs name. */
#ifndef DP_TRACER_PROTOTYPE_H
#define DP_TRACER_PROTOTYPE_H

#include <stdbool.h>
#include <stddef.h>

struct dp_diag;
struct dp_modules;
struct dp_point;
struct dp_prototype;
struct dp_session;
struct dp_spec;

/**
 * dp_prototype_of() - what is known of a function by the tables of prototypes
 * @module: base name or path of its file
 * dp_prototype_of_spec() - the same of the function at whose entry @spec is
 *
 * Tables are read once. Context: may sleep. Source: ours.
 * Return: NULL: nothing. It lives as long as the tool.
 */
const struct dp_prototype *dp_prototype_of(const char *module,
					   const char *function);
const struct dp_prototype *dp_prototype_of_spec(const struct dp_spec *spec);

/**
 * dp_prototype_may_ask() - may debug information know a name that the tables do not?
 * @diag: has what the tables say; why not is added
 */
bool dp_prototype_may_ask(const struct dp_spec *spec, struct dp_diag *diag);
/**
 * dp_prototype_ask() - set the names of point @p of @spec by debug information
 *
 * What has been told once of the same place of the same file is not asked again.
 * Return: 0; as dp_types_scope().
 */
int dp_prototype_ask(struct dp_modules *mods, struct dp_spec *spec,
		     struct dp_point *p);
/** dp_prototype_refuse() - say what is wrong in @spec, and why nothing more is known; @err: of
 *  dp_prototype_ask(), or 0. Return: -EINVAL, -ENOMEM */
int dp_prototype_refuse(const struct dp_spec *spec, int err,
			struct dp_diag *diag);
/** dp_prototype_tell() - print the names that a spec of point @i could have, and those that are
 *  optimised out there; nothing if its spec is a glob, or no names are known */
void dp_prototype_tell(struct dp_session *s, size_t i);
/** dp_prototype_is_changed() - is it a clone, which may have fewer parameters, and return less,
 *  than its name's type says? */
bool dp_prototype_is_changed(const char *symbol);

#endif
