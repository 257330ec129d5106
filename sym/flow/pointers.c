// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pointers: addresses of code that stand in data.
 *
 * Relocations tell where they are. In a program that is linked to a fixed address, every
 * number that could be an address counts.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "arch/elf.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/flow/map.h"

#define CHUNK 65536

static void mark_word(struct dp_survey *s, u64 addr)
{
	u64 v;

	if (dp_window_read(&s->window, addr, &v, sizeof(v)))
		dp_text_mark(s->map, v);
}

static void mark_rela(struct dp_survey *s, const Elf64_Rela *r)
{
	size_t sym = ELF64_R_SYM(r->r_info);
	u64 v = r->r_addend;

	if (sym && sym < s->dynsym->n)
		v += s->dynsym->v[sym].st_value;
	dp_text_mark(s->map, v);
	/* Before it is bound, a slot leads back into the PLT. */
	if (ELF64_R_TYPE(r->r_info) == DP_RELOC_SLOT)
		mark_word(s, r->r_offset);
}

static void mark_relas(struct dp_survey *s, const void *data, u64 len)
{
	u64 i;

	for (i = 0; i < len / sizeof(Elf64_Rela); i++)
		mark_rela(s, (const Elf64_Rela *)data + i);
}

/* An address, then bits that stand for the 63 words behind it. */
static void mark_relr(struct dp_survey *s, const void *data, u64 len)
{
	u64 i, bits, at = 0, word;

	for (i = 0; i < len / 8; i++) {
		bits = ((const u64 *)data)[i];
		if (!(bits & 1)) {
			mark_word(s, bits);
			at = bits + 8;
			continue;
		}
		for (word = at; bits >>= 1; word += 8) {
			if (bits & 1)
				mark_word(s, word);
		}
		at += 63 * 8;
	}
}

static int mark_table(struct dp_survey *s, u64 vaddr, u64 len,
		      void (*mark)(struct dp_survey *s, const void *data,
				   u64 len))
{
	u64 got = len;
	void *data;
	int err;

	if (!vaddr || !len)
		return 0;
	err = dp_elf_load_at(s->elf, vaddr, &got, &data);
	if (err)
		return err;
	mark(s, data, got);
	free(data);
	return got == len ? 0 : -ENOEXEC;
}

/* Packed structures have addresses at any byte. */
static void mark_numbers(struct dp_survey *s, const u8 *p, size_t n)
{
	const struct dp_code_map *map = s->map;
	u64 lo = ~0ull, hi = 0, v;
	size_t i;

	for (i = 0; i < map->n_text; i++) {
		if (map->text[i].start < lo)
			lo = map->text[i].start;
		if (map->text[i].end > hi)
			hi = map->text[i].end;
	}
	for (i = 0; i + 8 <= n; i++) {
		memcpy(&v, p + i, 8);
		if (v - lo < hi - lo)
			dp_text_mark(s->map, v);
	}
}

static int mark_segment(struct dp_survey *s, const Elf64_Phdr *ph, u8 *buf)
{
	u64 at, n;
	int err;

	/* Chunks overlap, so that no number falls between two. */
	for (at = 0; at < ph->p_filesz; at += CHUNK - 8) {
		n = ph->p_filesz - at;
		if (n > CHUNK)
			n = CHUNK;
		if (ph->p_offset + at < at)
			return -ENOEXEC;
		err = dp_elf_read(s->elf, ph->p_offset + at, buf, n);
		if (err)
			return err;
		mark_numbers(s, buf, n);
	}
	return 0;
}

static int mark_absolute(struct dp_survey *s)
{
	const Elf64_Phdr *ph;
	u8 *buf = malloc(CHUNK);
	size_t i;
	int err = 0;

	if (!buf)
		return -ENOMEM;
	for (i = 0; i < s->elf->n_ph; i++) {
		ph = &s->elf->ph[i];
		if (ph->p_type == PT_LOAD && !(ph->p_flags & PF_X))
			err = mark_segment(s, ph, buf);
	}
	free(buf);
	return err;
}

int dp_pointers_mark(struct dp_survey *s)
{
	struct dp_dynamic dyn;
	int err;

	dp_text_mark(s->map, s->elf->eh.e_entry);
	err = dp_dynamic_read(s->elf, &dyn);
	if (err == -ENOENT)
		err = 0;
	if (!err)
		err = mark_table(s, dyn.rela, dyn.relasz, mark_relas) ?:
			      mark_table(s, dyn.jmprel, dyn.pltrelsz, mark_relas) ?:
			      mark_table(s, dyn.relr, dyn.relrsz, mark_relr);
	if (!err && s->absolute)
		err = mark_absolute(s);
	return !err || err == -ENOMEM ? err : -EOPNOTSUPP;
}
