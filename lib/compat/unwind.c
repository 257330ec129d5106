// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * unwind: from a frame to the one that called it.
 *
 *   ip ─► mapping ─► file ─► .eh_frame_hdr ─(binary search)─► FDE ─► CIE
 *                                                    instructions of both, up to ip
 *                                                          │
 *                                    row: where the caller's stack pointer (CFA)
 *                                         and each saved register are
 *
 * Source: DWARF 4, section 6.4; the LSB's chapter on .eh_frame_hdr.
 */
#include "lib/compat/compat.h"
#include "lib/compat/unwind.h"

/* --- memory of the program --- */

static bool read_word(struct dp_unwind *unwind, unsigned long addr,
		      unsigned long *value)
{
	unsigned long at = addr - unwind->window_at;
	size_t n = sizeof(unwind->window);

	if (at >= unwind->window_size || unwind->window_size - at < 8) {
		/* What is behind the end of the stack cannot be read. */
		if (copy_from_kernel_nofault(unwind->window, (void *)addr, n)) {
			n = 4096 - addr % 4096;
			n = min_t(size_t, n < 8 ? 8 : n, sizeof(unwind->window));
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

/* --- reading what compilers have written --- */

/* Bytes of a file from @p on. Reading past @end gives zeros and is noticed. */
struct cursor {
	const struct dp_image *image;
	const char *p, *end;
	unsigned long vaddr; /* of @p */
	bool bad;
};

static bool seek(struct cursor *c, const struct dp_image *image,
		 unsigned long vaddr)
{
	c->image = image;
	c->vaddr = vaddr;
	c->bad = false;
	c->p = dp_image_at(image, vaddr, &c->end);
	return c->p != NULL;
}

static u64 take(struct cursor *c, size_t n)
{
	u64 value = 0;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		c->p = c->end;
		return 0;
	}
	memcpy(&value, c->p, n);
	c->p += n;
	c->vaddr += n;
	return value;
}

static u64 take_uleb(struct cursor *c)
{
	unsigned int shift = 0;
	u64 value = 0;
	u8 byte;

	do {
		byte = (u8)take(c, 1);
		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->bad);
	return value;
}

static s64 take_sleb(struct cursor *c)
{
	unsigned int shift = 0;
	u64 value = 0;
	u8 byte;

	do {
		byte = (u8)take(c, 1);
		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->bad);
	if (byte & 0x40 && shift < 64)
		value |= ~(u64)0 << shift;
	return (s64)value;
}

static void skip(struct cursor *c, u64 n)
{
	if (n > (u64)(c->end - c->p)) {
		c->bad = true;
		n = (u64)(c->end - c->p);
	}
	c->p += n;
	c->vaddr += n;
}

/* A pointer as DW_EH_PE_* says. @base: of data-relative ones. */
static u64 take_encoded(struct cursor *c, u8 encoding, unsigned long base)
{
	unsigned long here = c->vaddr;
	u64 value;

	switch (encoding & 0x0f) {
	case 0x01:
		value = take_uleb(c);
		break;
	case 0x02:
		value = take(c, 2);
		break;
	case 0x03:
		value = take(c, 4);
		break;
	case 0x09:
		value = (u64)take_sleb(c);
		break;
	case 0x0a:
		value = (u64)(s16)take(c, 2);
		break;
	case 0x0b:
		value = (u64)(s32)take(c, 4);
		break;
	default:
		value = take(c, 8);
	}
	if (!value)
		return 0;
	if ((encoding & 0x70) == 0x10)
		value += here;
	else if ((encoding & 0x70) == 0x30)
		value += base;
	return value;
}

/* --- from an address to its FDE --- */

#define DP_TABLE_ENCODING 0x3b /* data-relative, signed, 4 bytes */

/* Return: the address of the FDE that begins last before @ip, in the file's terms;
 * 0: there is none. */
static unsigned long find_fde(const struct dp_image *image, unsigned long ip)
{
	unsigned long hdr = dp_image_eh_frame(image), base;
	struct cursor c;
	u64 low = 0, high, mid;
	u8 frame_enc, count_enc, table_enc;

	if (!hdr || !seek(&c, image, hdr) || take(&c, 1) != 1)
		return 0;
	frame_enc = (u8)take(&c, 1);
	count_enc = (u8)take(&c, 1);
	table_enc = (u8)take(&c, 1);
	take_encoded(&c, frame_enc, hdr);
	high = take_encoded(&c, count_enc, hdr);
	base = c.vaddr;
	if (table_enc != DP_TABLE_ENCODING || c.bad ||
	    high > (u64)(c.end - c.p) / 8)
		return 0;
	while (low < high) {
		mid = (low + high) / 2;
		if (!seek(&c, image, base + mid * 8))
			return 0;
		if (hdr + (unsigned long)(s32)take(&c, 4) <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || !seek(&c, image, base + (low - 1) * 8 + 4))
		return 0;
	return hdr + (unsigned long)(s32)take(&c, 4);
}

struct cie {
	struct cursor code; /* its instructions */
	u64 code_align;
	s64 data_align;
	u64 return_reg;
	u8 encoding;
	bool augmented, signal;
};

static void parse_augmentation(struct cursor *c, const char *letters,
			       struct cie *cie)
{
	const char *body;
	u64 n;

	if (*letters != 'z')
		return;
	cie->augmented = true;
	n = take_uleb(c);
	body = c->p;
	for (letters++; *letters && !c->bad; letters++) {
		if (*letters == 'R')
			cie->encoding = (u8)take(c, 1);
		else if (*letters == 'L')
			take(c, 1);
		else if (*letters == 'P')
			take_encoded(c, (u8)take(c, 1), 0);
		else if (*letters == 'S')
			cie->signal = true;
	}
	if ((u64)(c->p - body) <= n)
		skip(c, n - (u64)(c->p - body));
}

static bool parse_cie(const struct dp_image *image, unsigned long vaddr,
		      struct cie *cie)
{
	struct cursor c;
	const char *letters;
	u64 length, version;

	memset(cie, 0, sizeof(*cie));
	if (!seek(&c, image, vaddr))
		return false;
	length = take(&c, 4);
	if (!length || length > (u64)(c.end - c.p))
		return false;
	c.end = c.p + length;
	if (take(&c, 4) != 0)
		return false;
	version = take(&c, 1);
	letters = c.p;
	while (take(&c, 1) && !c.bad)
		continue;
	if ((version != 1 && version != 3) || c.bad || *letters == 'e')
		return false;
	cie->code_align = take_uleb(&c);
	cie->data_align = take_sleb(&c);
	cie->return_reg = version == 1 ? take(&c, 1) : take_uleb(&c);
	parse_augmentation(&c, letters, cie);
	cie->code = c;
	return !c.bad && cie->return_reg == DP_UNW_IP;
}

/* Return: whether @ip is in the FDE at @vaddr. *@code: its instructions; *@start:
 * where its function begins. */
static bool parse_fde(const struct dp_image *image, unsigned long vaddr,
		      unsigned long ip, struct cie *cie, struct cursor *code,
		      unsigned long *start)
{
	struct cursor c;
	unsigned long here;
	u64 length, back, size;

	if (!seek(&c, image, vaddr))
		return false;
	length = take(&c, 4);
	if (!length || length > (u64)(c.end - c.p))
		return false;
	c.end = c.p + length;
	here = c.vaddr;
	back = take(&c, 4);
	if (!back || !parse_cie(image, here - back, cie))
		return false;
	*start = take_encoded(&c, cie->encoding, 0);
	size = take_encoded(&c, cie->encoding & 0x0f, 0);
	if (cie->augmented)
		skip(&c, take_uleb(&c));
	*code = c;
	return !c.bad && ip >= *start && ip - *start < size;
}

/* --- rows --- */

enum { SAME, UNDEFINED, AT_CFA, IS_CFA, IN_REG, AT_EXPR, IS_EXPR };

struct rule {
	u8 kind;
	s32 value; /* an offset, a register, or the distance of an expression */
};

struct row {
	struct rule cfa; /* IN_REG with @offset, or IS_EXPR */
	s32 offset;
	struct rule reg[DP_UNW_N];
};

struct machine {
	const struct cie *cie;
	unsigned long ip, at;
	struct row row, initial, saved[3];
	unsigned int depth;
};

static void set_rule(struct machine *m, u64 reg, u8 kind, s64 value)
{
	if (reg < DP_UNW_N)
		m->row.reg[reg] = (struct rule){ kind, (s32)value };
}

/* A block's place is kept as a distance from the start of the file. */
static s64 take_block(struct cursor *c)
{
	s64 at = c->p - c->image->file;

	skip(c, take_uleb(c));
	return at;
}

static bool run_state(struct machine *m, u8 op)
{
	if (op == 0x0a) { /* remember_state */
		if (m->depth == ARRAY_SIZE(m->saved))
			return false;
		m->saved[m->depth++] = m->row;
	} else if (op == 0x0b) { /* restore_state */
		if (!m->depth)
			return false;
		m->row = m->saved[--m->depth];
	}
	return true;
}

static void run_cfa(struct machine *m, struct cursor *c, u8 op)
{
	struct row *row = &m->row;

	switch (op) {
	case 0x0c: /* def_cfa */
	case 0x12: /* def_cfa_sf */
		row->cfa = (struct rule){ IN_REG, (s32)take_uleb(c) };
		row->offset = op == 0x0c ?
				      (s32)take_uleb(c) :
				      (s32)(take_sleb(c) * m->cie->data_align);
		break;
	case 0x0d: /* def_cfa_register */
		row->cfa = (struct rule){ IN_REG, (s32)take_uleb(c) };
		break;
	case 0x0e: /* def_cfa_offset */
		row->offset = (s32)take_uleb(c);
		break;
	case 0x13: /* def_cfa_offset_sf */
		row->offset = (s32)(take_sleb(c) * m->cie->data_align);
		break;
	case 0x0f: /* def_cfa_expression */
		row->cfa = (struct rule){ IS_EXPR, (s32)take_block(c) };
		break;
	}
}

static void run_register(struct machine *m, struct cursor *c, u8 op)
{
	s64 align = m->cie->data_align;
	u64 reg = take_uleb(c);

	switch (op) {
	case 0x05: /* offset_extended */
		set_rule(m, reg, AT_CFA, (s64)take_uleb(c) * align);
		break;
	case 0x11: /* offset_extended_sf */
		set_rule(m, reg, AT_CFA, take_sleb(c) * align);
		break;
	case 0x14: /* val_offset */
		set_rule(m, reg, IS_CFA, (s64)take_uleb(c) * align);
		break;
	case 0x15: /* val_offset_sf */
		set_rule(m, reg, IS_CFA, take_sleb(c) * align);
		break;
	case 0x06: /* restore_extended */
		if (reg < DP_UNW_N)
			m->row.reg[reg] = m->initial.reg[reg];
		break;
	case 0x07: /* undefined */
		set_rule(m, reg, UNDEFINED, 0);
		break;
	case 0x08: /* same_value */
		set_rule(m, reg, SAME, 0);
		break;
	case 0x09: /* register */
		set_rule(m, reg, IN_REG, (s64)take_uleb(c));
		break;
	case 0x10: /* expression */
		set_rule(m, reg, AT_EXPR, take_block(c));
		break;
	case 0x16: /* val_expression */
		set_rule(m, reg, IS_EXPR, take_block(c));
		break;
	}
}

static bool is_advance(u8 op)
{
	return op >> 6 == 1 || (op >= 0x01 && op <= 0x04);
}

static void advance(struct machine *m, struct cursor *c, u8 op)
{
	u64 align = m->cie->code_align;

	if (op >> 6 == 1)
		m->at += (op & 0x3f) * align;
	else if (op == 0x01)
		m->at = take_encoded(c, m->cie->encoding, 0);
	else
		m->at += take(c, op == 0x02 ? 1 : op == 0x03 ? 2 : 4) * align;
}

/* Instructions up to the row that @m->ip is in. Return: false: not understood. */
static bool run(struct machine *m, struct cursor c)
{
	u8 op;

	while (c.p < c.end && !c.bad) {
		op = (u8)take(&c, 1);
		if (is_advance(op)) {
			advance(m, &c, op);
			if (m->at > m->ip)
				return !c.bad;
		} else if (op >> 6 == 2) {
			set_rule(m, op & 0x3f, AT_CFA,
				 (s64)take_uleb(&c) * m->cie->data_align);
		} else if (op >> 6 == 3) {
			if ((op & 0x3f) < DP_UNW_N)
				m->row.reg[op & 0x3f] = m->initial.reg[op & 0x3f];
		} else if (op == 0x0a || op == 0x0b) {
			if (!run_state(m, op))
				return false;
		} else if ((op >= 0x0c && op <= 0x0f) || op == 0x12 || op == 0x13) {
			run_cfa(m, &c, op);
		} else if ((op >= 0x05 && op <= 0x09) || op == 0x10 ||
			   op == 0x11 || (op >= 0x14 && op <= 0x16)) {
			run_register(m, &c, op);
		} else if (op == 0x2e) { /* GNU_args_size */
			take_uleb(&c);
		} else if (op) {
			return false;
		}
	}
	return !c.bad;
}

/* --- expressions: what compilers and libc's hand-written code use --- */

struct stack {
	u64 v[16];
	unsigned int n;
};

static u64 pop(struct stack *stack)
{
	return stack->n ? stack->v[--stack->n] : 0;
}

static void push(struct stack *stack, u64 value)
{
	if (stack->n < ARRAY_SIZE(stack->v))
		stack->v[stack->n++] = value;
}

static bool binary(struct stack *stack, u8 op)
{
	u64 b = pop(stack), a = pop(stack);

	switch (op) {
	case 0x1a:
		push(stack, a & b);
		return true;
	case 0x1c:
		push(stack, a - b);
		return true;
	case 0x21:
		push(stack, a | b);
		return true;
	case 0x22:
		push(stack, a + b);
		return true;
	case 0x24:
		push(stack, b < 64 ? a << b : 0);
		return true;
	case 0x25:
		push(stack, b < 64 ? a >> b : 0);
		return true;
	case 0x29:
		push(stack, a == b);
		return true;
	case 0x2a:
		push(stack, (s64)a >= (s64)b);
		return true;
	default:
		return false;
	}
}

static bool constant(struct stack *stack, struct cursor *c, u8 op)
{
	static const u8 sizes[] = { 1, 1, 2, 2, 4, 4, 8, 8 };
	size_t size = sizes[op - 0x08];
	u64 value = take(c, size);

	if (op & 1 && size < 8)
		value = (u64)((s64)(value << (64 - size * 8)) >> (64 - size * 8));
	push(stack, value);
	return true;
}

static bool operate(struct dp_unwind *unwind, struct stack *stack,
		    struct cursor *c, u8 op)
{
	unsigned long value;

	if (op >= 0x30 && op <= 0x4f) {
		push(stack, op - 0x30u);
		return true;
	}
	if (op >= 0x70 && op <= 0x70 + DP_UNW_IP) {
		push(stack, unwind->reg[op - 0x70] + (u64)take_sleb(c));
		return true;
	}
	if (op >= 0x08 && op <= 0x0f)
		return constant(stack, c, op);
	switch (op) {
	case 0x06: /* deref */
		if (!read_word(unwind, pop(stack), &value))
			return false;
		push(stack, value);
		return true;
	case 0x10: /* constu */
		push(stack, take_uleb(c));
		return true;
	case 0x11: /* consts */
		push(stack, (u64)take_sleb(c));
		return true;
	case 0x23: /* plus_uconst */
		push(stack, pop(stack) + take_uleb(c));
		return true;
	default:
		return binary(stack, op);
	}
}

/* @at: of a block, as take_block() says. @begin: what the stack holds at first. */
static bool evaluate(struct dp_unwind *unwind, const struct dp_image *image,
		     s32 at, const unsigned long *begin, unsigned long *value)
{
	struct cursor c = { .image = image,
			    .p = image->file + at,
			    .end = image->file + image->size };
	struct stack stack = { .n = 0 };
	u64 n = take_uleb(&c);

	if (n > (u64)(c.end - c.p))
		return false;
	c.end = c.p + n;
	if (begin)
		push(&stack, *begin);
	while (c.p < c.end && !c.bad)
		if (!operate(unwind, &stack, &c, (u8)take(&c, 1)))
			return false;
	*value = pop(&stack);
	return !c.bad;
}

/* --- a step --- */

static bool cfa_of(struct dp_unwind *unwind, const struct dp_image *image,
		   const struct row *row, unsigned long *cfa)
{
	if (row->cfa.kind == IS_EXPR)
		return evaluate(unwind, image, row->cfa.value, NULL, cfa);
	if (row->cfa.kind != IN_REG || row->cfa.value < 0 ||
	    row->cfa.value >= DP_UNW_N)
		return false;
	*cfa = unwind->reg[row->cfa.value] + (unsigned long)(long)row->offset;
	return true;
}

static bool restore(struct dp_unwind *unwind, const struct dp_image *image,
		    const struct rule *rule, unsigned long cfa,
		    unsigned long *value)
{
	unsigned long at = cfa + (unsigned long)(long)rule->value;

	switch (rule->kind) {
	case AT_CFA:
		return read_word(unwind, at, value);
	case IS_CFA:
		*value = at;
		return true;
	case IN_REG:
		if (rule->value < 0 || rule->value >= DP_UNW_N)
			return false;
		*value = unwind->reg[rule->value];
		return true;
	case AT_EXPR:
		return evaluate(unwind, image, rule->value, &cfa, &at) &&
		       read_word(unwind, at, value);
	case IS_EXPR:
		return evaluate(unwind, image, rule->value, &cfa, value);
	default:
		return true;
	}
}

static bool apply(struct dp_unwind *unwind, const struct dp_image *image,
		  const struct row *row, bool signal)
{
	unsigned long cfa, fresh[DP_UNW_N];
	int i;

	/* Undefined where a call would return to: nobody called. */
	if (row->reg[DP_UNW_IP].kind == UNDEFINED ||
	    row->reg[DP_UNW_IP].kind == SAME ||
	    !cfa_of(unwind, image, row, &cfa))
		return false;
	memcpy(fresh, unwind->reg, sizeof(fresh));
	fresh[DP_UNW_SP] = cfa;
	for (i = 0; i < DP_UNW_N; i++)
		if (!restore(unwind, image, &row->reg[i], cfa, &fresh[i]))
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
	struct machine m = { .depth = 0 };
	struct cursor code;
	unsigned long fde, start;
	struct cie cie;

	if (!place->image)
		return false;
	ip -= place->bias;
	fde = find_fde(place->image, ip);
	if (!fde || !parse_fde(place->image, fde, ip, &cie, &code, &start))
		return false;
	m.cie = &cie;
	m.ip = ip;
	m.at = start;
	if (!run(&m, cie.code))
		return false;
	m.initial = m.row;
	if (!run(&m, code))
		return false;
	return apply(unwind, place->image, &m.row, cie.signal);
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
	has_table = place->image && dp_image_eh_frame(place->image);
	if (has_table ? !step_by_table(unwind, place, ip) :
			!step_by_pointer(unwind))
		return false;
	if (dp_compat_hooks.leave)
		while (dp_compat_hooks.leave(&unwind->reg[DP_UNW_IP],
					     &unwind->reg[DP_UNW_SP]))
			continue;
	return unwind->reg[DP_UNW_IP] != 0;
}
