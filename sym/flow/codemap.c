// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * codemap: the ways into a module's code.
 *
 *   frame descriptions ─┐                         ┌─► branches ──────────┐
 *   symbols ────────────┴─► fragments ─► decode ──┼─► refs ─► jump tables ├─► bits
 *   relocations, data ────────────────────────────┼─► addresses ─────────┤
 *   exception tables ─────────────────────────────┴─► landing pads ──────┘
 *
 * Every source only ever sets bits, so their order does not matter. Code that cannot
 * be understood makes a function unresolved, but does not make the map fail: every
 * file may be hostile.
 *
 * Out of reach: addresses that a run-time system computes from tables of its own,
 * for code with frame descriptions.
 */
#include <dprobes/diag.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/codemap.h"
#include "sym/flow/map.h"
#include "sym/names/mod.h"

#define SEGMENTS_MAX 64
#define BUDGET (1u << 24)

static void find_data(struct dp_survey *s)
{
	const Elf64_Phdr *ph;
	size_t i;

	s->data_start = ~0ull;
	for (i = 0; i < s->elf->n_ph; i++) {
		ph = &s->elf->ph[i];
		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_vaddr < s->data_start)
			s->data_start = ph->p_vaddr;
		if (ph->p_vaddr + ph->p_filesz > s->data_end)
			s->data_end = ph->p_vaddr + ph->p_filesz;
	}
}

static int draw(struct dp_survey *s)
{
	int err;

	if (s->elf->n_ph > SEGMENTS_MAX)
		return -EOPNOTSUPP;
	find_data(s);
	err = dp_text_load(s) ?: dp_fragments_load(s);
	if (!err)
		err = dp_flow_walk(s) ?: dp_pointers_mark(s);
	if (err)
		return err;
	dp_padding_scan(s);
	err = dp_tables_read(s) ?: dp_lsda_mark(s);
	dp_edges_sort(&s->map->jump);
	dp_edges_sort(&s->map->hidden);
	return err;
}

int dp_survey_run(const struct dp_elf *elf, const struct dp_fdes *fdes,
		  const struct dp_symtab *symtab,
		  const struct dp_dynsym *dynsym, u64 bias,
		  struct dp_code_map **map)
{
	struct dp_survey *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	*map = calloc(1, sizeof(**map));
	if (s && *map) {
		(*map)->bias = bias;
		s->map = *map;
		s->elf = s->window.elf = elf;
		s->fdes = fdes;
		s->symtab = symtab;
		s->dynsym = dynsym;
		s->absolute = elf->eh.e_type == ET_EXEC;
		s->go = dp_elf_section(elf, ".gopclntab") ||
			dp_elf_section(elf, ".data.rel.ro.gopclntab");
		s->budget = BUDGET;
		err = draw(s);
		dp_text_drop_code(*map);
		free(s->ref);
		free(s->edge);
	}
	free(s);
	if (err) {
		dp_code_map_close(*map);
		*map = NULL;
	}
	return err;
}

static int draw_module(struct dp_modules *mods, struct dp_mod *mod,
		       struct dp_code_map **map)
{
	struct dp_elf elf;
	int err = dp_mod_load(mods, mod, DP_MOD_DYNSYM)		?:
			  dp_mod_load(mods, mod, DP_MOD_SYMTAB) ?:
			  dp_mod_load(mods, mod, DP_MOD_FDES)	?:
			  dp_file_open_elf(mods, mod, &elf);

	if (err)
		return dp_is_shortage(err) ? err : -ENOENT;
	err = dp_survey_run(&elf, &mod->read.fdes, &mod->read.symtab,
			    &mod->read.dynsym, mod->pub.bias, map);
	dp_elf_close(&elf);
	return err;
}

int dp_code_map_open(struct dp_modules *mods, const struct dp_module *m,
		     struct dp_code_map **map, struct dp_diag *diag)
{
	return dp_code_map_say(mods, m, draw_module(mods, dp_mod_of(m), map),
			       diag);
}

int dp_code_map_say(const struct dp_modules *mods, const struct dp_module *m,
		    int err, struct dp_diag *diag)
{
	switch (err) {
	case -ENOMEM:
		return dp_diag_set(diag, err, "out of memory");
	case -EMFILE:
	case -ENFILE:
		return dp_diag_set(diag, err,
				   "the code of %s cannot be looked at: %s",
				   m->path, strerror(-err));
	case -ENOENT:
		return dp_diag_set(
			diag, err,
			"the code of %s cannot be looked at: the file cannot be read, or was deleted or replaced after process %d mapped it",
			m->path, dp_mods_pid(mods));
	case -EOPNOTSUPP:
		return dp_diag_set(
			diag, err,
			"the code of %s cannot be looked at: its segments or relocations are not those of a linker",
			m->path);
	}
	return err;
}

void dp_code_map_close(struct dp_code_map *map)
{
	size_t i;

	if (!map)
		return;
	for (i = 0; i < map->n_text; i++) {
		free(map->text[i].code);
		free(map->text[i].target);
		free(map->text[i].insn);
		free(map->text[i].named);
	}
	free(map->fragment);
	free(map->jump.v);
	free(map->hidden.v);
	free(map->inner);
	free(map);
}

bool dp_code_map_target(const struct dp_code_map *map, u64 start, u64 end,
			u64 *first)
{
	u64 from = start - map->bias + 1, to = end - map->bias, at;
	const struct dp_text *t;

	if (end <= start || end - start < 2)
		return false;
	t = dp_text_find(map, from);
	if (!t)
		at = from;
	else
		at = dp_text_next(t, from, to < t->end ? to : t->end);
	if (at == to)
		return false;
	if (first)
		*first = at + map->bias;
	return true;
}

bool dp_code_map_boundary(const struct dp_code_map *map, u64 addr)
{
	const struct dp_text *t = dp_text_find(map, addr - map->bias);

	return t && dp_text_is_insn(t, addr - map->bias);
}

int dp_code_map_function(const struct dp_code_map *map, u64 addr, u64 *start,
			 u64 *end)
{
	const struct dp_fragment *p = dp_fragments_find(map, addr - map->bias);

	if (!p)
		return -ENOENT;
	*start = p->start + map->bias;
	*end = dp_fragment_end(p) + map->bias;
	return 0;
}

bool dp_code_map_unresolved(const struct dp_code_map *map, u64 addr)
{
	const struct dp_fragment *p = dp_fragments_find(map, addr - map->bias);

	return !p || (p->flags & (DP_FRAGMENT_JUMP | DP_FRAGMENT_LOST));
}
