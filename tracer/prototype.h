/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prototype: what the tables of prototypes know of the functions that specs name. */
#ifndef DP_TRACER_PROTOTYPE_H
#define DP_TRACER_PROTOTYPE_H

struct dp_prototype;
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

#endif
