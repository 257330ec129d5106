// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * return_readers: functions that look at their return address.
 *
 * Only a return-address reader touches the eight bytes below the CFA: arguments on the
 * stack begin above them, the function's own data lies below. An instruction that names
 * these bytes reads or changes the return address. An instruction that moves the stack
 * pointer past them takes it away.
 */
#include <stdlib.h>
#include "engine/insn/insn.h"
#include "sym/exits.h"
#include "sym/flow/opcode.h"
#include "sym/flow/slot.h"
#include "sym/names/mod.h"

#define WORD 8
#define NO_REG 0xfe

/** struct place - an instruction, and where the return address is */
struct place {
	struct dp_opcode o;
	u8 reg; /* register that the slot is found by */
	s64 slot; /* the slot's distance from it */
	bool copied; /* a realigned frame holds a copy of the return address */
};

/* lock orq $0,(%rsp), which is a barrier; nops; prefetches. */
static bool does_nothing(const struct dp_opcode *o)
{
	s64 value;

	switch (o->in.meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_PREFETCH:
		return true;
	default:
		return (o->in.mnemonic == ZYDIS_MNEMONIC_ADD ||
			o->in.mnemonic == ZYDIS_MNEMONIC_OR) &&
		       dp_opcode_constant(o, &value) && !value;
	}
}

static bool is_lea(const struct dp_opcode *o, u8 to)
{
	return o->in.mnemonic == ZYDIS_MNEMONIC_LEA &&
	       dp_opcode_reg(o, 0) == to;
}

/*
 * push -8(%r10), where %r10 points behind the return address: a realigned stack gets a
 * copy for unwinders. The function itself would read the copy.
 */
static bool copies(struct place *p)
{
	if (p->o.in.mnemonic != ZYDIS_MNEMONIC_PUSH || p->reg == DP_RSP ||
	    p->reg == DP_RBP)
		return false;
	p->copied = true;
	return true;
}

/* An lea to the stack pointer is no use of the slot: the function is about to leave. */
static bool names_slot(struct place *p)
{
	s64 disp;
	u8 base = dp_opcode_base(&p->o, &disp);

	return ((base == p->reg && disp == p->slot) ||
		(p->copied && base == DP_RBP && disp == WORD)) &&
	       !does_nothing(&p->o) && !is_lea(&p->o, DP_RSP) && !copies(p);
}

static bool takes_slot(const struct place *p)
{
	s64 value;

	if (p->reg != DP_RSP)
		return false;
	if (p->o.in.mnemonic == ZYDIS_MNEMONIC_POP)
		return p->slot == 0;
	return p->o.in.mnemonic == ZYDIS_MNEMONIC_ADD &&
	       dp_opcode_reg(&p->o, 0) == DP_RSP &&
	       dp_opcode_constant(&p->o, &value) && value > p->slot;
}

/* DWARF numbers the first eight registers in another order. */
static u8 number_of(u8 dwarf)
{
	static const u8 numbers[] = { 0, 2, 1, 3, 6, 7, 5, 4 };

	return dwarf < sizeof(numbers) ? numbers[dwarf] : dwarf;
}

/* lea (%rsp),%r11, where %r11 is the base of the CFA from then on. */
static bool moves_frame(const struct dp_opcode *o, const struct dp_row *next)
{
	return next && next->reg < DP_ROW_LOST &&
	       is_lea(o, number_of(next->reg));
}

/** struct span - the code of one description */
struct span {
	const u8 *code;
	u64 start, end;
};

/* @found: the address of an instruction that names or takes the slot, or 0.
 * Return: 0; -EILSEQ: none does before one that cannot be decoded. */
static int scan(const struct span *s, const struct dp_rows *rows, u64 *found)
{
	struct place p = { .copied = false };
	const struct dp_row *row;
	struct insn_facts f;
	u64 at;

	*found = 0;
	for (at = s->start; at < s->end && !*found; at += f.len) {
		if (dp_insn_facts(s->code + (at - s->start), s->end - at, &f))
			return -EILSEQ;
		row = dp_rows_at(rows, at);
		if (!row || !row->ra || row->reg == DP_ROW_LOST ||
		    (row->reg == DP_ROW_NO_REG && !p.copied))
			continue;
		p.reg = row->reg == DP_ROW_NO_REG ? NO_REG :
						    number_of(row->reg);
		p.slot = row->cfa - WORD;
		dp_opcode_read(&p.o, s->code + (at - s->start), f.len);
		if ((names_slot(&p) || takes_slot(&p)) &&
		    !moves_frame(&p.o, dp_rows_at(rows, at + f.len)))
			*found = at;
	}
	return 0;
}

/*
 * Assembly may push registers and not describe it: then its pops seem to take the return
 * address. Where depths derived from the code differ from the description, they count.
 */
static int check(const struct span *s, const struct dp_rows *rows,
		 struct dp_rows *derived, u64 *found)
{
	const struct dp_row *first = dp_rows_at(rows, s->start), *said, *is;
	int err = scan(s, rows, found);

	if (!*found || !first || number_of(first->reg) != DP_RSP)
		return err;
	err = dp_rows_derive(derived, s->code, (u32)(s->end - s->start),
			     s->start, (s32)first->cfa);
	if (err)
		return err == -EILSEQ ? 0 : err;
	said = dp_rows_at(rows, *found);
	is = dp_rows_at(derived, *found);
	if (said->reg == first->reg && is->reg == first->reg &&
	    said->cfa != is->cfa)
		return scan(s, derived, found);
	return 0;
}

/* Return: 0; 1 the code cannot be called; a negative errno. */
static int read_span(const struct dp_elf *elf, struct dp_fde fde, u64 *at)
{
	struct dp_rows rows = { 0 }, derived = { 0 };
	struct span s = { .start = fde.start, .end = fde.end };
	u64 len = fde.end - fde.start, got = len;
	struct dp_eh frames;
	void *code = NULL;
	int err = dp_eh_load_one(&frames, elf, &fde);

	if (err)
		return err;
	err = dp_rows_read(&rows, &frames, &fde);
	if (!err && !dp_row_is_home(dp_rows_at(&rows, s.start)))
		err = 1;
	if (!err)
		err = dp_elf_load_at(elf, s.start, &got, &code);
	s.code = code;
	if (!err)
		err = got < len ? -EILSEQ : check(&s, &rows, &derived, at);
	free(code);
	dp_rows_free(&rows);
	dp_rows_free(&derived);
	dp_eh_free(&frames);
	return err;
}

int dp_fdes_read_return_address(const struct dp_fdes *fdes,
				const struct dp_elf *elf, u64 entry, u64 *at)
{
	const struct dp_fde *fde = dp_fdes_find(fdes, entry);
	int err;

	*at = 0;
	if (!fde || fde->start != entry)
		return -ENOENT;
	err = read_span(elf, *fde, at);
	if (err < 0)
		return err == -ENOMEM ? err : -EOPNOTSUPP;
	return err ? DP_ENTRY_IS_NONE : *at != 0;
}

int dp_entry_reads_return_address(struct dp_modules *mods, u64 entry)
{
	const struct dp_module *m = dp_module_at(mods, entry);
	struct dp_mod *mod = m ? dp_mod_of(m) : NULL;
	struct dp_elf elf;
	u64 at;
	int err = mod ? dp_mod_load(mods, mod, DP_MOD_FDES) : -ENOENT;

	if (!err)
		err = dp_file_open_elf(mods, mod, &elf);
	if (err)
		return dp_is_shortage(err) ? err : -ENOENT;
	err = dp_fdes_read_return_address(&mod->read.fdes, &elf,
					  entry - m->bias, &at);
	dp_elf_close(&elf);
	return err;
}
