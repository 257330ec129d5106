// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * value: values of a program in registers.
 *
 * A value is computed where it is needed, and may be computed again; but memory is read once.
 * So a register that holds what was loaded is given up only if the value has a home.
 */
#include "arch/arch.h"
#include "arch/x86/native/body.h"

/* Addresses below are no memory: it is not worth a fault to find that out. */
#define LOWEST 4096

/* In place of a register's number: the pc */
#define PC 16

/* Registers for values: those that calls may change. Readers of memory are in this order. */
static const u8 temporaries[] = { DP_RAX, DP_RCX, DP_RDX, DP_R11,
				  DP_R10, DP_R9,  DP_R8 };

#define NR_TEMPORARIES (sizeof(temporaries) / sizeof(temporaries[0]))

/* Number of a register of struct dp_regs in an instruction */
enum {
	NUMBER_ax = DP_RAX,
	NUMBER_bx = DP_RBX,
	NUMBER_cx = DP_RCX,
	NUMBER_dx = DP_RDX,
	NUMBER_si = DP_RSI,
	NUMBER_di = DP_RDI,
	NUMBER_bp = DP_RBP,
	NUMBER_sp = DP_RSP,
	NUMBER_r8 = DP_R8,
	NUMBER_r9 = DP_R9,
	NUMBER_r10 = DP_R10,
	NUMBER_r11 = DP_R11,
	NUMBER_r12 = DP_R12,
	NUMBER_r13 = DP_R13,
	NUMBER_r14 = DP_R14,
	NUMBER_r15 = DP_R15,
	NUMBER_ip = PC,
	NUMBER_flags = DP_BODY_NONE,
};

static bool is_vector(u64 reg)
{
	return reg - DP_REG_XMM < DP_NR_XMM;
}

static u8 number_of(u64 reg, bool *low)
{
	*low = false;
	switch (reg) {
#define NUMBER(number, name, field, half, writable) \
	case number:                                \
		*low = half;                        \
		return NUMBER_##field;
		DP_REGS(NUMBER)
	default:
		return DP_BODY_NONE;
	}
}

bool dp_native_reads(u16 reg)
{
	bool low;

	return is_vector(reg) || number_of(reg, &low) != DP_BODY_NONE;
}

static bool can_go(const struct dp_body *b, u8 reg)
{
	u8 v = b->known.holds[reg];

	return !b->locked[reg] &&
	       (v == DP_BODY_NONE || b->n->values[v].op != DP_NATIVE_LOAD ||
		b->home[v] != DP_BODY_NONE);
}

/* A register that holds nothing, or what can be had again; locked. */
static u8 take(struct dp_body *b)
{
	u8 i, found = DP_BODY_NONE;

	for (i = 0; i < NR_TEMPORARIES; i++) {
		u8 reg = temporaries[i];

		if (!can_go(b, reg))
			continue;
		if (found == DP_BODY_NONE ||
		    (b->known.holds[found] != DP_BODY_NONE &&
		     b->known.holds[reg] == DP_BODY_NONE))
			found = reg;
	}
	if (found == DP_BODY_NONE) {
		b->fails |= b->homes;
		b->needs_homes = true;
		return DP_RAX;
	}
	b->used |= (u16)(1u << found);
	b->lost |= (u16)(1u << found);
	b->known.holds[found] = DP_BODY_NONE;
	b->locked[found]++;
	return found;
}

void dp_body_drop(struct dp_body *b, const struct dp_body_operand *x)
{
	if (x->lock && b->locked[x->rm.reg])
		b->locked[x->rm.reg]--;
}

static u8 held_in(const struct dp_body *b, u8 value)
{
	u8 i;

	for (i = 0; i < NR_TEMPORARIES; i++)
		if (b->known.holds[temporaries[i]] == value)
			return temporaries[i];
	return DP_BODY_NONE;
}

static struct dp_body_operand locked(struct dp_body *b, u8 reg)
{
	b->locked[reg]++;
	return (struct dp_body_operand){ .lock = true, .rm = dp_x86_in(reg) };
}

/* Where the thread's register is, if it is there as it is. */
static bool is_in_place(const struct dp_body *b,
			const struct dp_native_value *v, struct dp_x86_rm *rm)
{
	bool low;
	u8 reg = number_of(v->imm, &low);

	if (low || is_vector(v->imm) || reg == PC || reg == DP_RSP)
		return false;
	*rm = b->saved >> reg & 1 ? dp_body_slot(b, reg) : dp_x86_in(reg);
	return true;
}

static struct dp_body_operand operand(struct dp_body *b, u8 value)
{
	const struct dp_native_value *v = &b->n->values[value];
	struct dp_body_operand x = { 0 };
	u8 reg = held_in(b, value);

	if (reg != DP_BODY_NONE)
		return locked(b, reg);
	if (v->op == DP_NATIVE_CONST && (s64)v->imm == (s32)v->imm) {
		x.constant = true;
		x.imm = (s32)v->imm;
		return x;
	}
	if (v->op == DP_NATIVE_REG && is_in_place(b, v, &x.rm))
		return x;
	if (v->op == DP_NATIVE_LOAD && b->home[value] != DP_BODY_NONE) {
		x.rm = dp_x86_at(DP_RSP, 8 * b->home[value]);
		return x;
	}
	return locked(b, dp_body_value(b, value));
}

static void move(struct dp_body *b, u8 to, const struct dp_body_operand *from)
{
	if (from->constant)
		dp_x86_mov_imm(b->o, to, (u64)(s64)from->imm);
	else
		dp_x86_mov(b->o, to, from->rm);
}

/* A register that was taken has the value now. */
static u8 keep(struct dp_body *b, u8 reg, u8 value)
{
	b->known.holds[reg] = value;
	if (b->locked[reg])
		b->locked[reg]--;
	return reg;
}

static void put_register(struct dp_body *b, u8 to, u64 number)
{
	bool low;
	u8 reg = number_of(number, &low);

	if (is_vector(number)) {
		dp_x86_mov_vector(b->o, to, (u8)(number - DP_REG_XMM));
	} else if (reg == PC) {
		/* As long for every pc, so that the code has one length. */
		DP_PUT(b->o, (u8)(0x48 | to >> 3), (u8)(0xb8 | (to & 7)));
		dp_put64(b->o, b->spec->from);
	} else {
		dp_body_register(b, to, reg);
	}
	if (low)
		dp_x86_extend(b->o, to, dp_x86_in(to), 32, false);
}

/* The low @bits of what is in @reg */
static void put_low(struct dp_body *b, u8 reg, u8 bits, bool with_sign)
{
	if (bits == 8 || bits == 16 || bits == 32) {
		dp_x86_extend(b->o, reg, dp_x86_in(reg), bits, with_sign);
		return;
	}
	dp_x86_shift(b->o, DP_SHIFT_SHL, reg, 64 - bits);
	dp_x86_shift(b->o, with_sign ? DP_SHIFT_SAR : DP_SHIFT_SHR, reg,
		     64 - bits);
}

static void put_one(struct dp_body *b, u8 reg, const struct dp_native_value *v)
{
	u8 by = (u8)v->imm;

	switch (v->op) {
	case DP_NATIVE_NOT:
		dp_x86_not(b->o, reg);
		break;
	case DP_NATIVE_SHL:
		dp_x86_shift(b->o, DP_SHIFT_SHL, reg, by);
		break;
	case DP_NATIVE_SHR:
		dp_x86_shift(b->o, DP_SHIFT_SHR, reg, by);
		break;
	case DP_NATIVE_ROL:
		dp_x86_shift(b->o, DP_SHIFT_ROL, reg, by);
		break;
	default:
		put_low(b, reg, by, v->op == DP_NATIVE_SIGNED);
		break;
	}
}

static u8 of_one(struct dp_body *b, u8 value)
{
	const struct dp_native_value *v = &b->n->values[value];
	struct dp_body_operand x = operand(b, v->a);
	u8 to = take(b);

	move(b, to, &x);
	dp_body_drop(b, &x);
	put_one(b, to, v);
	return keep(b, to, value);
}

static bool is_leaf(const struct dp_body *b, u8 value)
{
	u8 op = b->n->values[value].op;

	return op == DP_NATIVE_CONST || op == DP_NATIVE_REG ||
	       op == DP_NATIVE_LOAD;
}

/* What takes more registers comes first: the other one would be locked meanwhile. */
static void both(struct dp_body *b, const struct dp_native_value *v,
		 struct dp_body_operand *x, struct dp_body_operand *y)
{
	bool first = !is_leaf(b, v->a);

	if (first)
		*x = operand(b, v->a);
	*y = operand(b, v->b);
	if (!first)
		*x = operand(b, v->a);
}

static u8 of_two(struct dp_body *b, u8 value)
{
	static const u8 ops[] = {
		[DP_NATIVE_ADD] = DP_ALU_ADD, [DP_NATIVE_SUB] = DP_ALU_SUB,
		[DP_NATIVE_AND] = DP_ALU_AND, [DP_NATIVE_OR] = DP_ALU_OR,
		[DP_NATIVE_XOR] = DP_ALU_XOR,
	};
	const struct dp_native_value *v = &b->n->values[value];
	struct dp_body_operand x, y;
	u8 to, other;

	both(b, v, &x, &y);
	to = take(b);
	move(b, to, &x);
	dp_body_drop(b, &x);
	if (v->op == DP_NATIVE_MUL && y.constant) {
		other = take(b);
		move(b, other, &y);
		dp_x86_imul(b->o, to, dp_x86_in(other));
		b->locked[other] -= b->locked[other] > 0;
	} else if (v->op == DP_NATIVE_MUL) {
		dp_x86_imul(b->o, to, y.rm);
	} else if (y.constant) {
		dp_x86_alu_imm(b->o, ops[v->op], dp_x86_in(to), y.imm);
	} else {
		dp_x86_alu(b->o, ops[v->op], to, y.rm);
	}
	dp_body_drop(b, &y);
	return keep(b, to, value);
}

/* cmp takes a register first, or memory and a constant. */
u8 dp_body_compare(struct dp_body *b, const struct dp_native_value *v)
{
	struct dp_body_operand x, y;
	u8 reg;

	both(b, v, &x, &y);
	if (y.constant && !x.constant) {
		dp_x86_alu_imm(b->o, DP_ALU_CMP, x.rm, y.imm);
	} else if (!x.constant && !x.rm.memory) {
		dp_x86_alu(b->o, DP_ALU_CMP, x.rm.reg, y.rm);
	} else {
		reg = take(b);
		move(b, reg, &x);
		if (y.constant)
			dp_x86_alu_imm(b->o, DP_ALU_CMP, dp_x86_in(reg), y.imm);
		else
			dp_x86_alu(b->o, DP_ALU_CMP, reg, y.rm);
		b->locked[reg] -= b->locked[reg] > 0;
	}
	dp_body_drop(b, &x);
	dp_body_drop(b, &y);
	return v->op == DP_NATIVE_EQ  ? DP_CC_E :
	       v->op == DP_NATIVE_LTU ? DP_CC_B :
					DP_CC_L;
}

static u8 of_comparison(struct dp_body *b, u8 value)
{
	u8 cc = dp_body_compare(b, &b->n->values[value]), to = take(b);

	dp_x86_set(b->o, cc, to);
	return keep(b, to, value);
}

static u8 of_nothing(struct dp_body *b, u8 value)
{
	const struct dp_native_value *v = &b->n->values[value];
	u8 to = take(b);

	if (v->op == DP_NATIVE_CONST)
		dp_x86_mov_imm(b->o, to, v->imm);
	else if (v->op == DP_NATIVE_REG)
		put_register(b, to, v->imm);
	else
		dp_x86_mov(b->o, to, dp_x86_at(DP_RSP, 8 * b->home[value]));
	return keep(b, to, value);
}

u8 dp_body_value(struct dp_body *b, u8 value)
{
	u8 reg = held_in(b, value);

	if (reg != DP_BODY_NONE || b->o->len + DP_BODY_MARGIN > b->most) {
		b->fails |= reg == DP_BODY_NONE;
		return reg == DP_BODY_NONE ? DP_RAX : reg;
	}
	switch (b->n->values[value].op) {
	case DP_NATIVE_CONST:
	case DP_NATIVE_REG:
	case DP_NATIVE_LOAD:
		return of_nothing(b, value);
	case DP_NATIVE_EQ:
	case DP_NATIVE_LTU:
	case DP_NATIVE_LTS:
		return of_comparison(b, value);
	case DP_NATIVE_ADD:
	case DP_NATIVE_SUB:
	case DP_NATIVE_MUL:
	case DP_NATIVE_AND:
	case DP_NATIVE_OR:
	case DP_NATIVE_XOR:
		return of_two(b, value);
	case DP_NATIVE_TEXT:
	case DP_NATIVE_REST:
		/* They are more than a number. */
		b->fails = true;
		return DP_RAX;
	default:
		return of_one(b, value);
	}
}

/* An address is a value and a displacement. */
static u8 split(const struct dp_body *b, u8 addr, s32 *disp)
{
	const struct dp_native_value *v = &b->n->values[addr], *by;

	*disp = 0;
	if (v->op != DP_NATIVE_ADD)
		return addr;
	by = &b->n->values[v->b];
	if (by->op != DP_NATIVE_CONST || (s64)by->imm != (s32)by->imm)
		return addr;
	*disp = (s32)by->imm;
	return v->a;
}

static void put_load(struct dp_body *b, u8 to, u8 size, struct dp_x86_rm from)
{
	if (size == 8)
		dp_x86_mov(b->o, to, from);
	else
		dp_x86_extend(b->o, to, from, size * 8, false);
}

static void give_home(struct dp_body *b, u8 reg, u8 value)
{
	if (b->nr_homes == DP_BODY_HOMES) {
		b->fails = true;
		return;
	}
	b->home[value] = b->nr_homes++;
	dp_x86_store(b->o, dp_x86_at(DP_RSP, 8 * b->home[value]), reg);
}

static u8 temporary(u8 reg)
{
	u8 i = 0;

	while (temporaries[i] != reg)
		i++;
	return i;
}

/* A function reads, whose faults are mended. */
static void load_by_reader(struct dp_body *b, u8 value)
{
	const struct dp_native_value *v = &b->n->values[value];
	s32 disp;
	u8 at = split(b, v->a, &disp), to;
	struct dp_body_operand base = operand(b, at);
	u32 reader;

	to = take(b);
	if (base.constant || base.rm.memory || !disp)
		move(b, to, &base);
	else
		dp_x86_lea(b->o, to, dp_x86_at(base.rm.reg, disp));
	if (disp && (base.constant || base.rm.memory))
		dp_x86_lea(b->o, to, dp_x86_at(to, disp));
	dp_body_drop(b, &base);
	reader = temporary(to) * DP_READER_SIZES + (u32)__builtin_ctz(v->size);
	DP_PUT(b->o, 0xe8);
	dp_put_rel32(b->o, b->spec->percpu->readers + reader * DP_READER_BYTES);
	dp_body_jump(b, DP_CC_E, DP_LABEL_LEAVE);
	keep(b, to, value);
	if (b->homes)
		give_home(b, to, value);
}

/* A fault is mended where it is. */
static void load_here(struct dp_body *b, u8 value)
{
	const struct dp_native_value *v = &b->n->values[value];
	s32 disp;
	u8 at = split(b, v->a, &disp), to;
	struct dp_body_operand base = operand(b, at);

	if (base.constant || base.rm.memory)
		base = locked(b, dp_body_value(b, at));
	if (!b->known.high[at]) {
		dp_x86_alu_imm(b->o, DP_ALU_CMP, base.rm, LOWEST);
		dp_body_jump(b, DP_CC_B, DP_LABEL_LEAVE);
		b->known.high[at] = true;
	}
	to = take(b);
	put_load(b, to, v->size, dp_x86_at(base.rm.reg, disp));
	dp_body_drop(b, &base);
	keep(b, to, value);
	if (b->homes)
		give_home(b, to, value);
}

void dp_body_load(struct dp_body *b, u8 value)
{
	if (b->spec->percpu)
		load_by_reader(b, value);
	else
		load_here(b, value);
}

/* What a sequence needs for itself */
static const u8 of_sequence[] = { DP_RAX, DP_RCX, DP_RDX };

static bool is_of_sequence(u8 reg)
{
	return reg == DP_RAX || reg == DP_RCX || reg == DP_RDX;
}

static void lock_sequence(struct dp_body *b, int by)
{
	u8 i;

	for (i = 0; i < sizeof(of_sequence); i++)
		b->locked[of_sequence[i]] += (u8)by;
}

/* Only what was loaded has a home on each way: another value gets one for this record. */
static struct dp_body_operand at_home(struct dp_body *b, u8 value,
				      const struct dp_body_operand *x)
{
	u8 home = b->home[value];

	dp_body_drop(b, x);
	if (home == DP_BODY_NONE && b->nr_homes == DP_BODY_HOMES) {
		b->fails = true;
		return *x;
	}
	if (home == DP_BODY_NONE) {
		home = b->nr_homes++;
		dp_x86_store(b->o, dp_x86_at(DP_RSP, 8 * home), x->rm.reg);
	}
	return (struct dp_body_operand){ .rm = dp_x86_at(DP_RSP, 8 * home) };
}

struct dp_body_operand dp_body_stay(struct dp_body *b, u8 value)
{
	struct dp_body_operand x;
	u8 to;

	if (b->homes) {
		x = operand(b, value);
		return x.lock ? at_home(b, value, &x) : x;
	}
	lock_sequence(b, 1);
	x = operand(b, value);
	if (x.lock && is_of_sequence(x.rm.reg)) {
		to = take(b);
		dp_x86_mov(b->o, to, x.rm);
		dp_body_drop(b, &x);
		x.rm = dp_x86_in(to);
	}
	lock_sequence(b, -1);
	return x;
}
