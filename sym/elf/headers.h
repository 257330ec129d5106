/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * headers: the segments, sections and symbol tables that an ELF file's headers name.
 *
 * Context of all: any, handlers too: no function here allocates, takes a lock or calls
 * libc. The contents of a file are hostile: each offset is checked before it is
 * followed. Types are those of <stdint.h>; sym/unwind/eh.h says why.
 */
#ifndef DP_SYM_ELF_HEADERS_H
#define DP_SYM_ELF_HEADERS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct dp_elf - a reader of one x86-64 ELF file
 * @fd: where to read, or -1 when @image holds all bytes
 * @size: bytes in the file; nothing past it is ever read
 * @sh: section headers, empty if the file has none or they are damaged
 */
struct dp_elf {
	int fd;
	uint8_t *image;
	uint64_t size;
	Elf64_Ehdr eh;
	Elf64_Phdr *ph;
	size_t n_ph;
	Elf64_Shdr *sh;
	size_t n_sh;
	char *names;
	size_t names_len;
};

/** dp_elf_is_ours() - is @eh the header of an x86-64 program or library? */
bool dp_elf_is_ours(const Elf64_Ehdr *eh);
/** dp_elf_view() - read a file in place: @size bytes, which must stay; @elf needs no
 *  closing. Return: false: the bytes are no such file. */
bool dp_elf_view(struct dp_elf *elf, const void *bytes, uint64_t size);
/** dp_elf_sections() - the number of section headers; @first: the first of them;
 *  @names: index of the section that holds their names */
uint64_t dp_elf_sections(const struct dp_elf *elf, const Elf64_Shdr *first,
			 uint64_t *names);

const Elf64_Shdr *dp_elf_section_type(const struct dp_elf *elf, uint32_t type);
const Elf64_Phdr *dp_elf_segment(const struct dp_elf *elf, uint32_t type);
/** dp_elf_offset() - file offset of an address; *avail: bytes of the segment from there
 *  on. Return: 0; -ENOENT; -ENOEXEC. */
int dp_elf_offset(const struct dp_elf *elf, uint64_t vaddr, uint64_t *off,
		  uint64_t *avail);
/** dp_elf_bias() - what a process adds to the file's addresses, given that it has mapped
 *  @offset at @start. Return: false: no segment has that offset. */
bool dp_elf_bias(const struct dp_elf *elf, uint64_t start, uint64_t offset,
		 bool exec, uint64_t *bias);
/** dp_elf_symbols() - the symbol table of @type; *strings: the section with its names.
 *  Return: NULL: the file has no such table. */
const Elf64_Shdr *dp_elf_symbols(const struct dp_elf *elf, uint32_t type,
				 const Elf64_Shdr **strings);

/** struct dp_elf_table - a symbol table of a file that is viewed */
struct dp_elf_table {
	const Elf64_Sym *v;
	size_t n;
	const char *str;
	size_t str_len; /* the last byte is NUL */
};

bool dp_elf_table(const struct dp_elf *elf, uint32_t type,
		  struct dp_elf_table *table);
/** dp_elf_name() - the name of @sym, empty if its offset is out of bounds */
static inline const char *dp_elf_name(const struct dp_elf_table *table,
				      const Elf64_Sym *sym)
{
	return sym->st_name < table->str_len ? table->str + sym->st_name : "";
}

#endif
