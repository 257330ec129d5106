/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits_file: what is read of a file whose functions' exits are asked for. */
#ifndef DP_SYM_FLOW_EXITS_FILE_H
#define DP_SYM_FLOW_EXITS_FILE_H

#include "sym/codemap.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/exits.h"
#include "sym/unwind/fdes.h"
#include <sys/stat.h>

/** struct dp_exits_file - @map: as if the file were loaded at its own addresses; @st: when it was opened */
struct dp_exits_file {
	struct dp_elf elf;
	struct dp_fdes fdes;
	struct dp_symtab symtab;
	struct dp_dynsym dynsym;
	struct dp_code_map *map;
	struct dp_exits *exits;
	struct stat st;
};

/** dp_exits_file_read() - all but @elf, which is open; the rest is zeroed. @path: of a separate debug file's neighbour
 *  Return: 0; a negative errno: what has been read is there, too, until dp_exits_file_release(). */
int dp_exits_file_read(struct dp_exits_file *file, const char *path);
/** dp_exits_file_release() - free what is read, and close @elf; not @file itself */
void dp_exits_file_release(struct dp_exits_file *file);

#endif
