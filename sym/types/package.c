// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * package: a .dwp file, which holds the .dwo files of a program.
 *
 *   .debug_cu_index:  header | id of each slot | row of each slot, from 1 |
 *                     column: a section | row, column: offset | row, column: size
 *
 * A unit is a row. Strings are all units' together, and are copied whole.
 * Source: DWARF 5, section 7.3.5, and the format before it, of version 2.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "sym/types/package.h"

#define HEAD 16
#define COLUMNS_MAX 16
#define NAME_MAX_LEN 24
#define SECTIONS_MAX \
	16 /* with the first, which is none, and the last, of names */

/* Places in the index. @name: of the sections that its columns mean */
struct table {
	u32 columns, units, slots;
	u64 row, column, offset, size;
	const char *const *name;
};

struct cut {
	const struct dp_elf *from;
	int fd;
	u64 at, *left;
	Elf64_Shdr sh[SECTIONS_MAX];
	u32 n, names;
	char name[SECTIONS_MAX * NAME_MAX_LEN];
};

#define COLUMN_MAX 9
static const char *const old_names[COLUMN_MAX] = {
	[1] = ".debug_info.dwo",	[3] = ".debug_abbrev.dwo",
	[4] = ".debug_line.dwo",	[5] = ".debug_loc.dwo",
	[6] = ".debug_str_offsets.dwo",
};
static const char *const new_names[COLUMN_MAX] = {
	[1] = ".debug_info.dwo",	[3] = ".debug_abbrev.dwo",
	[4] = ".debug_line.dwo",	[5] = ".debug_loclists.dwo",
	[6] = ".debug_str_offsets.dwo", [8] = ".debug_rnglists.dwo",
};

static u32 word(const struct dp_package *p, u64 at)
{
	u32 v;

	memcpy(&v, p->index + at, sizeof(v));
	return v;
}

static bool find_tables(const struct dp_package *p, struct table *t)
{
	u32 version = p->len < HEAD ? 0 : word(p, 0) & 0xffff;
	u64 cells;

	if (version != 2 && version != 5)
		return false;
	t->name = version == 2 ? old_names : new_names;
	t->columns = word(p, 4);
	t->units = word(p, 8);
	t->slots = word(p, 12);
	if (t->columns > COLUMNS_MAX)
		return false;
	cells = 4ull * t->columns * t->units;
	t->row = HEAD + 8ull * t->slots;
	t->column = t->row + 4ull * t->slots;
	t->offset = t->column + 4ull * t->columns;
	t->size = t->offset + cells;
	return t->size + cells <= p->len;
}

/* Return: the row of a unit, from 1; 0: it has none */
static u32 find_row(const struct dp_package *p, const struct table *t, u64 id)
{
	u32 i, row;
	u64 at;

	for (i = 0; i < t->slots; i++) {
		memcpy(&at, p->index + HEAD + 8ull * i, sizeof(at));
		row = word(p, t->row + 4ull * i);
		if (at == id && row && row <= t->units)
			return row;
	}
	return 0;
}

static bool copy(struct cut *c, u64 from, u64 len)
{
	char buf[16384];

	while (len) {
		u64 n = len < sizeof(buf) ? len : sizeof(buf);

		if (dp_elf_read(c->from, from, buf, n) ||
		    pwrite(c->fd, buf, n, (off_t)c->at) != (ssize_t)n)
			return false;
		c->at += n;
		from += n;
		len -= n;
	}
	return true;
}

static Elf64_Shdr *begin_section(struct cut *c, const char *name)
{
	Elf64_Shdr *sh = &c->sh[c->n++];

	*sh = (Elf64_Shdr){ .sh_name = c->names,
			    .sh_type = SHT_PROGBITS,
			    .sh_addralign = 1,
			    .sh_offset = c->at };
	strcpy(c->name + c->names, name);
	c->names += (u32)strlen(name) + 1;
	return sh;
}

/* Return: 0; -EFBIG; -ENOEXEC */
static int put(struct cut *c, const char *name, const Elf64_Shdr *from,
	       u64 offset, u64 size)
{
	Elf64_Shdr *to;

	if (offset > from->sh_size || size > from->sh_size - offset ||
	    from->sh_type == SHT_NOBITS)
		return -ENOEXEC;
	if (size > *c->left)
		return -EFBIG;
	*c->left -= size;
	to = begin_section(c, name);
	to->sh_size = size;
	to->sh_flags = from->sh_flags & SHF_COMPRESSED;
	return copy(c, from->sh_offset + offset, size) ? 0 : -ENOEXEC;
}

static int put_column(struct cut *c, const struct dp_package *p,
		      const struct table *t, u32 row, u32 column)
{
	u32 what = word(p, t->column + 4ull * column);
	u64 cell = 4ull * ((row - 1ull) * t->columns + column);
	const char *name = what < COLUMN_MAX ? t->name[what] : NULL;
	u32 size = word(p, t->size + cell);
	const Elf64_Shdr *from;

	if (!name || !size)
		return 0;
	from = dp_elf_section(&p->elf, name);
	if (!from || (from->sh_flags & SHF_COMPRESSED))
		return -ENOEXEC;
	return put(c, name, from, word(p, t->offset + cell), size);
}

static int put_sections(struct cut *c, const struct dp_package *p,
			const struct table *t, u32 row)
{
	static const char strings[] = ".debug_str.dwo";
	const Elf64_Shdr *str = dp_elf_section(&p->elf, strings);
	int err = 0;
	u32 i;

	for (i = 0; i < t->columns && !err; i++) {
		/* One for the strings, and one for the names */
		if (c->n == SECTIONS_MAX - 2)
			return -ENOEXEC;
		err = put_column(c, p, t, row, i);
	}
	return err || !str ? err : put(c, strings, str, 0, str->sh_size);
}

static int put_headers(struct cut *c)
{
	Elf64_Ehdr eh = c->from->eh;
	Elf64_Shdr *sh = begin_section(c, ".shstrtab");

	sh->sh_type = SHT_STRTAB;
	sh->sh_size = c->names;
	eh.e_type = ET_REL;
	eh.e_phoff = eh.e_phnum = 0;
	eh.e_shoff = (c->at + c->names + 7) & ~7ull;
	eh.e_shentsize = sizeof(c->sh[0]);
	eh.e_shnum = (u16)c->n;
	eh.e_shstrndx = (u16)(c->n - 1);
	return pwrite(c->fd, &eh, sizeof(eh), 0) == sizeof(eh) &&
			       pwrite(c->fd, c->name, c->names, c->at) ==
				       (ssize_t)c->names &&
			       pwrite(c->fd, c->sh, c->n * sizeof(c->sh[0]),
				      (off_t)eh.e_shoff) > 0 ?
		       0 :
		       -ENOSPC;
}

static int finish(struct cut *c, int err)
{
	err = err ?: put_headers(c);
	if (!err)
		return c->fd;
	close(c->fd);
	return err;
}

static bool begin(struct cut *c, const struct dp_elf *from, u64 *left)
{
	*c = (struct cut){ .from = from,
			   .fd = memfd_create("dwo", MFD_CLOEXEC),
			   .at = sizeof(Elf64_Ehdr),
			   .left = left,
			   .n = 1,
			   .names = 1 };
	return c->fd >= 0;
}

int dp_package_cut(const struct dp_package *p, u64 id, u64 *left)
{
	struct table t;
	struct cut c;
	u32 row;

	if (!find_tables(p, &t))
		return -ENOEXEC;
	row = find_row(p, &t, id);
	if (!row)
		return -ENOENT;
	if (!begin(&c, &p->elf, left))
		return -errno;
	return finish(&c, put_sections(&c, p, &t, row));
}

static const char *name_of(const struct dp_elf *elf, size_t i)
{
	const char *name = dp_elf_section_name(elf, &elf->sh[i]),
		   *end = strrchr(name, '.');

	return !strncmp(name, ".debug_", 7) && !strcmp(end, ".dwo") ? name : "";
}

bool dp_package_is_loose(const struct dp_elf *dwo)
{
	size_t i, units = 0, types = 0;

	for (i = 1; i < dwo->n_sh; i++) {
		units += !strcmp(name_of(dwo, i), ".debug_info.dwo");
		types += !strcmp(name_of(dwo, i), ".debug_types.dwo");
	}
	return units > 1 || types > 1;
}

/* The sections that have the name of number @i, the first of these, in one */
static int put_joined(struct cut *c, size_t i)
{
	const char *name = name_of(c->from, i);
	const Elf64_Shdr *sh = c->from->sh;
	Elf64_Shdr *to;

	if (c->n == SECTIONS_MAX - 1 || strlen(name) >= NAME_MAX_LEN)
		return -ENOEXEC;
	to = begin_section(c, name);
	for (; i < c->from->n_sh; i++) {
		if (strcmp(name_of(c->from, i), name))
			continue;
		if (sh[i].sh_size > *c->left)
			return -EFBIG;
		*c->left -= sh[i].sh_size;
		if ((sh[i].sh_flags & SHF_COMPRESSED) ||
		    !copy(c, sh[i].sh_offset, sh[i].sh_size))
			return -ENOEXEC;
		to->sh_size += sh[i].sh_size;
	}
	return 0;
}

static bool has(const struct cut *c, const char *name)
{
	u32 i;

	for (i = 1; i < c->n; i++)
		if (!strcmp(c->name + c->sh[i].sh_name, name))
			return true;
	return false;
}

int dp_package_join(const struct dp_elf *dwo, u64 *left)
{
	struct cut c;
	int err = 0;
	size_t i;

	if (!begin(&c, dwo, left))
		return -errno;
	for (i = 1; i < dwo->n_sh && !err; i++)
		if (*name_of(dwo, i) && !has(&c, name_of(dwo, i)))
			err = put_joined(&c, i);
	return finish(&c, err);
}

int dp_package_open(struct dp_package *p, int fd)
{
	const Elf64_Shdr *sh;
	void *index;
	int err;

	memset(p, 0, sizeof(*p));
	err = dp_elf_open_debug(&p->elf, fd);
	if (err)
		return err;
	sh = dp_elf_section(&p->elf, ".debug_cu_index");
	err = sh ? dp_elf_load_section(&p->elf, sh, &index) : -ENOENT;
	if (err) {
		dp_elf_close(&p->elf);
		return err;
	}
	p->index = index;
	p->len = sh->sh_size;
	return 0;
}

void dp_package_close(struct dp_package *p)
{
	free(p->index);
	p->index = NULL;
	dp_elf_close(&p->elf);
}
