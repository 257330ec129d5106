// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lsda: landing pads, where an unwinder enters a function.
 *
 * Source: Itanium C++ ABI, exception handling tables, as compilers write them.
 */
#include <dwarf.h>
#include "sym/flow/map.h"
#include "sym/unwind/fdes.h"

#define ENTRY_MAX 64

struct pads {
	u64 base; /* landing pads are relative to it */
	u64 at, end; /* the table of call sites */
	u8 enc;
};

static struct dp_cursor cursor_at(struct dp_survey *s, u64 addr)
{
	size_t got = 0;
	const u8 *p = dp_window_at(&s->window, addr, ENTRY_MAX, &got);

	return (struct dp_cursor){ p, p ? p + got : p, !p };
}

static bool read_base(struct dp_cursor *c, u64 addr, u64 *base)
{
	const u8 *start = c->p;
	u8 enc = dp_cursor_take(c, 1);

	if (enc != DW_EH_PE_omit)
		*base = dp_cursor_address(c, enc, addr + (c->p - start));
	return !c->bad;
}

static bool read_header(struct dp_survey *s, const struct dp_fde *fde,
			struct pads *pads)
{
	struct dp_cursor c = cursor_at(s, fde->lsda);
	const u8 *start = c.p;
	u64 len;

	pads->base = fde->start;
	if (c.bad || !read_base(&c, fde->lsda, &pads->base))
		return false;
	if (dp_cursor_take(&c, 1) != DW_EH_PE_omit) /* of types: not needed */
		dp_cursor_uleb(&c);
	pads->enc = dp_cursor_take(&c, 1);
	len = dp_cursor_uleb(&c);
	if (c.bad || (pads->enc & ~DP_EH_FORMAT))
		return false;
	pads->at = fde->lsda + (c.p - start);
	pads->end = pads->at + len;
	return pads->end >= pads->at;
}

static int mark_pad(struct dp_survey *s, const struct dp_fde *fde, u64 pad)
{
	const struct dp_fragment *p = dp_fragments_find(s->map, fde->start);

	dp_text_mark_jump(s->map, pad);
	return p ? dp_edges_hide(s->map, p, pad) : 0;
}

static bool mark_pads(struct dp_survey *s, const struct dp_fde *fde,
		      struct pads *pads, int *err)
{
	struct dp_cursor c;
	const u8 *start;
	u64 pad;

	while (pads->at < pads->end && !*err) {
		c = cursor_at(s, pads->at);
		start = c.p;
		if (c.bad)
			return false;
		dp_cursor_pointer(&c, pads->enc); /* start of the call site */
		dp_cursor_pointer(&c, pads->enc); /* its length */
		pad = dp_cursor_pointer(&c, pads->enc);
		dp_cursor_uleb(&c); /* action */
		if (c.bad)
			return false;
		if (pad)
			*err = mark_pad(s, fde, pads->base + pad);
		pads->at += c.p - start;
	}
	return true;
}

int dp_lsda_mark(struct dp_survey *s)
{
	const struct dp_fde *fde;
	struct dp_fragment *p;
	struct pads pads;
	size_t i;
	int err = 0;

	for (i = 0; i < s->fdes->n && !err; i++) {
		fde = &s->fdes->v[i];
		if (!fde->lsda)
			continue;
		if (fde->lsda != DP_LSDA_BAD && read_header(s, fde, &pads) &&
		    mark_pads(s, fde, &pads, &err))
			continue;
		p = dp_fragments_find(s->map, fde->start);
		if (p)
			p->flags |= DP_FRAGMENT_LOST;
	}
	return err;
}
