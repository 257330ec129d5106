// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jit: tell debuggers of code that is made at run time.
 *
 * A debugger sets a breakpoint on __jit_debug_register_code(), and reads the list at
 * __jit_debug_descriptor then, or when it attaches. Each entry is an ELF file in memory. One is
 * made for each chart, and never again: its description reads the chart's tables.
 *
 * Source: gdb's manual, "JIT Compilation Interface".
 */
#include "lib/chart.h"
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REGISTERED 1

struct jit_code_entry {
	struct jit_code_entry *next_entry, *prev_entry;
	const char *symfile_addr;
	u64 symfile_size;
};

struct jit_descriptor {
	u32 version;
	u32 action_flag;
	struct jit_code_entry *relevant_entry, *first_entry;
};

/* A compiler in the same process may have its own: debuggers look in each module. */
struct jit_descriptor __jit_debug_descriptor
	__attribute__((visibility("hidden"))) = { .version = 1 };
void __jit_debug_register_code(void) __attribute__((visibility("hidden")));

void __attribute__((noinline)) __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

enum section { NONE, TEXT, FRAMES, SYMBOLS, STRINGS, NAMES, SECTIONS };

static const char names[] =
	"\0.text\0.eh_frame\0.symtab\0.strtab\0.shstrtab\0dprobes_detours";
/* Offsets in it */
#define N_TEXT 1
#define N_FRAMES 7
#define N_SYMBOLS 17
#define N_STRINGS 25
#define N_NAMES 33
#define N_DETOURS 43

/** struct file - the ELF file */
struct file {
	struct jit_code_entry entry;
	Elf64_Ehdr head;
	Elf64_Shdr section[SECTIONS];
	Elf64_Sym symbol[2];
	char names[sizeof(names)];
	u8 frames[DP_CHART_FRAMES];
};

static u64 offset_of(const struct file *f, const void *part)
{
	return (u64)part - (u64)&f->head;
}

static void put_head(struct file *f)
{
	static const u8 ident[] = { 0x7f,	'E',	     'L',	'F',
				    ELFCLASS64, ELFDATA2LSB, EV_CURRENT };

	memcpy(f->head.e_ident, ident, sizeof(ident));
	f->head.e_type = ET_EXEC;
	f->head.e_machine = EM_X86_64;
	f->head.e_version = EV_CURRENT;
	f->head.e_shoff = offset_of(f, f->section);
	f->head.e_ehsize = sizeof(f->head);
	f->head.e_shentsize = sizeof(f->section[0]);
	f->head.e_shnum = SECTIONS;
	f->head.e_shstrndx = NAMES;
}

static void put_sections(struct file *f, const struct dp_chart *c, u32 len)
{
	Elf64_Shdr *s = f->section;

	s[TEXT] = (Elf64_Shdr){ .sh_name = N_TEXT,
				.sh_type = SHT_NOBITS,
				.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				.sh_addr = c->start,
				.sh_size = c->end - c->start,
				.sh_addralign = 1 };
	s[FRAMES] = (Elf64_Shdr){ .sh_name = N_FRAMES,
				  .sh_type = SHT_PROGBITS,
				  .sh_flags = SHF_ALLOC,
				  .sh_addr = (u64)f->frames,
				  .sh_offset = offset_of(f, f->frames),
				  .sh_size = len,
				  .sh_addralign = 8 };
	s[SYMBOLS] = (Elf64_Shdr){ .sh_name = N_SYMBOLS,
				   .sh_type = SHT_SYMTAB,
				   .sh_offset = offset_of(f, f->symbol),
				   .sh_size = sizeof(f->symbol),
				   .sh_link = STRINGS,
				   .sh_info = 1,
				   .sh_addralign = 8,
				   .sh_entsize = sizeof(f->symbol[0]) };
	s[STRINGS] = s[NAMES] =
		(Elf64_Shdr){ .sh_name = N_STRINGS,
			      .sh_type = SHT_STRTAB,
			      .sh_offset = offset_of(f, f->names),
			      .sh_size = sizeof(names),
			      .sh_addralign = 1 };
	s[NAMES].sh_name = N_NAMES;
}

static void enter(struct file *f)
{
	struct jit_code_entry *e = &f->entry;
	struct jit_descriptor *d = &__jit_debug_descriptor;

	e->symfile_addr = (const char *)&f->head;
	e->symfile_size = sizeof(*f) - offsetof(struct file, head);
	e->next_entry = d->first_entry;
	if (d->first_entry)
		d->first_entry->prev_entry = e;
	d->first_entry = d->relevant_entry = e;
	d->action_flag = REGISTERED;
	__jit_debug_register_code();
}

void dp_jit_tell(const struct dp_chart *c, const u8 *frames, u32 len)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return;
	put_head(f);
	put_sections(f, c, len);
	f->symbol[1] =
		(Elf64_Sym){ .st_name = N_DETOURS,
			     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			     .st_shndx = TEXT,
			     .st_value = c->start,
			     .st_size = c->end - c->start };
	memcpy(f->names, names, sizeof(names));
	memcpy(f->frames, frames, len);
	enter(f);
}
