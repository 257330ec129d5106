// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* symtab: all function names of one module, by name and by address. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/list.h"

#define LOOK_BACK 16 /* symbols before an address that may hold it */
#define NAME_LEN_MAX 8192 /* names can be tails of one huge string */

u32 dp_name_hash(const char *name)
{
	u32 h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (u8)*name) * 16777619u;
	return h;
}

/* Owns @block from then on, also when it fails. */
static int keep(struct dp_symtab *tab, void *block)
{
	int err = dp_list_add(&tab->keep, &tab->n_keep, &tab->room_keep, &block,
			      sizeof(block));

	if (err)
		free(block);
	return err;
}

int dp_symtab_add(struct dp_symtab *tab, const struct dp_sym *sym)
{
	struct dp_sym hashed = *sym;

	if (tab->n == DP_NAMES_MAX)
		return -EFBIG;
	hashed.hash = dp_name_hash(sym->name);
	return dp_list_push(tab, &hashed);
}

static bool in_text(const struct dp_elf *elf, u64 value)
{
	const Elf64_Phdr *ph;
	size_t i;

	for (i = 0; i < elf->n_ph; i++) {
		ph = &elf->ph[i];
		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) &&
		    value >= ph->p_vaddr && value - ph->p_vaddr < ph->p_memsz)
			return true;
	}
	return false;
}

/* A symbol without a type counts only inside code: _etext is at its end. */
static bool in_code_section(const struct dp_elf *elf, const Elf64_Sym *sym)
{
	const Elf64_Shdr *sh;

	if (!sym->st_shndx || sym->st_shndx >= elf->n_sh)
		return false;
	sh = &elf->sh[sym->st_shndx];
	return (sh->sh_flags & SHF_EXECINSTR) && sym->st_value >= sh->sh_addr &&
	       sym->st_value - sh->sh_addr < sh->sh_size;
}

static bool is_function(const struct dp_elf *elf, const struct dp_elf *text,
			const Elf64_Sym *sym)
{
	if (sym->st_shndx == SHN_UNDEF || !sym->st_value ||
	    !in_text(text, sym->st_value))
		return false;
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return in_code_section(elf, sym);
	}
	return false;
}

/* Names go into messages: names that could steer a terminal are left out. */
static bool is_clean(const char *name)
{
	size_t i;

	for (i = 0; i < NAME_LEN_MAX && name[i]; i++) {
		if ((u8)name[i] < 0x20 || name[i] == 0x7f)
			return false;
	}
	return i && i < NAME_LEN_MAX;
}

int dp_symtab_add_dynsym(struct dp_symtab *tab, const struct dp_dynsym *ds,
			 const struct dp_elf *text)
{
	struct dp_sym sym;
	bool hidden;
	size_t i;
	int err;

	for (i = 1; i < ds->n; i++) {
		if (!is_function(text, text, &ds->v[i]) ||
		    ELF64_ST_BIND(ds->v[i].st_info) == STB_LOCAL ||
		    !is_clean(dp_dynsym_name(ds, i)))
			continue;
		memset(&sym, 0, sizeof(sym));
		sym.name = dp_dynsym_name(ds, i);
		sym.version = dp_dynsym_version(ds, i, &hidden);
		sym.value = ds->v[i].st_value;
		sym.size = ds->v[i].st_size;
		sym.type = ELF64_ST_TYPE(ds->v[i].st_info);
		sym.rank = hidden ? DP_RANK_OLD : DP_RANK_EXPORT;
		err = dp_symtab_add(tab, &sym);
		if (err)
			return err;
	}
	return 0;
}

/* .symtab spells versions into the name: "memcpy@GLIBC_2.2.5", "x@@V1". */
static int split_version(struct dp_symtab *tab, struct dp_sym *sym)
{
	const char *at = strchr(sym->name + 1, '@');
	char *copy;
	int err;

	if (!at)
		return 0;
	copy = strdup(sym->name);
	if (!copy)
		return -ENOMEM;
	err = keep(tab, copy);
	if (err)
		return err;
	copy[at - sym->name] = '\0';
	sym->version = copy + (at - sym->name) + 1;
	sym->name = copy;
	if (*sym->version == '@')
		sym->version++;
	else if (sym->rank >= DP_RANK_GLOBAL)
		sym->rank = DP_RANK_OLD;
	return 0;
}

static u8 rank_of(const Elf64_Sym *sym)
{
	if (ELF64_ST_BIND(sym->st_info) != STB_LOCAL)
		return DP_RANK_GLOBAL;
	if (ELF64_ST_TYPE(sym->st_info) == STT_NOTYPE)
		return DP_RANK_LABEL;
	return DP_RANK_STATIC;
}

static int add_one(struct dp_symtab *tab, const Elf64_Sym *from,
		   const char *name, const char *file)
{
	struct dp_sym sym = {
		.name = name,
		.value = from->st_value,
		.size = from->st_size,
		.type = ELF64_ST_TYPE(from->st_info),
		.rank = rank_of(from),
	};
	int err;

	/* Linkers sort local symbols by file; global symbols follow unsorted. */
	if (ELF64_ST_BIND(from->st_info) == STB_LOCAL)
		sym.file = file;
	err = split_version(tab, &sym);
	return err ? err : dp_symtab_add(tab, &sym);
}

static int add_all(struct dp_symtab *tab, const struct dp_elf *elf,
		   const struct dp_elf *text, const Elf64_Sym *v, u64 n,
		   const char *str, u64 str_len)
{
	const char *file = NULL, *name;
	u64 i;
	int err;

	for (i = 1; i < n; i++) {
		if (v[i].st_name >= str_len)
			continue;
		name = str + v[i].st_name;
		if (ELF64_ST_TYPE(v[i].st_info) == STT_FILE) {
			file = is_clean(name) ? name : NULL;
			continue;
		}
		if (!is_function(elf, text, &v[i]) || !is_clean(name))
			continue;
		err = add_one(tab, &v[i], name, file);
		if (err)
			return err;
	}
	return 0;
}

int dp_symtab_add_symtab(struct dp_symtab *tab, const struct dp_elf *elf,
			 const struct dp_elf *text)
{
	const Elf64_Shdr *strings,
		*sh = dp_elf_symbols(elf, SHT_SYMTAB, &strings);
	void *str, *v;
	int err;

	if (!sh)
		return -ENOENT;
	err = dp_elf_load_section(elf, strings, &str);
	if (err)
		return err;
	err = keep(tab, str);
	if (err)
		return err;
	err = dp_elf_load_section(elf, sh, &v);
	if (err)
		return err;
	err = add_all(tab, elf, text, v, sh->sh_size / sizeof(Elf64_Sym), str,
		      strings->sh_size);
	free(v);
	return err;
}

int dp_symtab_index(struct dp_symtab *tab)
{
	size_t n = 16, i;
	u32 *slot;

	if (tab->n > UINT32_MAX / 2)
		return -ENOMEM;
	while (n < tab->n)
		n *= 2;
	tab->bucket = calloc(n, sizeof(*tab->bucket));
	tab->next = calloc(tab->n + 1, sizeof(*tab->next));
	if (!tab->bucket || !tab->next)
		return -ENOMEM;
	tab->n_bucket = n;
	for (i = 0; i < tab->n; i++) {
		slot = &tab->bucket[tab->v[i].hash & (n - 1)];
		tab->next[i] = *slot;
		*slot = i + 1;
	}
	return 0;
}

static const struct dp_sym *chain(const struct dp_symtab *tab, u32 i, u32 hash,
				  const char *name)
{
	for (; i; i = tab->next[i - 1]) {
		if (tab->v[i - 1].hash == hash &&
		    !strcmp(tab->v[i - 1].name, name))
			return &tab->v[i - 1];
	}
	return NULL;
}

const struct dp_sym *dp_symtab_first(const struct dp_symtab *tab,
				     const char *name)
{
	u32 hash = dp_name_hash(name);

	if (!tab->n_bucket)
		return NULL;
	return chain(tab, tab->bucket[hash & (tab->n_bucket - 1)], hash, name);
}

const struct dp_sym *dp_symtab_next(const struct dp_symtab *tab,
				    const struct dp_sym *sym)
{
	return chain(tab, tab->next[sym - tab->v], sym->hash, sym->name);
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Return: less than zero if @a is the better of two names of one function. */
int dp_symtab_compare(const struct dp_sym *a, const struct dp_sym *b)
{
	size_t la, lb;

	if (a->chosen != b->chosen)
		return a->chosen ? 1 : -1;
	/* A resolver goes by its own name, not by that of its IFUNC. */
	if ((a->type == STT_GNU_IFUNC) != (b->type == STT_GNU_IFUNC))
		return a->type == STT_GNU_IFUNC ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	la = underscores(a->name);
	lb = underscores(b->name);
	if (la != lb)
		return la < lb ? -1 : 1;
	la = strlen(a->name);
	lb = strlen(b->name);
	if (la != lb)
		return la < lb ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_address(const void *pa, const void *pb, void *arg)
{
	const struct dp_symtab *tab = arg;
	const struct dp_sym *a = &tab->v[*(const u32 *)pa];
	const struct dp_sym *b = &tab->v[*(const u32 *)pb];

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return dp_symtab_compare(a, b);
}

int dp_symtab_sort(struct dp_symtab *tab)
{
	size_t i, n = 0;

	free(tab->order);
	tab->order = malloc((tab->n + 1) * sizeof(*tab->order));
	if (!tab->order)
		return -ENOMEM;
	for (i = 0; i < tab->n; i++) {
		if (tab->v[i].rank != DP_RANK_LABEL)
			tab->order[n++] = i;
	}
	qsort_r(tab->order, n, sizeof(*tab->order), by_address, tab);
	tab->n_order = 0;
	for (i = 0; i < n; i++) {
		if (i && tab->v[tab->order[i]].value ==
				 tab->v[tab->order[tab->n_order - 1]].value)
			continue;
		tab->order[tab->n_order++] = tab->order[i];
	}
	return 0;
}

/* Needs dp_symtab_sort(). Return: the symbol that holds @value, else the one before. */
const struct dp_sym *dp_symtab_at(const struct dp_symtab *tab, u64 value)
{
	size_t lo = 0, hi = tab->n_order, mid, i;
	const struct dp_sym *sym;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (tab->v[tab->order[mid]].value <= value)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	for (i = 0; i < LOOK_BACK && i < lo; i++) {
		sym = &tab->v[tab->order[lo - 1 - i]];
		if (value - sym->value < sym->size)
			return sym;
	}
	return &tab->v[tab->order[lo - 1]];
}

void dp_symtab_free(struct dp_symtab *tab)
{
	size_t i;

	for (i = 0; i < tab->n_keep; i++)
		free(tab->keep[i]);
	free(tab->keep);
	free(tab->v);
	free(tab->bucket);
	free(tab->next);
	free(tab->order);
	memset(tab, 0, sizeof(*tab));
}
