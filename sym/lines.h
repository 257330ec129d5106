/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lines: where source lines and inlined functions have code, according to debug information. */
#ifndef DP_LINES_H
#define DP_LINES_H

#include <stddef.h>
#include "port_types.h"

struct dp_modules;
struct dp_module;

/**
 * struct dp_line_place - an address in the process
 * @function: that the code there is of, by its linkage name, or its name if it is of C: in an
 *            inlined copy the one that was inlined. NULL: not known
 * @caller: where a copy stands, likewise a function, or one that is a copy itself; or NULL
 * @file, @line: of the call that the copy is made of; NULL and 0: not known
 * @source: of a line: which of the files
 * @inlined: it is in a copy
 * @nowhere: of a function: that has been inlined, but here no code is left of it
 */
struct dp_line_place {
	u64 addr;
	const char *function, *caller, *file;
	u32 line, source;
	bool inlined, nowhere;
};

/** struct dp_line_file - a source file that a name means
 *  @next: its next line that has code, 0: there is none; @last: its last one
 *  @exact: the name is all of its path */
struct dp_line_file {
	const char *path;
	u32 next, last;
	bool exact;
};

/** struct dp_line_places - what was found; strings are in it, too */
struct dp_line_places {
	struct dp_line_place *v;
	struct dp_line_file *files;
	size_t n, nr_files;
};

/* More than this is an error. */
#define DP_LINE_PLACES 16384
#define DP_LINE_FILES 64

/**
 * dp_lines_find() - the places of a source line
 * @m: module of the code; its file is read as for dp_types_returned()
 * @file: the end of a path, from a whole component on; "." and ".." in it are resolved first
 * @places: all files that have code and such a path, and the places of their lines @line; for
 *          dp_lines_free()
 *
 * Of the rows of a unit's line table those count where a statement begins; if there is none, all in
 * the function that is declared last before the line. Of each function, and each inlined copy, it is
 * the row of the lowest address, and before all others one in the piece that its entry is in. A row
 * of the line of a call is the caller's. A row whose address has other rows, up to the last of them,
 * and no function that it can be of, counts if there is nothing else. Rows that no function has are
 * all there, with a @function of NULL.
 * Nothing is certain of the addresses: they may be in no text, or in the middle of it.
 *
 * Context: may sleep, for DP_TYPES_SECONDS at most.
 * Return: 0; -ENOENT there is no debug information; -E2BIG too many places or files; -EXDEV
 * functions are in files of their own (.dwo); otherwise as
 * dp_types_returned().
 */
int dp_lines_find(struct dp_modules *mods, const struct dp_module *m,
		  const char *file, u64 line, struct dp_line_places *places);

/**
 * dp_lines_inlined() - a function's bodies and inlined copies
 * @name: its linkage name, or its name; or one as sym/demangle.h writes it, and then some
 *        of @places are of functions with a like name
 * @places: there are no files in it
 *
 * The place of a copy is its entry: the one that debug information names, or else where its first
 * piece begins (DWARF 5, 2.18).
 * Return: as dp_lines_find().
 */
int dp_lines_inlined(struct dp_modules *mods, const struct dp_module *m,
		     const char *name, struct dp_line_places *places);

void dp_lines_free(struct dp_line_places *places);

#endif
