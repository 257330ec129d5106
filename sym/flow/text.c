// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* text: the executable segments of a file, and three bits for each byte. */
#include <elf.h>
#include <stdlib.h>
#include "sym/elf/elf.h"
#include "sym/flow/map.h"

#define TEXT_SIZE_MAX (1ull << 30)
#define WORD 64

static bool holds(const struct dp_text *t, u64 addr)
{
	return addr - t->start < t->end - t->start;
}

struct dp_text *dp_text_find(const struct dp_code_map *map, u64 addr)
{
	size_t i;

	for (i = 0; i < map->n_text; i++) {
		if (holds(&map->text[i], addr))
			return (struct dp_text *)&map->text[i];
	}
	return NULL;
}

static void set(u64 *bits, u64 i)
{
	bits[i / WORD] |= 1ull << (i % WORD);
}

static bool is_set(const u64 *bits, u64 i)
{
	return bits[i / WORD] >> (i % WORD) & 1;
}

void dp_text_mark_jump(struct dp_code_map *map, u64 addr)
{
	struct dp_text *t = dp_text_find(map, addr);

	if (t)
		set(t->target, addr - t->start);
}

void dp_text_mark(struct dp_code_map *map, u64 addr)
{
	struct dp_text *t = dp_text_find(map, addr);

	if (!t)
		return;
	set(t->target, addr - t->start);
	set(t->named, addr - t->start);
}

void dp_text_mark_insn(struct dp_text *t, u64 addr)
{
	set(t->insn, addr - t->start);
}

bool dp_text_is_insn(const struct dp_text *t, u64 addr)
{
	return holds(t, addr) && is_set(t->insn, addr - t->start);
}

bool dp_text_is_named(const struct dp_code_map *map, u64 addr)
{
	const struct dp_text *t = dp_text_find(map, addr);

	return t && is_set(t->named, addr - t->start);
}

static u64 next(const struct dp_text *t, const u64 *bits, u64 start, u64 end)
{
	u64 i = start - t->start, n = end - t->start, word;

	while (i < n) {
		word = bits[i / WORD] >> (i % WORD);
		if (word) {
			i += __builtin_ctzll(word);
			break;
		}
		i = (i / WORD + 1) * WORD;
	}
	return i < n ? t->start + i : end;
}

u64 dp_text_next(const struct dp_text *t, u64 start, u64 end)
{
	return next(t, t->target, start, end);
}

u64 dp_text_next_named(const struct dp_text *t, u64 start, u64 end)
{
	return next(t, t->named, start, end);
}

static int load_one(struct dp_survey *s, const Elf64_Phdr *ph, u64 *total)
{
	struct dp_code_map *map = s->map;
	struct dp_text *t = &map->text[map->n_text];
	u64 words = ph->p_filesz / WORD + 1;
	void *code;
	int err;

	if (map->n_text == DP_TEXT_MAX ||
	    ph->p_filesz > TEXT_SIZE_MAX - *total ||
	    ph->p_vaddr + ph->p_filesz < ph->p_vaddr)
		return -EOPNOTSUPP;
	*total += ph->p_filesz;
	err = dp_elf_load(s->elf, ph->p_offset, ph->p_filesz, &code);
	if (err)
		return err == -ENOMEM ? err : -EOPNOTSUPP;
	map->n_text++;
	t->start = ph->p_vaddr;
	t->end = ph->p_vaddr + ph->p_filesz;
	t->code = code;
	t->target = calloc(words, sizeof(*t->target));
	t->insn = calloc(words, sizeof(*t->insn));
	t->named = calloc(words, sizeof(*t->named));
	return t->target && t->insn && t->named ? 0 : -ENOMEM;
}

static bool overlaps(const struct dp_code_map *map, const Elf64_Phdr *ph)
{
	size_t i;

	for (i = 0; i < map->n_text; i++) {
		if (ph->p_vaddr < map->text[i].end &&
		    map->text[i].start < ph->p_vaddr + ph->p_filesz)
			return true;
	}
	return false;
}

int dp_text_load(struct dp_survey *s)
{
	const Elf64_Phdr *ph;
	u64 total = 0;
	size_t i;
	int err;

	for (i = 0; i < s->elf->n_ph; i++) {
		ph = &s->elf->ph[i];
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) ||
		    !ph->p_filesz)
			continue;
		if (overlaps(s->map, ph))
			return -EOPNOTSUPP;
		err = load_one(s, ph, &total);
		if (err)
			return err;
	}
	return total ? 0 : -EOPNOTSUPP;
}

void dp_text_drop_code(struct dp_code_map *map)
{
	size_t i;

	for (i = 0; i < map->n_text; i++) {
		free(map->text[i].code);
		map->text[i].code = NULL;
	}
}
