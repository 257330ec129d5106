/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits_file: a file without a process, to be asked for exits. Addresses are those
 * of the file. */
#ifndef DP_TEST_EXITS_FILE_H
#define DP_TEST_EXITS_FILE_H

#include <fcntl.h>
#include "sym/exits.h"
#include "sym/codemap.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/flow/slot.h"
#include "sym/flow/map.h"
#include "sym/unwind/fdes.h"

struct exits_file {
	struct dp_elf elf;
	struct dp_fdes fdes;
	struct dp_symtab symtab;
	struct dp_dynsym dynsym;
	struct dp_code_map *map;
	struct dp_exits *exits;
};

/* With the names of a separate debug file, if it has none of its own. */
static inline void exits_file_name(struct exits_file *f, const char *path)
{
	struct dp_elf debug;

	dp_dynsym_load(&f->dynsym, &f->elf);
	dp_symtab_add_dynsym(&f->symtab, &f->dynsym, &f->elf);
	dp_symtab_add_symtab(&f->symtab, &f->elf, &f->elf);
	if (f->symtab.full || dp_debugfile_open(&f->elf, "", path, &debug))
		return;
	dp_symtab_add_symtab(&f->symtab, &debug, &f->elf);
	dp_elf_close(&debug);
}

/* Of a reader that is open. */
static inline int exits_file_read(struct exits_file *f, const char *path)
{
	int err;

	exits_file_name(f, path);
	dp_fdes_load(&f->fdes, &f->elf);
	err = dp_symtab_index(&f->symtab);
	if (!err)
		err = dp_symtab_sort(&f->symtab);
	if (!err)
		err = dp_survey_run(&f->elf, &f->fdes, &f->symtab, &f->dynsym,
				    0, &f->map);
	return err ? err : dp_exits_load(&f->elf, f->map, &f->exits);
}

/* Return: 0 or a negative errno. Zeroed before. */
static inline int exits_file_open(struct exits_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -ENOENT;
	err = dp_elf_open_fd(&f->elf, fd);
	return err ? err : exits_file_read(f, path);
}

static inline void exits_file_close(struct exits_file *f)
{
	dp_exits_close(f->exits);
	dp_code_map_close(f->map);
	dp_symtab_free(&f->symtab);
	dp_dynsym_free(&f->dynsym);
	dp_fdes_free(&f->fdes);
	dp_elf_close(&f->elf);
}

#endif
