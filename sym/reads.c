// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * reads: which functions look at their return address.
 *
 * Nobody else has business with the eight bytes below the CFA: arguments on the
 * stack begin above them, what a function keeps lies below. So an instruction
 * that names them, where it is known which they are, reads or changes the return
 * address, and one that moves the stack pointer past them takes it away.
 */
#include <errno.h>
#include <string.h>
#include "engine/insn/insn.h"
#include "sym/exits.h"
#include "sym/slot.h"

#define WORD 8
#define NO_BASE 0xff
#define NO_REG 0xfe
#define RSP 4 /* as instructions number registers */
#define RBP 5

#define REX_B 1
#define REX_X 2
#define REX_R 4

/** struct place - an instruction, and where the return address is */
struct place {
	const u8 *code;
	struct insn_facts f;
	u8 rex, op;
	u8 reg; /* the register that the slot is known by, */
	s64 slot; /* and how far from it */
	bool copied; /* to where a frame that is aligned anew has it */
};

/** struct memory - an operand of the form disp(base) */
struct memory {
	u8 base;
	s64 disp;
};

static u8 mod_of(const struct place *p)
{
	return p->code[p->f.modrm_off] >> 6;
}

static u8 reg_of(const struct place *p)
{
	return (p->code[p->f.modrm_off] >> 3 & 7) | (p->rex & REX_R ? 8 : 0);
}

static u8 rm_of(const struct place *p)
{
	return (p->code[p->f.modrm_off] & 7) | (p->rex & REX_B ? 8 : 0);
}

static bool is_two_byte(const struct place *p)
{
	return p->f.opcode_off && p->code[p->f.opcode_off - 1] == 0x0f;
}

static s64 immediate(const struct place *p)
{
	const u8 *at = p->code + p->f.imm_off;
	s32 wide;

	if (p->f.imm_size == 1)
		return (int8_t)*at;
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

static s64 displacement(const struct place *p)
{
	const u8 *at = p->code + p->f.disp_off;
	s32 wide;

	if (!p->f.disp_size)
		return 0;
	if (p->f.disp_size == 1)
		return (int8_t)*at;
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

static struct memory memory_of(const struct place *p)
{
	struct memory m = { NO_BASE, displacement(p) };
	u8 rm, sib, index;

	if (!p->f.modrm_off || mod_of(p) == 3 || p->f.rip_relative)
		return m;
	rm = rm_of(p);
	if ((rm & 7) != RSP) {
		m.base = rm;
		return m;
	}
	sib = p->code[p->f.modrm_off + 1];
	index = (sib >> 3 & 7) | (p->rex & REX_X ? 8 : 0);
	if (index == RSP && !(mod_of(p) == 0 && (sib & 7) == 5))
		m.base = (sib & 7) | (p->rex & REX_B ? 8 : 0);
	return m;
}

/* To leave, a function points its stack pointer there. */
static bool is_way_out(const struct place *p)
{
	return !is_two_byte(p) && p->op == 0x8d && reg_of(p) == RSP;
}

/* lock orq $0,(%rsp), which is a barrier; nops; prefetches. */
static bool does_nothing(const struct place *p)
{
	if (is_two_byte(p))
		return p->op == 0x1f || p->op == 0x1e || p->op == 0x18;
	return p->op == 0x83 && (reg_of(p) & 7) <= 1 && !immediate(p);
}

/*
 * push -8(%r10), where %r10 points behind the return address: a stack that is
 * aligned anew gets a copy for those who walk frames. The function itself would
 * look at that one.
 */
static bool copies(struct place *p)
{
	if (p->op != 0xff || (reg_of(p) & 7) != 6 || p->reg == RSP ||
	    p->reg == RBP)
		return false;
	p->copied = true;
	return true;
}

static bool names_slot(struct place *p)
{
	struct memory m = memory_of(p);
	bool is_slot = m.base == p->reg && m.disp == p->slot;
	bool is_copy = p->copied && m.base == RBP && m.disp == WORD;

	return (is_slot || is_copy) && !does_nothing(p) && !is_way_out(p) &&
	       !copies(p);
}

static bool takes_slot(const struct place *p)
{
	bool is_group = !is_two_byte(p) && p->f.modrm_off && mod_of(p) == 3 &&
			rm_of(p) == RSP && !(reg_of(p) & 7);

	if (p->reg != RSP)
		return false;
	if (!p->f.modrm_off && !is_two_byte(p) && (p->op & 0xf8) == 0x58)
		return p->slot == 0; /* pop */
	if (is_group && (p->op == 0x81 || p->op == 0x83)) /* add */
		return immediate(p) > p->slot;
	return false;
}

static bool reads(struct place *p)
{
	u8 before = p->f.opcode_off ? p->code[p->f.opcode_off - 1] : 0;

	/* Vector instructions, for which no compiler has a use here. */
	if (*p->code == 0xc4 || *p->code == 0xc5 || *p->code == 0x62)
		return false;
	if (before == 0x0f && p->f.opcode_off > 1)
		before = p->code[p->f.opcode_off - 2];
	p->rex = (before & 0xf0) == 0x40 ? before & 0xf : 0;
	p->op = p->code[p->f.opcode_off];
	return names_slot(p) || takes_slot(p);
}

/* DWARF numbers the first eight registers in another order. */
static u8 number_of(u8 dwarf)
{
	static const u8 numbers[] = { 0, 2, 1, 3, 6, 7, 5, 4 };

	return dwarf < sizeof(numbers) ? numbers[dwarf] : dwarf;
}

/* Return: the address of an instruction that does, or 0. */
static u64 scan(struct dp_exits *ex, const struct dp_piece *piece,
		const struct dp_slots *frame)
{
	const u8 *code = dp_exits_code(ex, piece);
	u64 at = piece->start, end = dp_piece_end(piece);
	const struct dp_row *row;
	struct place p = { .copied = false };

	for (; at < end; at += p.f.len) {
		p.code = code + (at - piece->start);
		if (dp_insn_facts(p.code, end - at, &p.f))
			return 0;
		row = dp_rows_at(frame->rows, at);
		if (!row || (row->reg == DP_ROW_NO_REG && !p.copied) ||
		    !row->ra)
			continue;
		p.reg = row->reg == DP_ROW_NO_REG ? NO_REG :
						    number_of(row->reg);
		p.slot = row->cfa - WORD;
		if (reads(&p))
			return at;
	}
	return 0;
}

int dp_reads_return_address(struct dp_exits *exits, u64 entry, u64 *at)
{
	const struct dp_code_map *map = exits->map;
	u32 part[DP_PARTS_MAX], n, i;
	struct dp_slots frame;
	u64 found = 0;
	int err = dp_exits_parts(exits, entry - map->bias, part, &n);

	for (i = 0; i < n && !found && !err; i++) {
		err = dp_slots_of(exits, &map->piece[part[i]], &frame);
		if (!err)
			found = scan(exits, &map->piece[part[i]], &frame);
	}
	if (!found)
		return err == -EILSEQ ? -EOPNOTSUPP : err;
	if (at)
		*at = found + map->bias;
	return 1;
}
