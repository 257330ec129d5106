/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lines: what debug information says of a spec's line, or of the inlined copies of its function. */
#ifndef DP_RESOLVE_LINES_H
#define DP_RESOLVE_LINES_H

#include <dprobes/diag.h>
#include "sym/lines.h"

struct dp_modules;
struct dp_module;
struct dp_spec;

/**
 * dp_spec_line() - the places of the line that a spec names
 * @m: the module that it names
 * @places: each address once, ascending, and in the text of @m; for dp_lines_free()
 *
 * Return: 0, and there are some; with words and a caret: -ENOENT no debug information, no such file,
 * no code; -EINVAL several files; -EOPNOTSUPP libdw is not there; -E2BIG, -EXDEV, -ETIMEDOUT, -EBADMSG,
 * -ENOMEM.
 */
int dp_spec_line(struct dp_modules *mods, const struct dp_module *m,
		 const struct dp_spec *spec, struct dp_line_places *places,
		 struct dp_diag *diag);

/**
 * dp_spec_inlined() - the inlined copies of the function that a spec names
 *
 * Pieces of functions, which code jumps to, are left out.
 * Return: as dp_spec_line(), but -ENOENT without words if debug information does not have the
 * function, with words if that was inlined, and no code is left; -ENODATA without words if there is
 * none; -EINVAL with words if parameters are named that it does not tell.
 */
int dp_spec_inlined(struct dp_modules *mods, const struct dp_module *m,
		    const struct dp_spec *spec, struct dp_line_places *places,
		    struct dp_diag *diag);
/** dp_spec_no_debug() - say that @m has no debug information, and therefore @what. Return: @err */
int dp_spec_no_debug(const struct dp_module *m, int err, const char *what,
		     struct dp_diag *diag);

/**
 * dp_spec_place() - "dir/prog.c:42 of f, inlined in g at dir/prog.c:12"
 * @of: what @place is one of; @line: of the source, if @of is of a line
 * Return: a text, for free(), or NULL: no memory.
 */
char *dp_spec_place(const struct dp_line_places *of,
		    const struct dp_line_place *place, u64 line);

#endif
