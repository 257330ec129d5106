// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rules: for all code of a module, how a walk goes from a frame to its caller's.
 *
 * A row of .eh_frame becomes a rule if it is of one of the kinds that compilers, linkers and libc's
 * hand-written code make (arch/x86/rule.h). Any other row becomes rule 0. So does all of a
 * description that is not understood.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/list.h"
#include "sym/rules.h"
#include "sym/unwind/cfi.h"
#include "sym/unwind/fdes.h"

#define HASH_SLOTS (2 * DP_RULES_MOST)

static const struct dp_rule none;

/* --- rules, each one once --- */

static u32 hash_of(const struct dp_rule *rule)
{
	u64 words[2];

	_Static_assert(sizeof(words) == sizeof(*rule), "a rule has no holes");
	memcpy(words, rule, sizeof(words));
	words[0] ^= words[1] * 0x9e3779b97f4a7c15ull;
	return (u32)(words[0] * 0x9e3779b97f4a7c15ull >> 32);
}

static int add_rule(struct dp_rules *r, const struct dp_rule *rule, u32 *slot)
{
	int err;

	if (r->nr_rules == DP_RULES_MOST)
		return -EFBIG;
	err = dp_list_add(&r->rule, &r->nr_rules, &r->rules_room, rule,
			  sizeof(*rule));
	if (!err)
		*slot = (u32)r->nr_rules;
	return err;
}

static int find_rule(struct dp_rules *r, const struct dp_rule *rule, u32 *which)
{
	u32 at = hash_of(rule) % HASH_SLOTS;
	int err = 0;

	while (r->hash[at] &&
	       memcmp(&r->rule[r->hash[at] - 1], rule, sizeof(*rule)))
		at = (at + 1) % HASH_SLOTS;
	if (!r->hash[at])
		err = add_rule(r, rule, &r->hash[at]);
	*which = r->hash[at] - 1;
	return err;
}

/* --- a row becomes a rule --- */

static struct dp_cursor block_at(const struct dp_eh *eh, u64 at)
{
	struct dp_cursor c = { eh->data + at, eh->data + eh->len, false };

	return dp_cursor_block(&c);
}

/* "Register plus offset", at the beginning of an expression */
static bool take_register(struct dp_cursor *c, u8 *number, s32 *offset)
{
	u8 op = (u8)dp_cursor_take(c, 1);
	s64 value;

	if (c->bad || op < DW_OP_breg0 || op >= DW_OP_breg0 + DP_DWARF_PC)
		return false;
	value = dp_cursor_sleb(c);
	*number = dp_rule_number((u8)(op - DW_OP_breg0));
	*offset = (s32)value;
	return !c->bad && value == *offset;
}

/* A word of memory, and maybe a number to be added to it */
static bool read_memory(struct dp_cursor c, struct dp_rule *rule)
{
	u64 more = 0;

	if (!take_register(&c, &rule->base, &rule->cfa) ||
	    dp_cursor_take(&c, 1) != DW_OP_deref)
		return false;
	if (c.p < c.end) {
		if (dp_cursor_take(&c, 1) != DW_OP_plus_uconst)
			return false;
		more = dp_cursor_uleb(&c);
	}
	rule->how = DP_RULE_AT;
	rule->more = (s32)more;
	return !c.bad && c.p == c.end && more <= INT32_MAX;
}

/* What linkers say of the PLT: sp + 8 + (((pc & 15) >= N) << 3) */
static bool read_plt(struct dp_cursor c, struct dp_rule *rule)
{
	static const u8 middle[] = { DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const u8 end[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	u8 from;

	if (!take_register(&c, &rule->base, &rule->cfa) ||
	    rule->base != DP_RULE_SP ||
	    c.end - c.p != sizeof(middle) + 1 + sizeof(end) ||
	    memcmp(c.p, middle, sizeof(middle)))
		return false;
	c.p += sizeof(middle);
	from = *c.p++;
	rule->how = DP_RULE_PLT;
	rule->more = from - DW_OP_lit0;
	return from >= DW_OP_lit0 && from < DW_OP_lit0 + DP_RULE_PLT_ENTRY &&
	       !memcmp(c.p, end, sizeof(end));
}

static bool read_cfa(const struct dp_eh *eh, const struct dp_cfi_row *row,
		     struct dp_rule *rule)
{
	if (row->cfa_reg < DP_DWARF_PC) {
		rule->how = DP_RULE_REG;
		rule->base = dp_rule_number(row->cfa_reg);
		rule->cfa = (s32)row->cfa;
		return row->cfa == rule->cfa;
	}
	if (row->cfa_reg != DP_CFI_NO_REG || !row->cfa_expr)
		return false;
	return read_memory(block_at(eh, row->cfa_expr), rule) ||
	       read_plt(block_at(eh, row->cfa_expr), rule);
}

/* Is a register in memory where an expression says, which is a register plus an offset? */
static bool is_at(const struct dp_eh *eh, const struct dp_cfi_row *row, u8 reg,
		  u8 *number, s32 *offset)
{
	struct dp_cursor c;

	if (row->how[reg] != DP_CFI_AT_EXPR)
		return false;
	c = block_at(eh, (u32)row->value[reg]);
	return take_register(&c, number, offset) && c.p == c.end;
}

static void read_frame(const struct dp_eh *eh, const struct dp_cfi_row *row,
		       struct dp_rule *rule)
{
	u8 base;

	rule->frame_how = DP_FRAME_LOST;
	if (row->how[DP_DWARF_FRAME] == DP_CFI_SAME) {
		rule->frame_how = DP_FRAME_SAME;
	} else if (row->how[DP_DWARF_FRAME] == DP_CFI_AT_CFA) {
		rule->frame_how = DP_FRAME_AT_CFA;
		rule->frame = row->value[DP_DWARF_FRAME];
	} else if (is_at(eh, row, DP_DWARF_FRAME, &base, &rule->frame)) {
		if (base == DP_RULE_FRAME)
			rule->frame_how = DP_FRAME_AT_FRAME;
		else
			rule->frame = 0;
	}
}

static bool read_return(const struct dp_cfi_row *row, struct dp_rule *rule)
{
	switch (row->how[DP_DWARF_PC]) {
	case DP_CFI_AT_CFA:
		rule->ret = row->value[DP_DWARF_PC] == -(s32)sizeof(u64) ?
				    DP_RULE_RET_BELOW :
				    DP_RULE_RET_SKIPPED;
		return rule->ret == DP_RULE_RET_BELOW ||
		       row->value[DP_DWARF_PC] ==
			       -(s32)(sizeof(u64) + DP_RED_ZONE_SIZE);
	case DP_CFI_IN_REG:
		rule->ret = dp_rule_number((u8)row->value[DP_DWARF_PC]);
		return row->value[DP_DWARF_PC] >= 0 &&
		       row->value[DP_DWARF_PC] < DP_DWARF_PC;
	default:
		return false;
	}
}

static bool signal_has(const struct dp_eh *eh, const struct dp_cfi_row *row,
		       u8 reg, u64 at)
{
	u8 base = 0;
	s32 offset = 0;

	return is_at(eh, row, reg, &base, &offset) && base == DP_RULE_SP &&
	       offset == (s32)at;
}

/* Are the three registers where the kernel puts them? */
static bool is_signal(const struct dp_eh *eh, const struct dp_cfi_row *row)
{
	struct dp_rule cfa = none;

	return row->cfa_reg == DP_CFI_NO_REG && row->cfa_expr &&
	       read_memory(block_at(eh, row->cfa_expr), &cfa) &&
	       cfa.base == DP_RULE_SP && cfa.cfa == (s32)DP_SIGNAL_SP &&
	       !cfa.more && signal_has(eh, row, DP_DWARF_PC, DP_SIGNAL_PC) &&
	       signal_has(eh, row, DP_DWARF_FRAME, DP_SIGNAL_FRAME);
}

static struct dp_rule rule_of(const struct dp_eh *eh, const struct dp_fde *fde,
			      const struct dp_cfi_row *row)
{
	struct dp_rule rule = none;

	if (eh->ra != DP_DWARF_PC)
		return none;
	if (row->how[DP_DWARF_PC] == DP_CFI_UNDEFINED)
		return (struct dp_rule){ .how = DP_RULE_LAST };
	if (fde->signal)
		return is_signal(eh, row) ?
			       (struct dp_rule){ .how = DP_RULE_SIGNAL } :
			       none;
	if (!read_cfa(eh, row, &rule) || !read_return(row, &rule))
		return none;
	read_frame(eh, row, &rule);
	return rule;
}

/* --- ranges --- */

/* From @start on. A range that turns out to be empty, or to go on, is none. */
static int put(struct dp_rules *r, u64 start, const struct dp_rule *rule)
{
	struct dp_rule_range range = { .start = start };
	int err = find_rule(r, rule, &range.which);

	if (err)
		return err;
	if (r->n && r->v[r->n - 1].start == start)
		r->n--;
	if (r->n && r->v[r->n - 1].which == range.which)
		return 0;
	if (r->n == DP_RULES_RANGES)
		return -EFBIG;
	return dp_list_push(r, &range);
}

/* The description of the code from @start on is not understood. */
static int forget(struct dp_rules *r, u64 start)
{
	while (r->n && r->v[r->n - 1].start >= start)
		r->n--;
	return put(r, start, &none);
}

/* The rules of [fde->start, @end), which are in this FDE */
static int put_fde(struct dp_rules *r, struct dp_eh *eh,
		   const struct dp_fde *fde, u64 end)
{
	struct dp_cursor code;
	struct dp_fde again;
	u64 last = fde->start;
	struct dp_rule rule;
	struct dp_cfi m;
	int err = 0;

	if (!dp_eh_read(eh, fde->at, &again, &code))
		return forget(r, fde->start);
	dp_cfi_begin(&m, eh, fde, code);
	while (!err && dp_cfi_next(&m)) {
		if (m.start < last)
			return forget(r, fde->start);
		if (m.start >= end)
			break;
		last = m.start;
		rule = rule_of(eh, fde, &m.row);
		err = put(r, m.start, &rule);
	}
	return m.bad ? forget(r, fde->start) : err;
}

static int put_all(struct dp_rules *r, struct dp_eh *eh,
		   const struct dp_fdes *fdes)
{
	size_t i;
	u64 end;
	int err = 0;

	for (i = 0; !err && i < fdes->n; i++) {
		end = fdes->v[i].end;
		if (i + 1 < fdes->n && fdes->v[i + 1].start < end)
			end = fdes->v[i + 1].start;
		if (end <= fdes->v[i].start)
			continue;
		err = put_fde(r, eh, &fdes->v[i], end) ?: put(r, end, &none);
	}
	return err;
}

static int begin(struct dp_rules *r)
{
	u32 which;

	memset(r, 0, sizeof(*r));
	r->hash = calloc(HASH_SLOTS, sizeof(*r->hash));
	return r->hash ? find_rule(r, &none, &which) : -ENOMEM;
}

int dp_rules_read(struct dp_rules *rules, const struct dp_elf *elf)
{
	struct dp_fdes fdes = { 0 };
	struct dp_eh eh = { 0 };
	int err;

	err = begin(rules)		       ?:
		      dp_fdes_load(&fdes, elf) ?:
		      dp_eh_load(&eh, elf)     ?:
						 put_all(rules, &eh, &fdes);
	dp_eh_free(&eh);
	dp_fdes_free(&fdes);
	if (err)
		dp_rules_free(rules);
	return err;
}

int dp_rules_of(struct dp_rules *rules, const void *frames, u64 len, u64 vaddr)
{
	struct dp_eh eh = { .data = frames, .len = len, .vaddr = vaddr };
	struct dp_fdes fdes = { 0 };
	int err;

	err = begin(rules)		     ?:
		      dp_fdes_of(&fdes, &eh) ?:
					       put_all(rules, &eh, &fdes);
	dp_fdes_free(&fdes);
	if (err)
		dp_rules_free(rules);
	return err;
}

const struct dp_rule *dp_rules_at(const struct dp_rules *rules, u64 addr)
{
	size_t n = dp_list_upto(rules->v, rules->n, sizeof(*rules->v),
				offsetof(struct dp_rule_range, start), addr);

	return n ? &rules->rule[rules->v[n - 1].which] : &none;
}

void dp_rules_free(struct dp_rules *rules)
{
	free(rules->v);
	free(rules->rule);
	free(rules->hash);
	memset(rules, 0, sizeof(*rules));
}
