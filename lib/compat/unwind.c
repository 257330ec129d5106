// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * unwind: step from a frame to its caller's.
 *
 *   ip ─► mapping ─► file ─► .eh_frame_hdr ─► FDE ─► row: where the caller's stack
 *                                                    pointer (CFA) and registers are
 */
#include "lib/compat/compat.h"
#include "lib/compat/unwind.h"

/* --- memory of the program --- */

static bool read_word(void *arg, unsigned long addr, unsigned long *value)
{
	struct dp_unwind *unwind = arg;
	unsigned long at = addr - unwind->window_at;
	size_t n = sizeof(unwind->window);

	if (at >= unwind->window_size || unwind->window_size - at < 8) {
		/* Behind the end of the stack there may be no memory. */
		if (copy_from_kernel_nofault(unwind->window, (void *)addr, n)) {
			n = 4096 - addr % 4096;
			n = min_t(size_t, n < 8 ? 8 : n,
				  sizeof(unwind->window));
			unwind->window_size = 0;
			if (copy_from_kernel_nofault(unwind->window,
						     (void *)addr, n))
				return false;
		}
		unwind->window_at = addr;
		unwind->window_size = n;
		at = 0;
	}
	memcpy(value, unwind->window + at, 8);
	return true;
}

struct find {
	unsigned long ip;
	struct dp_unwind_place *place;
};

static bool covers(const struct dp_mapping *m, void *arg)
{
	struct find *find = arg;

	if (find->ip < m->start || find->ip >= m->end)
		return false;
	find->place->start = m->start;
	find->place->end = m->end;
	find->place->image = dp_image_get(m);
	if (find->place->image &&
	    !dp_image_bias(find->place->image, m, &find->place->bias))
		find->place->image = NULL;
	return true;
}

static const struct dp_unwind_place *place_of(struct dp_unwind *unwind,
					      unsigned long ip)
{
	struct find find = { .ip = ip };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unwind->places); i++)
		if (ip >= unwind->places[i].start && ip < unwind->places[i].end)
			return &unwind->places[i];
	find.place = &unwind->places[unwind->place_next++ %
				     ARRAY_SIZE(unwind->places)];
	find.place->start = find.place->end = 0;
	return dp_mappings(covers, &find) ? find.place : NULL;
}

/* --- a step --- */

/* @at: offset of an expression's block, from a row. @begin: the first stack entry. */
static bool evaluate(struct dp_unwind *unwind, const struct dp_eh *eh,
		     uint64_t at, const unsigned long *begin,
		     unsigned long *value)
{
	const struct dp_expr x = { unwind->reg, read_word, unwind };
	struct dp_cursor c = { eh->data + at, eh->data + eh->len, false };

	return dp_expr_value(&x, c, begin, value);
}

static bool cfa_of(struct dp_unwind *unwind, const struct dp_cfi *m,
		   unsigned long *cfa)
{
	const struct dp_cfi_row *row = &m->row;

	if (row->cfa_expr)
		return evaluate(unwind, m->eh, row->cfa_expr, NULL, cfa);
	if (row->cfa_reg >= DP_UNW_N)
		return false;
	*cfa = unwind->reg[row->cfa_reg] + (unsigned long)row->cfa;
	return true;
}

static bool restore(struct dp_unwind *unwind, const struct dp_cfi *m, int reg,
		    unsigned long cfa, unsigned long *value)
{
	long said = m->row.value[reg];
	unsigned long at = cfa + (unsigned long)said;

	switch (m->row.how[reg]) {
	case DP_CFI_AT_CFA:
		return read_word(unwind, at, value);
	case DP_CFI_IS_CFA:
		*value = at;
		return true;
	case DP_CFI_IN_REG:
		if (said < 0 || said >= DP_UNW_N)
			return false;
		*value = unwind->reg[said];
		return true;
	case DP_CFI_AT_EXPR:
		return evaluate(unwind, m->eh, (uint64_t)said, &cfa, &at) &&
		       read_word(unwind, at, value);
	case DP_CFI_IS_EXPR:
		return evaluate(unwind, m->eh, (uint64_t)said, &cfa, value);
	default:
		return true;
	}
}

static bool apply(struct dp_unwind *unwind, const struct dp_cfi *m)
{
	unsigned long cfa, fresh[DP_UNW_N];
	bool signal = m->eh->signal;
	int i;

	/* The return address is undefined in the outermost frame. */
	if (m->row.how[DP_UNW_IP] == DP_CFI_UNDEFINED ||
	    m->row.how[DP_UNW_IP] == DP_CFI_SAME || !cfa_of(unwind, m, &cfa))
		return false;
	memcpy(fresh, unwind->reg, sizeof(fresh));
	fresh[DP_UNW_SP] = cfa;
	for (i = 0; i < DP_UNW_N; i++)
		if (!restore(unwind, m, i, cfa, &fresh[i]))
			return false;
	/* Only a signal's frame may lie on another stack. */
	if (!signal && fresh[DP_UNW_SP] <= unwind->reg[DP_UNW_SP])
		return false;
	memcpy(unwind->reg, fresh, sizeof(fresh));
	unwind->exact = signal;
	return true;
}

static bool step_by_table(struct dp_unwind *unwind,
			  const struct dp_unwind_place *place, unsigned long ip)
{
	struct dp_cursor rules;
	struct dp_fde fde;
	struct dp_eh eh;
	struct dp_cfi m;

	ip -= place->bias;
	if (!dp_eh_find(&place->image->elf, ip, &eh, &fde, &rules) ||
	    eh.ra != DP_UNW_IP)
		return false;
	dp_cfi_begin(&m, &eh, &fde, rules);
	do {
		if (!dp_cfi_next(&m))
			return false;
	} while (ip >= m.end);
	return apply(unwind, &m);
}

static bool step_by_pointer(struct dp_unwind *unwind)
{
	unsigned long bp = unwind->reg[DP_UNW_BP], saved, ip;

	if (bp % 8 || bp < unwind->reg[DP_UNW_SP] ||
	    bp - unwind->reg[DP_UNW_SP] > 1ul << 20 ||
	    !read_word(unwind, bp, &saved) || !read_word(unwind, bp + 8, &ip))
		return false;
	unwind->reg[DP_UNW_BP] = saved;
	unwind->reg[DP_UNW_SP] = bp + 16;
	unwind->reg[DP_UNW_IP] = ip;
	unwind->exact = false;
	return true;
}

bool dp_unwind_step(struct dp_unwind *unwind)
{
	unsigned long ip = unwind->reg[DP_UNW_IP] - !unwind->exact;
	const struct dp_unwind_place *place = place_of(unwind, ip);
	bool has_table;

	if (!place)
		return false;
	has_table = place->image &&
		    dp_elf_segment(&place->image->elf, PT_GNU_EH_FRAME);
	if (has_table ? !step_by_table(unwind, place, ip) :
			!step_by_pointer(unwind))
		return false;
	if (dp_compat_hooks.leave)
		while (dp_compat_hooks.leave(&unwind->reg[DP_UNW_IP],
					     &unwind->reg[DP_UNW_SP]))
			continue;
	return unwind->reg[DP_UNW_IP] != 0;
}
