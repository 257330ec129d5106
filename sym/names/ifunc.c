// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * ifunc: which implementation of an IFUNC this process runs.
 *
 * The symbol's address is that of a resolver, which the dynamic linker calls once. The
 * resolver's result is in the slots that relocations fill. An IRELATIVE relocation names
 * the resolver itself and is certain. A slot that refers to the name may be bound to
 * another module, or still lead into a lazy PLT. Its value counts only if it is code of
 * the defining module.
 */
#include <string.h>
#include "sym/names/mod.h"

struct query {
	struct dp_modules *mods;
	struct dp_mod *mod;
	const struct dp_sym *sym;
	u64 addr;
	enum dp_ifunc_place place;
};

static bool refers(const struct query *q, const struct dp_mod *from,
		   const struct dp_reloc *r)
{
	if (!r->name)
		return from == q->mod && r->resolver == q->sym->value;
	if (r->hash != q->sym->hash || strcmp(r->name, q->sym->name))
		return false;
	return !r->version || !q->sym->version ||
	       !strcmp(r->version, q->sym->version);
}

static bool is_code_here(const struct query *q, u64 value)
{
	const struct dp_module *m = dp_module_at(q->mods, value);

	return m == &q->mod->pub && value - m->bias != q->sym->value &&
	       !dp_relocs_in_plt(&q->mod->read.relocs, value - m->bias);
}

/* A plain name bound to another module is interposition, not a choice. */
static bool is_code_elsewhere(const struct query *q, const struct dp_reloc *r,
			      u64 value)
{
	const struct dp_map *map = dp_maps_find(&q->mods->maps, value);

	if (!map || map->perms[2] != 'x')
		return false;
	return !strcmp(map->path, "[vdso]") ||
	       (!r->name && dp_module_at(q->mods, value) != &q->mod->pub);
}

static void look(struct query *q, const struct dp_mod *from,
		 const struct dp_reloc *r)
{
	u64 value;

	if (dp_mem_read(q->mods, from->pub.bias + r->slot, &value,
			sizeof(value)))
		return;
	if (is_code_here(q, value)) {
		if (q->place == DP_IFUNC_HERE && value != q->addr)
			q->place = DP_IFUNC_SEVERAL;
		if (q->place == DP_IFUNC_NOWHERE ||
		    q->place == DP_IFUNC_ELSEWHERE)
			q->place = DP_IFUNC_HERE;
		q->addr = value;
	} else if (q->place == DP_IFUNC_NOWHERE &&
		   is_code_elsewhere(q, r, value)) {
		q->place = DP_IFUNC_ELSEWHERE;
		q->addr = value;
	}
}

int dp_ifunc_resolve(struct dp_modules *mods, struct dp_mod *mod,
		     const struct dp_sym *sym, u64 *addr,
		     enum dp_ifunc_place *place)
{
	struct query q = { .mods = mods, .mod = mod, .sym = sym };
	size_t i, j;
	int err;

	err = dp_mod_load(mods, mod, DP_MOD_RELOCS);
	for (i = 0; i < mods->n && !err; i++) {
		err = dp_mod_load(mods, mods->v[i], DP_MOD_RELOCS);
		if (err)
			break;
		for (j = 0; j < mods->v[i]->read.relocs.n; j++) {
			if (refers(&q, mods->v[i],
				   &mods->v[i]->read.relocs.v[j]))
				look(&q, mods->v[i],
				     &mods->v[i]->read.relocs.v[j]);
		}
	}
	*addr = q.addr;
	*place = q.place;
	return err;
}
