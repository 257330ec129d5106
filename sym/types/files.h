/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* files: those that together have the debug information of a module. */
#ifndef DP_TYPES_FILES_H
#define DP_TYPES_FILES_H

#include "sym/names/mod.h"

/**
 * struct dp_files - they are open
 * @program: the module's own
 * @debug: the one with its debug information, @program or @separate
 * @alt: what it has in common with others, if @has_alt
 * @root: of the paths in them
 * @zstd: whether a section is compressed so, which not each libdw can read
 */
struct dp_files {
	struct dp_elf program, separate, alt;
	struct dp_elf *debug;
	char root[32];
	bool has_alt, zstd;
};

/* Bytes that the child may have more than the tool, those of mapped files included */
#define DP_FILES_MEMORY (4ull << 30)

/**
 * dp_files_open() - find them; those of a server, too, if the user wants that (download.h)
 * Context: the tool's process; may sleep.
 * Return: -ENOENT there is no debug information; -ENOLINK what it has in common with others is
 * not there; -EFBIG it is larger than DP_FILES_MEMORY; -ENOMEM, -EMFILE, -ENFILE. On error nothing
 * is open.
 */
int dp_files_open(struct dp_files *f, struct dp_modules *mods,
		  const struct dp_module *m);
void dp_files_close(struct dp_files *f);

#endif
