// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dynamic: what a file's PT_DYNAMIC says. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "sym/elf/elf.h"
#include "sym/sym.h"

#define NAME_LONGEST 255

/* One tag for each member of struct dp_dynamic, in order. */
static const s64 tags[] = {
	DT_SYMTAB, DT_STRTAB, DT_STRSZ,	 DT_HASH,     DT_SONAME,
	DT_RELA,   DT_RELASZ, DT_JMPREL, DT_PLTRELSZ, DT_RELR,
	DT_RELRSZ, DT_VERSYM, DT_VERDEF, DT_VERNEED,  DT_FLAGS_1,
};

#define TAGS (sizeof(tags) / sizeof(tags[0]))
_Static_assert(sizeof(struct dp_dynamic) == TAGS * sizeof(u64), "a tag each");

/* Load the entries before DT_NULL. *v: malloc()ed */
static int load_table(const struct dp_elf *elf, Elf64_Dyn **v, size_t *n)
{
	const Elf64_Phdr *ph = dp_elf_segment(elf, PT_DYNAMIC);
	size_t most;
	void *p;
	int err;

	if (!ph)
		return -ENOENT;
	err = dp_elf_load(elf, ph->p_offset, ph->p_filesz, &p);
	if (err)
		return err;
	*v = p;
	most = ph->p_filesz / sizeof(**v);
	for (*n = 0; *n < most && (*v)[*n].d_tag != DT_NULL; ++*n)
		;
	return 0;
}

int dp_dynamic_read(const struct dp_elf *elf, struct dp_dynamic *dyn)
{
	Elf64_Dyn *v;
	u64 *to = (u64 *)dyn;
	size_t i, k, n;
	int err;

	memset(dyn, 0, sizeof(*dyn));
	err = load_table(elf, &v, &n);
	if (err)
		return err;
	for (i = 0; i < n; i++)
		for (k = 0; k < TAGS; k++)
			if (tags[k] == v[i].d_tag)
				to[k] = v[i].d_un.d_val;
	free(v);
	return 0;
}

bool dp_file_is_library(const char *path)
{
	struct stat st;
	int fd = dp_elf_open_file(path, &st);
	struct dp_dynamic dyn;
	struct dp_elf elf;
	bool is;

	if (fd < 0 || dp_elf_open_fd(&elf, fd))
		return false;
	is = elf.eh.e_type == ET_DYN && !dp_dynamic_read(&elf, &dyn) &&
	     !(dyn.flags_1 & DF_1_PIE);
	dp_elf_close(&elf);
	return is;
}

bool dp_file_has_section(const char *path, const char *name)
{
	struct stat st;
	int fd = dp_elf_open_file(path, &st);
	struct dp_elf elf;
	bool has;

	if (fd < 0 || dp_elf_open_fd(&elf, fd))
		return false;
	has = dp_elf_section(&elf, name);
	dp_elf_close(&elf);
	return has;
}

/* Load a name from the strings of PT_DYNAMIC. *name: malloc()ed */
static int load_name(const struct dp_elf *elf, const struct dp_dynamic *dyn,
		     u64 at, char **name)
{
	u64 len = dyn->strsz - at;
	void *p;
	int err;

	if (!at || at >= dyn->strsz)
		return -ENOENT;
	if (len > NAME_LONGEST)
		len = NAME_LONGEST;
	err = dp_elf_load_at(elf, dyn->strtab + at, &len, &p);
	if (err)
		return err;
	if (*(char *)p) {
		*name = p;
		return 0;
	}
	free(p);
	return -ENOENT;
}

int dp_dynamic_soname(const struct dp_elf *elf, char **soname)
{
	struct dp_dynamic dyn;

	*soname = NULL;
	return dp_dynamic_read(elf, &dyn) ?:
		       load_name(elf, &dyn, dyn.soname, soname);
}

int dp_dynamic_needed(const struct dp_elf *elf, char ***names, size_t *n)
{
	struct dp_dynamic dyn;
	Elf64_Dyn *v;
	size_t i, count;
	int err = dp_dynamic_read(elf, &dyn) ?: load_table(elf, &v, &count);

	if (err)
		return err;
	*n = 0;
	*names = calloc(count + 1, sizeof(**names));
	for (i = 0; *names && i < count; i++)
		if (v[i].d_tag == DT_NEEDED &&
		    !load_name(elf, &dyn, v[i].d_un.d_val, &(*names)[*n]))
			++*n;
	free(v);
	return *names ? 0 : -ENOMEM;
}
