// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exits_file: the exits of functions of a file that no process need have. */
#include <errno.h>
#include <stdlib.h>
#include "sym/flow/exits_file.h"
#include "sym/flow/map.h"
#include "sym/flow/slot.h"

/* With the names of a separate debug file, if it has none of its own. What has no names has exits, too. */
static int read_names(struct dp_exits_file *f, const char *path)
{
	struct dp_elf debug;

	if (!dp_dynsym_load(&f->dynsym, &f->elf))
		dp_symtab_add_dynsym(&f->symtab, &f->dynsym, &f->elf);
	dp_symtab_add_symtab(&f->symtab, &f->elf, &f->elf);
	if (!f->symtab.full && !dp_debugfile_open(&f->elf, "", path, &debug)) {
		dp_symtab_add_symtab(&f->symtab, &debug, &f->elf);
		dp_elf_close(&debug);
	}
	return dp_symtab_index(&f->symtab) ?: dp_symtab_sort(&f->symtab);
}

int dp_exits_file_read(struct dp_exits_file *f, const char *path)
{
	int err = read_names(f, path) ?: dp_fdes_load(&f->fdes, &f->elf);
	/* A file may have no frame descriptions. */
	if (err && err != -ENOMEM)
		err = 0;
	if (!err)
		err = dp_survey_run(&f->elf, &f->fdes, &f->symtab, &f->dynsym,
				    0, &f->map);
	return err ?: dp_exits_load(&f->elf, f->map, &f->exits);
}

static int read_file(struct dp_exits_file *f, const char *path)
{
	int fd = dp_elf_open_file(path, &f->st), err;

	if (fd < 0)
		return fd;
	err = dp_elf_open_fd(&f->elf, fd);
	if (err)
		f->elf.fd = -1;
	return err ?: dp_exits_file_read(f, path);
}

int dp_exits_file_open(const char *path, struct dp_exits_file **file)
{
	struct dp_exits_file *f = calloc(1, sizeof(*f));
	int err;

	*file = NULL;
	if (!f)
		return -ENOMEM;
	f->elf.fd = -1;
	err = read_file(f, path);
	if (err)
		dp_exits_file_close(f);
	else
		*file = f;
	return err;
}

void dp_exits_file_release(struct dp_exits_file *f)
{
	dp_exits_close(f->exits);
	dp_code_map_close(f->map);
	dp_symtab_free(&f->symtab);
	dp_dynsym_free(&f->dynsym);
	dp_fdes_free(&f->fdes);
	dp_elf_close(&f->elf);
}

void dp_exits_file_close(struct dp_exits_file *f)
{
	if (f)
		dp_exits_file_release(f);
	free(f);
}

void dp_exits_file_stat(const struct dp_exits_file *f, struct stat *st)
{
	*st = f->st;
}

static int refuse(const char **why, const char *words)
{
	*why = words;
	return -EOPNOTSUPP;
}

/* Is each of them where the code map has an instruction, and are calls of this function alone there? */
static int check(const struct dp_exits_file *f, const struct dp_exit_list *list,
		 const char **why)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (!dp_code_map_boundary(f->map, list->v[i].addr))
			return refuse(why, "one is not where it seems to be");
		if (list->v[i].shared)
			return refuse(why, "other functions end there, too");
	}
	return 0;
}

int dp_exits_file_find(struct dp_exits_file *f, u64 entry,
		       struct dp_exit_list *list, const char **why)
{
	const struct dp_fragment *p = dp_fragments_find(f->map, entry);
	int err;

	*list = (struct dp_exit_list){ 0 };
	if (!p || p->start != entry)
		return refuse(why, "no function begins there");
	err = dp_exits_find(f->exits, entry, list, why) ?: check(f, list, why);
	if (err)
		dp_exits_free(list);
	return err;
}

int dp_exits_file_insn(const struct dp_exits_file *f, u64 addr, u64 *offset,
		       u8 *opcode)
{
	uint64_t avail, off;

	if (dp_elf_offset(&f->elf, addr, &off, &avail) ||
	    dp_elf_read(&f->elf, off, opcode, 1))
		return -ENOENT;
	*offset = off;
	return 0;
}
