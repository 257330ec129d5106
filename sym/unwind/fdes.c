// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fdes: the code ranges that .eh_frame describes.
 *
 * The records are walked once in file order and sorted here. The search table of
 * .eh_frame_hdr is not used: it is optional, and to check it takes as long.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/list.h"
#include "sym/unwind/fdes.h"

static int walk(struct dp_fdes *fdes, struct dp_eh *f)
{
	struct dp_cursor rules;
	struct dp_fde fde;
	u64 at = 0, next;
	int err = 0;

	for (; !err && (next = dp_eh_next(f, at)); at = next)
		if (dp_eh_read(f, at, &fde, &rules))
			err = dp_list_push(fdes, &fde);
	return err;
}

/* Without sections .eh_frame_hdr points to .eh_frame, which a zero length ends. */
static int locate_by_header(const struct dp_elf *elf, u64 *off, u64 *len,
			    u64 *vaddr)
{
	const Elf64_Phdr *ph = dp_elf_segment(elf, PT_GNU_EH_FRAME);
	struct dp_eh_header h;
	u8 head[12];

	if (!ph || dp_elf_read(elf, ph->p_offset, head, sizeof(head)) ||
	    !dp_eh_header((struct dp_cursor){ head, head + sizeof(head),
					      false },
			  ph->p_vaddr, &h))
		return -ENOENT;
	*vaddr = h.frame;
	return dp_elf_offset(elf, *vaddr, off, len);
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

int dp_eh_load(struct dp_eh *f, const struct dp_elf *elf)
{
	u64 off;

	memset(f, 0, sizeof(*f));
	return locate(elf, &off, &f->len, &f->vaddr) ?:
		       dp_elf_load(elf, off, f->len, (void **)&f->data);
}

/* Append a record: its length word and the bytes behind it. */
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
	f->vaddr = vaddr + at - f->len;
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

int dp_fdes_of(struct dp_fdes *fdes, struct dp_eh *f)
{
	int err;

	memset(fdes, 0, sizeof(*fdes));
	err = walk(fdes, f);
	if (err)
		dp_fdes_free(fdes);
	else if (fdes->n)
		qsort(fdes->v, fdes->n, sizeof(*fdes->v), dp_list_order);
	return err;
}

int dp_fdes_load(struct dp_fdes *fdes, const struct dp_elf *elf)
{
	struct dp_eh f;
	int err;

	memset(fdes, 0, sizeof(*fdes));
	err = dp_eh_load(&f, elf);
	if (err)
		return err;
	err = dp_fdes_of(fdes, &f);
	dp_eh_free(&f);
	return err;
}

const struct dp_fde *dp_fdes_find(const struct dp_fdes *fdes, u64 value)
{
	size_t n = dp_list_upto(fdes->v, fdes->n, sizeof(*fdes->v),
				offsetof(struct dp_fde, start), value);

	return n && value < fdes->v[n - 1].end ? &fdes->v[n - 1] : NULL;
}

void dp_fdes_free(struct dp_fdes *fdes)
{
	free(fdes->v);
	memset(fdes, 0, sizeof(*fdes));
}
