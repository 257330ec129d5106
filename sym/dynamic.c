// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dynamic: what PT_DYNAMIC of a file says about itself. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "sym/private.h"

#define SONAME_MAX 255

static u64 *field(struct dp_dynamic *dyn, s64 tag)
{
	switch (tag) {
	case DT_SYMTAB:
		return &dyn->symtab;
	case DT_STRTAB:
		return &dyn->strtab;
	case DT_STRSZ:
		return &dyn->strsz;
	case DT_HASH:
		return &dyn->hash;
	case DT_GNU_HASH:
		return &dyn->gnu_hash;
	case DT_SONAME:
		return &dyn->soname;
	case DT_RELA:
		return &dyn->rela;
	case DT_RELASZ:
		return &dyn->relasz;
	case DT_JMPREL:
		return &dyn->jmprel;
	case DT_PLTRELSZ:
		return &dyn->pltrelsz;
	case DT_RELR:
		return &dyn->relr;
	case DT_RELRSZ:
		return &dyn->relrsz;
	case DT_VERSYM:
		return &dyn->versym;
	case DT_VERDEF:
		return &dyn->verdef;
	case DT_VERNEED:
		return &dyn->verneed;
	case DT_FLAGS_1:
		return &dyn->flags_1;
	}
	return NULL;
}

int dp_dynamic_read(const struct dp_elf *elf, struct dp_dynamic *dyn)
{
	const Elf64_Phdr *ph = dp_elf_segment(elf, PT_DYNAMIC);
	Elf64_Dyn *v;
	u64 i, *to;
	void *p;
	int err;

	memset(dyn, 0, sizeof(*dyn));
	if (!ph)
		return -ENOENT;
	err = dp_elf_load(elf, ph->p_offset, ph->p_filesz, &p);
	if (err)
		return err;
	v = p;
	for (i = 0; i < ph->p_filesz / sizeof(*v); i++) {
		if (v[i].d_tag == DT_NULL)
			break;
		to = field(dyn, v[i].d_tag);
		if (to)
			*to = v[i].d_un.d_val;
	}
	free(p);
	return 0;
}

bool dp_file_is_library(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
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

int dp_dynamic_soname(const struct dp_elf *elf, char **soname)
{
	struct dp_dynamic dyn;
	u64 off, avail;
	void *name;
	int err;

	*soname = NULL;
	err = dp_dynamic_read(elf, &dyn);
	if (err)
		return err;
	if (!dyn.soname || dyn.soname >= dyn.strsz)
		return -ENOENT;
	err = dp_elf_offset(elf, dyn.strtab + dyn.soname, &off, &avail);
	if (err)
		return err;
	if (avail > dyn.strsz - dyn.soname)
		avail = dyn.strsz - dyn.soname;
	if (avail > SONAME_MAX)
		avail = SONAME_MAX;
	err = dp_elf_load(elf, off, avail, &name);
	if (err)
		return err;
	if (*(char *)name) {
		*soname = name;
		return 0;
	}
	free(name);
	return -ENOENT;
}
