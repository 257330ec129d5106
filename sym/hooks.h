/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hooks: where the hooks of a module are, by the notes that their macros leave. */
#ifndef DP_SYM_HOOKS_H
#define DP_SYM_HOOKS_H

#include "sym/sym.h"

/** struct dp_hook_note - one place of a hook; a hook may have several
 *  @addr: of its nop, in the target; @name: the hook's */
struct dp_hook_note {
	u64 addr;
	const char *name;
};

/** struct dp_hook_notes - the places of a module's hooks; @text: their names */
struct dp_hook_notes {
	struct dp_hook_note *v;
	size_t n, room;
	char *text;
};

/**
 * dp_hook_notes_read() - read the places of hooks whose names match a pattern
 * @pattern: a name or a glob
 *
 * The file is hostile: an address outside the module's text is left out.
 * Return: 0, also if there are none; a negative errno of reading. Free with dp_hook_notes_free().
 */
int dp_hook_notes_read(const struct dp_modules *mods, const struct dp_module *m,
		       const char *pattern, struct dp_hook_notes *list);
void dp_hook_notes_free(struct dp_hook_notes *list);

#endif
