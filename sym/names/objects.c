// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* objects: the variables that a module's symbol table has, by their addresses. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"
#include "sym/names/mod.h"
#include "sym/variable.h"

static bool is_object(const Elf64_Sym *sym, u64 names)
{
	return ELF64_ST_TYPE(sym->st_info) == STT_OBJECT && sym->st_size &&
	       sym->st_shndx != SHN_UNDEF && sym->st_shndx != SHN_ABS &&
	       sym->st_name && sym->st_name < names;
}

static int by_address(const void *a, const void *b)
{
	const struct dp_object *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int add_all(struct dp_objects *o, const Elf64_Sym *sym, u64 n, u64 names)
{
	struct dp_object one;
	int err = 0;
	u64 i;

	for (i = 0; i < n && !err; i++) {
		if (!is_object(&sym[i], names))
			continue;
		one = (struct dp_object){ sym[i].st_value, sym[i].st_size,
					  o->text + sym[i].st_name };
		err = o->n < DP_NAMES_MAX ? dp_list_push(o, &one) : -EFBIG;
	}
	return err;
}

static int load(struct dp_objects *o, const struct dp_elf *elf, u32 type)
{
	const Elf64_Shdr *strings, *sh = dp_elf_symbols(elf, type, &strings);
	void *text = NULL, *v = NULL;
	int err = sh ? dp_elf_load_section(elf, strings, &text) : -ENOENT;

	o->text = text;
	if (!err)
		err = dp_elf_load_section(elf, sh, &v);
	if (!err)
		err = add_all(o, v, sh->sh_size / sizeof(Elf64_Sym),
			      strings->sh_size);
	free(v);
	if (err)
		dp_objects_free(o);
	return err;
}

int dp_objects_load(struct dp_objects *o, const struct dp_elf *elf,
		    const char *root, const char *path)
{
	struct dp_elf other;
	int err = load(o, elf, SHT_SYMTAB);

	if (err == -ENOENT && !dp_debugfile_open(elf, root, path, &other)) {
		err = load(o, &other, SHT_SYMTAB);
		dp_elf_close(&other);
	}
	if (err && err != -ENOMEM)
		err = load(o, elf, SHT_DYNSYM);
	if (!err)
		qsort(o->v, o->n, sizeof(*o->v), by_address);
	return err;
}

void dp_objects_free(struct dp_objects *o)
{
	free(o->v);
	free(o->text);
	*o = (struct dp_objects){ 0 };
}

/* The last one that begins at @value, or before */
static const struct dp_object *find(const struct dp_objects *o, u64 value)
{
	size_t low = 0, high = o->n, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (o->v[mid].value <= value)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &o->v[low - 1] : NULL;
}

/* Is the address of a file's in one of its segments? Its .bss is mapped from no file. */
static bool is_loaded(const struct dp_mod *mod, u64 value)
{
	u64 i;

	for (i = 0; i < mod->shape.n_ph; i++)
		if (mod->shape.ph[i].p_type == PT_LOAD &&
		    value - mod->shape.ph[i].p_vaddr < mod->shape.ph[i].p_memsz)
			return true;
	return false;
}

/* The object that has @addr in it, or NULL */
static const struct dp_object *object_at(struct dp_modules *mods, u64 addr,
					 u64 *offset,
					 const struct dp_module **m)
{
	const struct dp_object *is;
	size_t i;
	u64 value;

	for (i = 0; i < mods->n; i++) {
		struct dp_mod *mod = mods->v[i];

		value = addr - mod->pub.bias;
		if (!is_loaded(mod, value) ||
		    dp_mod_load(mods, mod, DP_MOD_OBJECTS))
			continue;
		is = find(&mod->read.objects, value);
		if (!is || value - is->value >= is->size)
			continue;
		*offset = value - is->value;
		*m = &mod->pub;
		return is;
	}
	return NULL;
}

int dp_variable_at(struct dp_modules *mods, u64 addr, const char **name,
		   u64 *offset, const struct dp_module **m)
{
	const struct dp_module *module;
	const struct dp_object *is = object_at(mods, addr, offset, &module);

	if (!is)
		return -ENOENT;
	if (m)
		*m = module;
	*name = is->name;
	return 0;
}

u64 dp_variable_size(struct dp_modules *mods, u64 addr)
{
	const struct dp_module *m;
	u64 offset;
	const struct dp_object *is = object_at(mods, addr, &offset, &m);

	return is && !offset ? is->size : 0;
}
