/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* inlined: specs whose function may have been inlined. */
#ifndef DP_TRACER_INLINED_H
#define DP_TRACER_INLINED_H

#include <stdbool.h>
#include <stddef.h>

struct dp_diag;
struct dp_points;
struct dp_session;
struct dp_spec;
struct dp_tracer_options;

/**
 * dp_inlined_ask() - have a spec mean inlined copies where the options say so
 *
 * With -f and no --inlined they are not asked for: most programs lack the function.
 * Return: 0; with words and a caret, -EINVAL: with --inlined a spec is of one function's
 * beginning, or of a line, and has no arguments.
 */
int dp_inlined_ask(struct dp_spec *spec, const struct dp_tracer_options *opt,
		   struct dp_diag *diag);

/**
 * dp_inlined_found() - note whether a spec has points whose arguments are not known
 * @first: its first point in @points
 * Return: true: it has, which was not known before.
 */
bool dp_inlined_found(struct dp_spec *spec, const struct dp_points *points,
		      size_t first);

/** dp_inlined_check() - are there arguments in a spec that has such points? Return: 0; -EINVAL
 *  with words and a caret. */
int dp_inlined_check(const struct dp_spec *spec, struct dp_diag *diag);

/**
 * dp_session_note() - take in what points tell of their spec, from @first on
 *
 * When it first has points in inlined copies, its expressions are checked again.
 * Return: 0; with words, -EINVAL or -ENOMEM.
 */
int dp_session_note(struct dp_session *s, struct dp_spec *spec, size_t first,
		    struct dp_diag *diag);

#endif
