// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* eh: the frame descriptions of .eh_frame, and the table that finds them. */
#include <dwarf.h>
#include "sym/unwind/eh.h"

#define PAIR 8 /* bytes of an entry in the table of .eh_frame_hdr */

static uint64_t address_of(const struct dp_eh *f, const struct dp_cursor *c)
{
	return f->vaddr + (uint64_t)(c->p - f->data);
}

/* Open a record behind its length word. */
static bool open_record(const struct dp_eh *f, uint64_t at, struct dp_cursor *c)
{
	uint64_t len;

	if (at > f->len)
		return false;
	*c = (struct dp_cursor){ f->data + at, f->data + f->len, false };
	len = dp_cursor_take(c, 4);
	if (len < 4 || len > (uint64_t)(c->end - c->p))
		return false;
	c->end = c->p + len;
	return true;
}

uint64_t dp_eh_next(const struct dp_eh *f, uint64_t at)
{
	struct dp_cursor c;

	return open_record(f, at, &c) ? (uint64_t)(c.end - f->data) : 0;
}

/* Letters behind 'R' may be unknown: the FDEs tell the size of their data. */
static void read_augmentation(struct dp_cursor *c, const uint8_t *letters,
			      struct dp_eh *f)
{
	struct dp_cursor data;
	bool have_enc = false;

	for (; *letters && !c->bad; letters++) {
		switch (*letters) {
		case 'z':
			data = dp_cursor_block(c);
			f->initial.p = c->p;
			f->sized = true;
			*c = data;
			break;
		case 'L':
			f->lsda_enc = (uint8_t)dp_cursor_take(c, 1);
			break;
		case 'P':
			dp_cursor_pointer(c, (uint8_t)dp_cursor_take(c, 1));
			break;
		case 'R':
			f->enc = (uint8_t)dp_cursor_take(c, 1);
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

static bool read_cie(struct dp_eh *f, uint64_t at)
{
	const uint8_t *letters;
	struct dp_cursor c;
	uint8_t version;

	if (f->have_cie && f->cie == at)
		return true;
	f->have_cie = false;
	if (!open_record(f, at, &c) || dp_cursor_take(&c, 4) != 0)
		return false;
	version = (uint8_t)dp_cursor_take(&c, 1);
	letters = c.p;
	while (dp_cursor_take(&c, 1))
		continue;
	if (c.bad || (version != 1 && version != 3))
		return false;
	f->code_align = dp_cursor_uleb(&c);
	f->data_align = dp_cursor_sleb(&c);
	f->ra = version == 1 ? dp_cursor_take(&c, 1) : dp_cursor_uleb(&c);
	f->enc = DW_EH_PE_absptr;
	f->lsda_enc = DW_EH_PE_omit;
	f->sized = false;
	f->signal = false;
	f->initial = (struct dp_cursor){ NULL, c.end, false };
	read_augmentation(&c, letters, f);
	if (!f->sized)
		f->initial.p = c.p;
	f->cie = at;
	f->have_cie = !c.bad;
	return f->have_cie;
}

/* An exception table whose address cannot be read counts as DP_LSDA_BAD. */
static uint64_t read_lsda(const struct dp_eh *f, struct dp_cursor c)
{
	uint64_t lsda;

	if (!f->sized || f->lsda_enc == DW_EH_PE_omit)
		return 0;
	lsda = dp_cursor_address(&c, f->lsda_enc, address_of(f, &c));
	return c.bad ? DP_LSDA_BAD : lsda;
}

bool dp_eh_read(struct dp_eh *f, uint64_t at, struct dp_fde *fde,
		struct dp_cursor *rules)
{
	struct dp_cursor c, data = { NULL, NULL, true };
	uint64_t back, len;

	if (!open_record(f, at, &c))
		return false;
	/* In a CIE this word is 0: read_cie() then fails at a record of length 0. */
	back = dp_cursor_take(&c, 4);
	if (!read_cie(f, at + 4 - back))
		return false;
	fde->start = dp_cursor_address(&c, f->enc, address_of(f, &c));
	len = dp_cursor_pointer(&c, f->enc & (DP_EH_FORMAT & ~8));
	fde->end = fde->start + len;
	if (c.bad || !len || fde->end < fde->start)
		return false;
	if (f->sized)
		data = dp_cursor_block(&c);
	fde->lsda = read_lsda(f, data);
	fde->at = at;
	fde->signal = f->signal;
	*rules = c;
	return true;
}

bool dp_eh_header(struct dp_cursor c, uint64_t vaddr, struct dp_eh_header *h)
{
	const uint8_t *start = c.p;
	uint8_t version = (uint8_t)dp_cursor_take(&c, 1);
	uint8_t frame_enc = (uint8_t)dp_cursor_take(&c, 1);
	uint8_t count_enc = (uint8_t)dp_cursor_take(&c, 1);
	uint8_t table_enc = (uint8_t)dp_cursor_take(&c, 1);

	h->vaddr = vaddr;
	h->frame = dp_cursor_address(&c, frame_enc,
				     vaddr + (uint64_t)(c.p - start));
	if (c.bad || version != 1)
		return false;
	h->n = dp_cursor_pointer(&c, count_enc);
	h->table = c.p;
	if (c.bad || table_enc != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
	    h->n > (uint64_t)(c.end - c.p) / PAIR)
		h->n = 0;
	return true;
}

static uint64_t word_of(const struct dp_eh_header *h, uint64_t i,
			unsigned int at)
{
	int32_t v;

	__builtin_memcpy(&v, h->table + i * PAIR + at, sizeof(v));
	return h->vaddr + (uint64_t)v;
}

uint64_t dp_eh_header_find(const struct dp_eh_header *h, uint64_t addr)
{
	uint64_t low = 0, high = h->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (word_of(h, mid, 0) <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? word_of(h, low - 1, 4) : 0;
}

static bool bytes_at(const struct dp_elf *elf, uint64_t vaddr,
		     struct dp_cursor *c)
{
	uint64_t off, avail;

	if (dp_elf_offset(elf, vaddr, &off, &avail))
		return false;
	c->p = elf->image + off;
	c->end = c->p + avail;
	c->bad = false;
	return true;
}

bool dp_eh_find(const struct dp_elf *elf, uint64_t addr, struct dp_eh *eh,
		struct dp_fde *fde, struct dp_cursor *rules)
{
	const Elf64_Phdr *ph = dp_elf_segment(elf, PT_GNU_EH_FRAME);
	struct dp_eh_header h;
	struct dp_cursor c;
	uint64_t at;

	if (!ph || !bytes_at(elf, ph->p_vaddr, &c) ||
	    !dp_eh_header(c, ph->p_vaddr, &h) || !bytes_at(elf, h.frame, &c))
		return false;
	*eh = (struct dp_eh){ .data = c.p,
			      .len = (uint64_t)(c.end - c.p),
			      .vaddr = h.frame };
	at = dp_eh_header_find(&h, addr);
	return at >= h.frame && dp_eh_read(eh, at - h.frame, fde, rules) &&
	       addr >= fde->start && addr < fde->end;
}
