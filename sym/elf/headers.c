// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* headers: the segments, sections and symbol tables that an ELF file's headers name. */
#include "sym/elf/headers.h"
#include <asm/errno.h>

#define PAGE_MASK 0xfffull

bool dp_elf_is_ours(const Elf64_Ehdr *eh)
{
	const unsigned char *id = eh->e_ident;

	return id[EI_MAG0] == ELFMAG0 && id[EI_MAG1] == ELFMAG1 &&
	       id[EI_MAG2] == ELFMAG2 && id[EI_MAG3] == ELFMAG3 &&
	       id[EI_CLASS] == ELFCLASS64 && id[EI_DATA] == ELFDATA2LSB &&
	       eh->e_machine == EM_X86_64 &&
	       (eh->e_type == ET_EXEC || eh->e_type == ET_DYN);
}

/* A part of a file that is viewed; NULL: it is out of bounds. */
static void *part(const struct dp_elf *elf, uint64_t off, uint64_t len)
{
	if (off > elf->size || len > elf->size - off)
		return NULL;
	return elf->image + off;
}

uint64_t dp_elf_sections(const struct dp_elf *elf, const Elf64_Shdr *first,
			 uint64_t *names)
{
	uint64_t n = elf->eh.e_shnum;

	*names = elf->eh.e_shstrndx;
	if (!n)
		n = first->sh_size;
	if (*names == SHN_XINDEX)
		*names = first->sh_link;
	return n <= elf->size / sizeof(*first) ? n : 0;
}

bool dp_elf_view(struct dp_elf *elf, const void *bytes, uint64_t size)
{
	const Elf64_Ehdr *eh = bytes;
	uint64_t n, names;

	*elf = (struct dp_elf){ .fd = -1,
				.image = (void *)bytes,
				.size = size };
	if (size < sizeof(*eh) || !dp_elf_is_ours(eh))
		return false;
	elf->eh = *eh;
	n = eh->e_phentsize == sizeof(*elf->ph) ? eh->e_phnum : 0;
	elf->ph = part(elf, eh->e_phoff, n * sizeof(*elf->ph));
	elf->n_ph = elf->ph ? n : 0;
	if (!eh->e_shoff || eh->e_shentsize != sizeof(*elf->sh))
		return true;
	elf->sh = part(elf, eh->e_shoff, sizeof(*elf->sh));
	n = elf->sh ? dp_elf_sections(elf, elf->sh, &names) : 0;
	if (part(elf, eh->e_shoff, n * sizeof(*elf->sh)))
		elf->n_sh = n;
	return true;
}

const Elf64_Shdr *dp_elf_section_type(const struct dp_elf *elf, uint32_t type)
{
	size_t i;

	for (i = 1; i < elf->n_sh; i++) {
		if (elf->sh[i].sh_type == type)
			return &elf->sh[i];
	}
	return NULL;
}

const Elf64_Phdr *dp_elf_segment(const struct dp_elf *elf, uint32_t type)
{
	size_t i;

	for (i = 0; i < elf->n_ph; i++) {
		if (elf->ph[i].p_type == type)
			return &elf->ph[i];
	}
	return NULL;
}

int dp_elf_offset(const struct dp_elf *elf, uint64_t vaddr, uint64_t *off,
		  uint64_t *avail)
{
	const Elf64_Phdr *ph;
	size_t i;

	for (i = 0; i < elf->n_ph; i++) {
		ph = &elf->ph[i];
		if (ph->p_type != PT_LOAD || vaddr < ph->p_vaddr ||
		    vaddr - ph->p_vaddr >= ph->p_filesz)
			continue;
		*off = ph->p_offset + (vaddr - ph->p_vaddr);
		*avail = ph->p_filesz - (vaddr - ph->p_vaddr);
		if (*off < ph->p_offset || *off > elf->size)
			return -ENOEXEC;
		if (*avail > elf->size - *off)
			*avail = elf->size - *off;
		return 0;
	}
	return -ENOENT;
}

bool dp_elf_bias(const struct dp_elf *elf, uint64_t start, uint64_t offset,
		 bool exec, uint64_t *bias)
{
	const Elf64_Phdr *ph;
	size_t i;

	for (i = 0; i < elf->n_ph; i++) {
		ph = &elf->ph[i];
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) != !exec ||
		    offset < (ph->p_offset & ~PAGE_MASK) ||
		    (offset > ph->p_offset &&
		     offset - ph->p_offset >= ph->p_filesz))
			continue;
		*bias = start - offset + ph->p_offset - ph->p_vaddr;
		return true;
	}
	return false;
}

const Elf64_Shdr *dp_elf_symbols(const struct dp_elf *elf, uint32_t type,
				 const Elf64_Shdr **strings)
{
	const Elf64_Shdr *sh = dp_elf_section_type(elf, type);

	if (!sh || sh->sh_link >= elf->n_sh ||
	    sh->sh_entsize != sizeof(Elf64_Sym))
		return NULL;
	*strings = &elf->sh[sh->sh_link];
	return sh;
}

bool dp_elf_table(const struct dp_elf *elf, uint32_t type,
		  struct dp_elf_table *table)
{
	const Elf64_Shdr *strings, *sh = dp_elf_symbols(elf, type, &strings);

	if (!sh)
		return false;
	table->n = sh->sh_size / sizeof(*table->v);
	table->v = part(elf, sh->sh_offset, sh->sh_size);
	table->str_len = strings->sh_size;
	table->str = part(elf, strings->sh_offset, strings->sh_size);
	return table->v && table->str && table->str_len &&
	       !table->str[table->str_len - 1];
}
