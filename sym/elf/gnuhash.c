// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * gnuhash: one dynamic symbol, found as the dynamic linker finds it.
 *
 * DT_GNU_HASH has a header of four words, a bloom filter, and buckets by the remainder of
 * a name's hash. The hashes of all symbols follow in the order of their buckets. The last
 * hash of a bucket has its lowest bit set. A lookup reads a few words instead of a table
 * of some thousand symbols.
 */
#include <elf.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"

#define LINKS_MAX 4096 /* linkers make about ten */
#define LONGEST 256

struct header {
	u32 buckets, first, bloom, shift;
};

/** struct seeking - a name that is looked for; @value: where its value goes */
struct seeking {
	const struct dp_elf *elf;
	struct dp_dynamic dyn;
	const char *name;
	size_t len;
	u32 hash;
	u64 *value;
};

static u32 hash_of(const char *name)
{
	u32 h = 5381;

	for (; *name; name++)
		h = h * 33 + (u8)*name;
	return h;
}

static int read_at(const struct dp_elf *elf, u64 addr, void *to, u64 n)
{
	u64 off, avail;

	if (dp_elf_offset(elf, addr, &off, &avail) || avail < n)
		return -EILSEQ;
	return dp_elf_read(elf, off, to, n);
}

static bool is_named(const struct seeking *s, u32 offset)
{
	char name[LONGEST];

	return offset < s->dyn.strsz && s->len + 1 <= s->dyn.strsz - offset &&
	       !read_at(s->elf, s->dyn.strtab + offset, name, s->len + 1) &&
	       !memcmp(name, s->name, s->len + 1);
}

static bool is_hidden(const struct seeking *s, u32 i)
{
	u16 version;

	return s->dyn.versym &&
	       !read_at(s->elf, s->dyn.versym + i * sizeof(version), &version,
			sizeof(version)) &&
	       version & DP_VERSION_HIDDEN;
}

/* Return: 0 symbol @i has the name; 1 in an old version; -ENOENT it has not. */
static int look_at(const struct seeking *s, u32 i)
{
	Elf64_Sym sym;
	int err = read_at(s->elf, s->dyn.symtab + (u64)i * sizeof(sym), &sym,
			  sizeof(sym));

	if (err)
		return err;
	if (!dp_dynsym_defines(&sym) || !is_named(s, sym.st_name))
		return -ENOENT;
	*s->value = sym.st_value;
	return is_hidden(s, i) ? 1 : 0;
}

/* Walk a bucket. @chain: address of the hash of symbol @i. As in dp_dynsym_find(), an old
 * version is better than none. */
static int follow(const struct seeking *s, u64 chain, u32 i)
{
	bool old = false;
	int n, err;
	u32 hash;

	for (n = 0; n < LINKS_MAX; n++, i++, chain += sizeof(hash)) {
		err = read_at(s->elf, chain, &hash, sizeof(hash));
		if (err)
			return err;
		err = (hash | 1) == (s->hash | 1) ? look_at(s, i) : -ENOENT;
		if (err != 1 && err != -ENOENT)
			return err;
		old |= err == 1;
		if (hash & 1)
			return old ? 0 : -ENOENT;
	}
	return -EILSEQ;
}

int dp_gnuhash_find(const struct dp_elf *elf, const char *name, u64 *value)
{
	struct seeking s = { .elf = elf,
			     .name = name,
			     .len = strlen(name),
			     .hash = hash_of(name),
			     .value = value };
	struct header h;
	u64 buckets;
	u32 first;
	int err = dp_dynamic_read(elf, &s.dyn);

	if (err)
		return err;
	if (!s.dyn.gnu_hash || s.len >= LONGEST)
		return -EOPNOTSUPP;
	err = read_at(elf, s.dyn.gnu_hash, &h, sizeof(h));
	if (err || !h.buckets)
		return err ? err : -EILSEQ;
	buckets = s.dyn.gnu_hash + sizeof(h) + (u64)h.bloom * sizeof(u64);
	err = read_at(elf, buckets + s.hash % h.buckets * sizeof(u32), &first,
		      sizeof(first));
	if (err || first < h.first)
		return err ? err : -ENOENT;
	return follow(
		&s, buckets + ((u64)h.buckets + first - h.first) * sizeof(u32),
		first);
}
