// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fdes: the code ranges that .eh_frame describes.
 *
 * The records are walked once in file order and sorted here. The search table
 * of .eh_frame_hdr is left alone: it is optional, and no shorter to check.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sym/private.h"

#define ABSPTR 0x00
#define UDATA2 0x02
#define UDATA4 0x03
#define UDATA8 0x04
#define SDATA2 0x0a
#define SDATA4 0x0b
#define SDATA8 0x0c
#define FORMAT 0x0f
#define PCREL 0x10
#define APPLY 0x70
#define INDIRECT 0x80

/* A cursor over bytes that the file's author chose. */
struct cursor {
	const u8 *p, *end;
	bool bad;
};

struct frames {
	const u8 *data;
	u64 len;
	u64 vaddr; /* of data[0] */
	u64 cie; /* the CIE that @enc was read from */
	u8 enc;
	bool have_cie;
};

static u64 take(struct cursor *c, size_t n)
{
	u64 v = 0;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		return 0;
	}
	memcpy(&v, c->p, n);
	c->p += n;
	return v;
}

static u64 take_uleb(struct cursor *c)
{
	unsigned int shift = 0;
	u64 v = 0;
	u8 byte;

	do {
		byte = take(c, 1);
		if (shift < 64)
			v |= (u64)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !c->bad);
	return v;
}

static u64 take_pointer(struct cursor *c, u8 enc)
{
	switch (enc & FORMAT) {
	case ABSPTR:
	case UDATA8:
	case SDATA8:
		return take(c, 8);
	case UDATA2:
		return take(c, 2);
	case UDATA4:
		return take(c, 4);
	case SDATA2:
		return (s64)(int16_t)take(c, 2);
	case SDATA4:
		return (s64)(s32)take(c, 4);
	}
	c->bad = true;
	return 0;
}

/* Finds 'R' in the augmentation: how the FDEs of this CIE write pointers. */
static void read_augmentation(struct cursor *c, const char *aug, u8 *enc)
{
	u8 personality;

	for (; *aug && !c->bad; aug++) {
		switch (*aug) {
		case 'z':
			take_uleb(c);
			break;
		case 'L':
			take(c, 1);
			break;
		case 'P':
			personality = take(c, 1);
			take_pointer(c, personality);
			break;
		case 'R':
			*enc = take(c, 1);
			return;
		case 'S':
		case 'B':
			break;
		default:
			c->bad = true;
		}
	}
}

static bool read_cie(struct frames *f, u64 at)
{
	struct cursor c = { f->data + at, f->data + f->len, false };
	const char *aug;
	u64 len;
	u8 version;

	if (f->have_cie && f->cie == at)
		return true;
	f->have_cie = false;
	len = take(&c, 4);
	if (c.bad || len < 8 || len > (u64)(c.end - c.p))
		return false;
	c.end = c.p + len;
	if (take(&c, 4) != 0)
		return false;
	version = take(&c, 1);
	aug = (const char *)c.p;
	if (!memchr(aug, 0, c.end - c.p))
		return false;
	c.p += strlen(aug) + 1;
	take_uleb(&c);
	take_uleb(&c);
	if (version == 1)
		take(&c, 1);
	else
		take_uleb(&c);
	f->enc = ABSPTR;
	read_augmentation(&c, aug, &f->enc);
	f->cie = at;
	f->have_cie = !c.bad;
	return f->have_cie;
}

static bool read_fde(struct frames *f, struct cursor *c, u64 cie,
		     struct dp_fde *fde)
{
	u64 at, start, len;

	if (!read_cie(f, cie) || (f->enc & INDIRECT))
		return false;
	at = f->vaddr + (c->p - f->data);
	start = take_pointer(c, f->enc);
	if ((f->enc & APPLY) == PCREL)
		start += at;
	else if (f->enc & APPLY)
		return false;
	len = take_pointer(c, f->enc & (FORMAT & ~8));
	if (c->bad || !len || start + len < start)
		return false;
	fde->start = start;
	fde->end = start + len;
	return true;
}

static int add(struct dp_fdes *fdes, const struct dp_fde *fde)
{
	struct dp_fde *bigger;
	size_t room;

	if (fdes->n == fdes->room) {
		room = fdes->room ? 2 * fdes->room : 256;
		bigger = realloc(fdes->v, room * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		fdes->v = bigger;
		fdes->room = room;
	}
	fdes->v[fdes->n++] = *fde;
	return 0;
}

static int walk(struct dp_fdes *fdes, struct frames *f)
{
	struct cursor all = { f->data, f->data + f->len, false }, c;
	struct dp_fde fde;
	u64 len, id, back;
	int err;

	while (all.end - all.p >= 8) {
		len = take(&all, 4);
		if (!len)
			break;
		if (len < 4 || len > (u64)(all.end - all.p))
			break;
		c = (struct cursor){ all.p, all.p + len, false };
		back = all.p - f->data;
		id = take(&c, 4);
		if (id && id <= back && read_fde(f, &c, back - id, &fde)) {
			err = add(fdes, &fde);
			if (err)
				return err;
		}
		all.p += len;
	}
	return 0;
}

/* Without sections: .eh_frame_hdr points to it, and a zero length ends it. */
static int locate_by_header(const struct dp_elf *elf, u64 *off, u64 *len,
			    u64 *vaddr)
{
	const Elf64_Phdr *ph = dp_elf_segment(elf, PT_GNU_EH_FRAME);
	struct cursor c;
	u8 head[12];

	if (!ph || dp_elf_read(elf, ph->p_offset, head, sizeof(head)) ||
	    head[0] != 1 || (head[1] & (INDIRECT | APPLY)) != PCREL)
		return -ENOENT;
	c = (struct cursor){ head + 4, head + sizeof(head), false };
	*vaddr = ph->p_vaddr + 4 + take_pointer(&c, head[1]);
	return c.bad ? -ENOENT : dp_elf_offset(elf, *vaddr, off, len);
}

static int locate(const struct dp_elf *elf, u64 *off, u64 *len, u64 *vaddr)
{
	const Elf64_Shdr *sh = dp_elf_section(elf, ".eh_frame");

	if (!sh || sh->sh_type == SHT_NOBITS)
		return locate_by_header(elf, off, len, vaddr);
	*off = sh->sh_offset;
	*len = sh->sh_size;
	*vaddr = sh->sh_addr;
	return 0;
}

static int compare(const void *pa, const void *pb)
{
	const struct dp_fde *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

int dp_fdes_load(struct dp_fdes *fdes, const struct dp_elf *elf)
{
	struct frames f = { 0 };
	u64 off;
	void *data;
	int err;

	memset(fdes, 0, sizeof(*fdes));
	err = locate(elf, &off, &f.len, &f.vaddr);
	if (!err)
		err = dp_elf_load(elf, off, f.len, &data);
	if (err)
		return err;
	f.data = data;
	err = walk(fdes, &f);
	free(data);
	if (err)
		dp_fdes_free(fdes);
	else if (fdes->n)
		qsort(fdes->v, fdes->n, sizeof(*fdes->v), compare);
	return err;
}

const struct dp_fde *dp_fdes_find(const struct dp_fdes *fdes, u64 value)
{
	size_t lo = 0, hi = fdes->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (fdes->v[mid].start <= value)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || value >= fdes->v[lo - 1].end)
		return NULL;
	return &fdes->v[lo - 1];
}

void dp_fdes_free(struct dp_fdes *fdes)
{
	free(fdes->v);
	memset(fdes, 0, sizeof(*fdes));
}
