// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tracepoints: the notes of .note.stapsdt.
 *
 *     u64 address of the nop | u64 of .stapsdt.base | u64 of the semaphore, or 0 | PROVIDER\0NAME\0ARGUMENTS\0
 *
 * A tool that moves a linked program (prelink) changes no note. It moves .stapsdt.base, too, so the
 * difference between that section's address and what the note says of it is what all of them have moved.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/list.h"
#include "sym/tracepoints.h"

#define NT_STAPSDT 3
#define OWNER "stapsdt"
#define NOTES_MAX (64ull << 20)
#define SEMAPHORE_SIZE 2

struct numbers {
	u64 addr, base, semaphore;
};

/* Is all of [@addr, @addr + @size) in a segment with these permissions? */
static bool is_in(const struct dp_elf *elf, u64 addr, u64 size, u32 flags)
{
	size_t i;

	for (i = 0; i < elf->n_ph; i++) {
		const Elf64_Phdr *ph = &elf->ph[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & flags) == flags &&
		    addr >= ph->p_vaddr && addr - ph->p_vaddr < ph->p_memsz &&
		    size <= ph->p_memsz - (addr - ph->p_vaddr))
			return true;
	}
	return false;
}

/* The string at *@at, which ends before @end. Return: NULL: it does not */
static const char *take_string(const char **at, const char *end)
{
	const char *s = *at;
	size_t len = strnlen(s, (size_t)(end - s));

	if (s + len == end)
		return NULL;
	*at = s + len + 1;
	return s;
}

/* Return: false: the note makes no sense */
static bool read_note(const struct dp_elf *elf, const char *desc, u64 len,
		      u64 base, struct dp_tracepoint *t)
{
	const char *at = desc + sizeof(struct numbers), *end = desc + len;
	struct numbers n;

	if (len < sizeof(n))
		return false;
	memcpy(&n, desc, sizeof(n));
	t->provider = take_string(&at, end);
	t->name = t->provider ? take_string(&at, end) : NULL;
	t->arguments = t->name ? take_string(&at, end) : NULL;
	if (!t->arguments || !*t->provider || !*t->name)
		return false;
	if (!base || !n.base)
		base = n.base;
	t->addr = n.addr + base - n.base;
	t->semaphore = n.semaphore ? n.semaphore + base - n.base : 0;
	return is_in(elf, t->addr, 1, PF_X) &&
	       (!n.semaphore ||
		is_in(elf, t->semaphore, SEMAPHORE_SIZE, PF_R | PF_W));
}

static u64 align(u64 n)
{
	return (n + 3) & ~3ull;
}

static int add_note(struct dp_tracepoints *list, const struct dp_elf *elf,
		    const char *desc, u64 len, u64 base)
{
	struct dp_tracepoint t = { 0 };

	if (!read_note(elf, desc, len, base, &t)) {
		list->damaged++;
		return 0;
	}
	return list->n < DP_NAMES_MAX ? dp_list_push(list, &t) : -EFBIG;
}

static int read_notes(struct dp_tracepoints *list, const struct dp_elf *elf,
		      u64 len, u64 base)
{
	const char *text = list->text;
	u64 off = 0, name, desc;
	Elf64_Nhdr nh;
	int err = 0;

	while (!err && len - off >= sizeof(nh)) {
		memcpy(&nh, text + off, sizeof(nh));
		name = off + sizeof(nh);
		desc = name + align(nh.n_namesz);
		if (desc > len || nh.n_descsz > len - desc) {
			list->damaged++;
			return 0;
		}
		if (nh.n_type == NT_STAPSDT && nh.n_namesz == sizeof(OWNER) &&
		    !memcmp(text + name, OWNER, sizeof(OWNER)))
			err = add_note(list, elf, text + desc, nh.n_descsz,
				       base);
		off = desc + align(nh.n_descsz);
		if (off > len)
			return err;
	}
	return err;
}

int dp_tracepoints_read(struct dp_tracepoints *list, const struct dp_elf *elf)
{
	const Elf64_Shdr *sh = dp_elf_section(elf, ".note.stapsdt");
	const Elf64_Shdr *base = dp_elf_section(elf, ".stapsdt.base");
	void *text;
	int err;

	if (!sh || sh->sh_type != SHT_NOTE)
		return 0;
	if (sh->sh_size > NOTES_MAX)
		return -EFBIG;
	err = dp_elf_load_section(elf, sh, &text);
	if (err)
		return err;
	list->text = text;
	return read_notes(list, elf, sh->sh_size, base ? base->sh_addr : 0);
}

void dp_tracepoints_free(struct dp_tracepoints *list)
{
	free(list->v);
	free(list->text);
	memset(list, 0, sizeof(*list));
}
