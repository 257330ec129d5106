// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fdes: the code ranges that .eh_frame describes.
 *
 * The records are walked once in file order and sorted here. The search table
 * of .eh_frame_hdr is left alone: it is optional, and no shorter to check.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/unwind/cursor.h"
#include "sym/unwind/fdes.h"

/* What is unknown behind 'R' does not matter: the FDEs tell its size. */
static void read_augmentation(struct dp_cursor *c, const char *aug,
			      struct dp_eh *f)
{
	bool have_enc = false;
	u8 personality;
	u64 rest;

	for (; *aug && !c->bad; aug++) {
		switch (*aug) {
		case 'z':
			rest = dp_cursor_uleb(c);
			if (rest > (u64)(c->end - c->p))
				c->bad = true;
			else
				f->initial.p = c->p + rest;
			f->sized = true;
			break;
		case 'L':
			f->lsda_enc = dp_cursor_take(c, 1);
			break;
		case 'P':
			personality = dp_cursor_take(c, 1);
			dp_cursor_pointer(c, personality);
			break;
		case 'R':
			f->enc = dp_cursor_take(c, 1);
			have_enc = true;
			break;
		case 'S':
			f->signal = true;
			break;
		case 'B':
			break;
		default:
			c->bad = !have_enc;
			return;
		}
	}
}

static bool read_cie(struct dp_eh *f, u64 at)
{
	struct dp_cursor c = { f->data + at, f->data + f->len, false };
	const char *aug;
	u64 len;
	u8 version;

	if (f->have_cie && f->cie == at)
		return true;
	f->have_cie = false;
	len = dp_cursor_take(&c, 4);
	if (c.bad || len < 8 || len > (u64)(c.end - c.p))
		return false;
	c.end = c.p + len;
	if (dp_cursor_take(&c, 4) != 0)
		return false;
	version = dp_cursor_take(&c, 1);
	aug = (const char *)c.p;
	if (!memchr(aug, 0, c.end - c.p))
		return false;
	c.p += strlen(aug) + 1;
	f->code_align = dp_cursor_uleb(&c);
	f->data_align = dp_cursor_sleb(&c);
	f->ra = version == 1 ? dp_cursor_take(&c, 1) : dp_cursor_uleb(&c);
	f->enc = DP_EH_ABSPTR;
	f->lsda_enc = DP_EH_OMIT;
	f->sized = false;
	f->signal = false;
	f->initial = (struct dp_cursor){ NULL, c.end, false };
	read_augmentation(&c, aug, f);
	if (!f->sized)
		f->initial.p = c.p;
	f->cie = at;
	f->have_cie = !c.bad;
	return f->have_cie;
}

/* An LSDA that cannot be read is one that cannot be found. */
static u64 read_lsda(const struct dp_eh *f, struct dp_cursor *c)
{
	u64 at, lsda;

	if (!f->sized || f->lsda_enc == DP_EH_OMIT)
		return 0;
	dp_cursor_uleb(c);
	at = f->vaddr + (c->p - f->data);
	lsda = dp_cursor_pointer(c, f->lsda_enc);
	if (c->bad || (f->lsda_enc & DP_EH_INDIRECT))
		return DP_LSDA_BAD;
	if (!lsda)
		return 0;
	if ((f->lsda_enc & DP_EH_APPLY) == DP_EH_PCREL)
		return lsda + at;
	return f->lsda_enc & DP_EH_APPLY ? DP_LSDA_BAD : lsda;
}

static bool read_fde(struct dp_eh *f, struct dp_cursor *c, u64 cie,
		     struct dp_fde *fde)
{
	u64 at, start, len;

	if (!read_cie(f, cie) || (f->enc & DP_EH_INDIRECT))
		return false;
	at = f->vaddr + (c->p - f->data);
	start = dp_cursor_pointer(c, f->enc);
	if ((f->enc & DP_EH_APPLY) == DP_EH_PCREL)
		start += at;
	else if (f->enc & DP_EH_APPLY)
		return false;
	len = dp_cursor_pointer(c, f->enc & (DP_EH_FORMAT & ~8));
	if (c->bad || !len || start + len < start)
		return false;
	fde->start = start;
	fde->end = start + len;
	fde->lsda = read_lsda(f, c);
	fde->signal = f->signal;
	return true;
}

/* Behind the pointers: as much augmentation data as it says, then rules. */
static bool skip_augmentation(const struct dp_eh *f, struct dp_cursor *c)
{
	u64 n = f->sized ? dp_cursor_uleb(c) : 0;

	if (c->bad || n > (u64)(c->end - c->p))
		return false;
	c->p += n;
	return true;
}

bool dp_eh_rules(struct dp_eh *f, const struct dp_fde *fde,
		 struct dp_cursor *rules)
{
	struct dp_cursor c = { f->data, f->data + f->len, false };
	u64 len, id;

	if (fde->at > f->len)
		return false;
	c.p += fde->at;
	len = dp_cursor_take(&c, 4);
	if (c.bad || len < 4 || len > (u64)(c.end - c.p))
		return false;
	c.end = c.p + len;
	id = dp_cursor_take(&c, 4);
	if (!id || id > fde->at + 4 || !read_cie(f, fde->at + 4 - id))
		return false;
	dp_cursor_pointer(&c, f->enc);
	dp_cursor_pointer(&c, f->enc & (DP_EH_FORMAT & ~8));
	if (c.bad || !skip_augmentation(f, &c))
		return false;
	*rules = c;
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

static int walk(struct dp_fdes *fdes, struct dp_eh *f)
{
	struct dp_cursor all = { f->data, f->data + f->len, false }, c;
	struct dp_fde fde;
	u64 len, id, back;
	int err;

	while (all.end - all.p >= 8) {
		len = dp_cursor_take(&all, 4);
		if (!len)
			break;
		if (len < 4 || len > (u64)(all.end - all.p))
			break;
		c = (struct dp_cursor){ all.p, all.p + len, false };
		back = all.p - f->data;
		id = dp_cursor_take(&c, 4);
		if (id && id <= back && read_fde(f, &c, back - id, &fde)) {
			fde.at = back - 4;
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
	struct dp_cursor c;
	u8 head[12];

	if (!ph || dp_elf_read(elf, ph->p_offset, head, sizeof(head)) ||
	    head[0] != 1 ||
	    (head[1] & (DP_EH_INDIRECT | DP_EH_APPLY)) != DP_EH_PCREL)
		return -ENOENT;
	c = (struct dp_cursor){ head + 4, head + sizeof(head), false };
	*vaddr = ph->p_vaddr + 4 + dp_cursor_pointer(&c, head[1]);
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

int dp_eh_load(struct dp_eh *f, const struct dp_elf *elf)
{
	u64 off;
	void *data;
	int err;

	memset(f, 0, sizeof(*f));
	err = locate(elf, &off, &f->len, &f->vaddr);
	if (!err)
		err = dp_elf_load(elf, off, f->len, &data);
	if (!err)
		f->data = data;
	return err;
}

/* Read a record: its length word and what follows. */
static int copy_record(struct dp_eh *f, const struct dp_elf *elf, u64 off,
		       u64 end, u64 at)
{
	u8 *data = (u8 *)f->data;
	u32 len = 0;

	if (at > end || end - at < 8 || dp_elf_read(elf, off + at, &len, 4) ||
	    len < 4 || len > end - at - 4)
		return -EILSEQ;
	data = realloc(data, f->len + 4 + len);
	if (!data)
		return -ENOMEM;
	f->data = data;
	if (dp_elf_read(elf, off + at, data + f->len, 4 + (u64)len))
		return -EILSEQ;
	f->len += 4 + (u64)len;
	return 0;
}

int dp_eh_load_one(struct dp_eh *f, const struct dp_elf *elf,
		   struct dp_fde *fde)
{
	u64 off, len, vaddr, at = fde->at;
	u32 id = 0;
	int err;

	memset(f, 0, sizeof(*f));
	err = locate(elf, &off, &len, &vaddr);
	if (!err && (dp_elf_read(elf, off + at + 4, &id, 4) || id > at + 4))
		err = -EILSEQ;
	if (!err)
		err = copy_record(f, elf, off, len, at + 4 - id);
	fde->at = f->len;
	if (!err)
		err = copy_record(f, elf, off, len, at);
	if (err) {
		dp_eh_free(f);
		return err;
	}
	id = (u32)fde->at + 4; /* back to the CIE, at the beginning */
	memcpy((u8 *)f->data + fde->at + 4, &id, 4);
	return 0;
}

void dp_eh_free(struct dp_eh *f)
{
	free((void *)f->data);
	memset(f, 0, sizeof(*f));
}

int dp_fdes_load(struct dp_fdes *fdes, const struct dp_elf *elf)
{
	struct dp_eh f;
	int err;

	memset(fdes, 0, sizeof(*fdes));
	err = dp_eh_load(&f, elf);
	if (err)
		return err;
	err = walk(fdes, &f);
	dp_eh_free(&f);
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
