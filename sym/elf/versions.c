// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* versions: names of the symbol versions that a file defines and needs. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/list.h"

#define INDEX_MASK 0x7fff

struct scan {
	struct dp_versions *vers;
	const u8 *data;
	u64 len;
	const char *str;
	size_t str_len;
	u64 budget; /* entries that may still be read: links can overlap */
};

static int set(struct scan *s, u16 index, u32 name)
{
	struct dp_versions *vers = s->vers;
	size_t n = vers->n;

	index &= INDEX_MASK;
	if (name >= s->str_len)
		return 0;
	if (dp_list_reserve(&vers->v, index + 1u, &vers->n, sizeof(*vers->v)))
		return -ENOMEM;
	memset(vers->v + n, 0, (vers->n - n) * sizeof(*vers->v));
	vers->v[index] = s->str + name;
	return 0;
}

static bool fetch(struct scan *s, u64 off, void *to, size_t size)
{
	if (!s->budget || off > s->len || size > s->len - off)
		return false;
	s->budget--;
	memcpy(to, s->data + off, size);
	return true;
}

static int scan_verdef(struct scan *s)
{
	Elf64_Verdef def;
	Elf64_Verdaux aux;
	u64 off = 0;
	int err;

	while (fetch(s, off, &def, sizeof(def))) {
		if (!fetch(s, off + def.vd_aux, &aux, sizeof(aux)))
			return 0;
		err = set(s, def.vd_ndx, aux.vda_name);
		if (err || !def.vd_next)
			return err;
		off += def.vd_next;
	}
	return 0;
}

static int scan_needed(struct scan *s, u64 off, unsigned int n)
{
	Elf64_Vernaux aux;
	int err;

	while (n-- && fetch(s, off, &aux, sizeof(aux))) {
		err = set(s, aux.vna_other, aux.vna_name);
		if (err || !aux.vna_next)
			return err;
		off += aux.vna_next;
	}
	return 0;
}

static int scan_verneed(struct scan *s)
{
	Elf64_Verneed need;
	u64 off = 0;
	int err;

	while (fetch(s, off, &need, sizeof(need))) {
		err = scan_needed(s, off + need.vn_aux, need.vn_cnt);
		if (err || !need.vn_next)
			return err;
		off += need.vn_next;
	}
	return 0;
}

static int scan_table(struct scan *s, const struct dp_elf *elf, u64 vaddr,
		      int (*scan)(struct scan *s))
{
	void *data;
	int err;

	s->len = 1 << 20;
	err = vaddr ? dp_elf_load_at(elf, vaddr, &s->len, &data) : -ENOENT;
	if (err)
		return err == -ENOMEM ? err : 0;
	s->data = data;
	s->budget = s->len / sizeof(Elf64_Verdaux);
	err = scan(s);
	free(data);
	return err;
}

int dp_versions_load(struct dp_versions *vers, const struct dp_elf *elf,
		     const struct dp_dynamic *dyn, const char *str,
		     size_t str_len)
{
	struct scan s = { .vers = vers, .str = str, .str_len = str_len };

	return scan_table(&s, elf, dyn->verdef, scan_verdef) ?:
		       scan_table(&s, elf, dyn->verneed, scan_verneed);
}

const char *dp_versions_name(const struct dp_versions *vers, u16 index)
{
	index &= INDEX_MASK;
	if (index <= VER_NDX_GLOBAL || index >= vers->n)
		return NULL;
	return vers->v[index];
}
