// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* place: the steps of a variable's place, as instructions; parts of what is in pieces. */
#include "tracer/values/place.h"
#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "sym/prototypes.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORD 8u
#define KNOWN_MAX 2 /* ranges that are told */
#define WORDS_MAX 16 /* of a whole value: the stack has room for them */

/* Binding */

static bool place_of(const struct dp_prototype *f, const struct dp_value *v,
		     struct dp_place *p)
{
	memset(p, 0, sizeof(*p));
	if (v->by_abi)
		return dp_abi_place(f, v->left, p);
	p->variable = &f->scope->variables[v->left];
	p->pieces = p->variable->pieces;
	p->n = p->variable->n;
	return true;
}

static bool reads(const struct dp_place *p)
{
	u32 i, k;

	for (i = 0; i < p->n; i++) {
		if (p->pieces[i].kind == DP_PIECE_MEMORY)
			return true;
		for (k = 0; k < p->pieces[i].n; k++)
			if (p->pieces[i].steps[k].op == DP_STEP_LOAD)
				return true;
	}
	return false;
}

/* What is behind the pieces of a value is nowhere, and not what follows them in memory. */
static bool covers(const struct dp_place *p, u32 size)
{
	const struct dp_piece *last = p->pieces + p->n - 1;

	return last->offset + last->size == size;
}

void dp_place_bind(struct dp_value *v, const struct dp_prototype *f, u32 i,
		   bool by_abi)
{
	const struct dp_prototype_type *type =
		by_abi ? f->parameters[i].type : f->scope->variables[i].type;
	struct dp_place p;

	v->op = DP_VALUE_VARIABLE;
	v->left = (u16)i;
	v->by_abi = by_abi;
	v->type = dp_code_known(type);
	if (!place_of(f, v, &p))
		return;
	v->in_memory = p.n == 1 && p.pieces->kind == DP_PIECE_MEMORY &&
		       covers(&p, type->size);
	v->reads = reads(&p);
}

bool dp_place_bind_name(struct dp_value *v, const struct dp_prototype *f,
			const char *text, int len)
{
	const struct dp_scope *s = f->scope;
	u32 i;

	for (i = 0; s && i < s->n; i++) {
		if (strncmp(s->variables[i].name, text, (size_t)len) ||
		    s->variables[i].name[len])
			continue;
		dp_place_bind(v, f, i, false);
		return true;
	}
	return false;
}

bool dp_place_can_show(const struct dp_value *v, const struct dp_prototype *f)
{
	u32 size = dp_code_size(v->type) * (v->type.count ?: 1u), i;
	struct dp_place p;

	if (!place_of(f, v, &p) || !size || size > WORDS_MAX * WORD ||
	    !covers(&p, size))
		return false;
	for (i = 0; i < p.n; i++)
		if (p.pieces[i].kind == DP_PIECE_NOWHERE)
			return false;
	return true;
}

/* Refusals */

static const char *const reasons[DP_PLACE_WHYS] = {
	[DP_PLACE_OPTIMISED_OUT] = "is optimised out here",
	[DP_PLACE_ENTRY_VALUE] =
		"is not kept here: only at the function's entry is it in a register",
	[DP_PLACE_THREAD_LOCAL] =
		"is of each thread its own: such variables cannot be read",
	[DP_PLACE_POINTER_TO_PARTS] =
		"points to what is in pieces here, and has no address",
	[DP_PLACE_COMPUTED] =
		"is computed here in a way that cannot be followed",
	[DP_PLACE_X87] = "is in a register here that cannot be read",
	[DP_PLACE_NO_FRAME] =
		"is not in its place here: the function's frame is not built yet, or gone",
	[DP_PLACE_UNCERTAIN] =
		"is in pieces here that GCC does not follow reliably: at the function's entry it can be read",
	[DP_PLACE_TOO_LARGE] = "has too many pieces here",
	[DP_PLACE_FORM] = "is of a form that is not known",
	[DP_PLACE_SYMBOL] =
		"has a symbol that its module does not have, or has more than once",
};

/* "func+0x14 to func+0x30" */
static void tell_known(const struct dp_coder *c, const struct dp_variable *v,
		       char *buf, size_t len)
{
	u64 entry = v ? c->prototype->scope->entry : 0;
	const char *name = c->prototype->name;
	size_t at = 0;
	u32 i;

	*buf = '\0';
	for (i = 0; entry && i < v->nr_known && i < KNOWN_MAX; i++) {
		if (v->known[i].start < entry || at >= len)
			continue;
		at += (size_t)snprintf(buf + at, len - at,
				       "%s%.30s+%#lx to +%#lx",
				       at ? ", from " : "; it is known from ",
				       name, v->known[i].start - entry,
				       v->known[i].end - entry);
	}
}

static void refuse(struct dp_coder *c, const struct dp_value *v,
		   const struct dp_place *p, u8 why)
{
	char known[120];

	if (p->variable && p->variable->written) {
		dp_code_bad(c, v, -EOPNOTSUPP,
			    "%s of %.40s is \"%.60s\" in its note, which %s",
			    p->variable->name, c->prototype->name,
			    p->variable->written, reasons[why]);
		return;
	}
	tell_known(c, p->variable, known, sizeof(known));
	dp_code_bad(c, v, -EOPNOTSUPP, "%.*s %s%s", v->span,
		    c->values->text + v->at, reasons[why], known);
}

/* Steps */

static void push_register(struct dp_coder *c, u64 n)
{
	/* Numbers in programs (arch/regs.h), by DWARF's */
	static const u16 numbers[DP_PLACE_REGISTERS] = {
		0x60, 0x63, 0x62, 0x61, 0x65, 0x64, 0x66, 0x67,
		0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f,
	};

	dp_code_op16(c, DP_OPCODE_PUSH_R, numbers[n]);
}

static void shift_with_sign(struct dp_coder *c, u8 n)
{
	dp_code_op8(c, DP_OPCODE_SHR_I, n);
	if (n)
		dp_code_op8(c, DP_OPCODE_PBL_I, 64 - n);
}

static void load(struct dp_coder *c, u64 size)
{
	static const u8 ops[] = { [1] = DP_OPCODE_PUSH_MEM_U8,
				  [2] = DP_OPCODE_PUSH_MEM_U16,
				  [4] = DP_OPCODE_PUSH_MEM_U32,
				  [8] = DP_OPCODE_PUSH_MEM_U64 };

	dp_code_op(c, ops[size]);
}

static void push_step(struct dp_coder *c, const struct dp_step *s)
{
	static const u8 ops[DP_STEP_OPS] = {
		[DP_STEP_ADD] = DP_OPCODE_ADD, [DP_STEP_SUB] = DP_OPCODE_RSUB,
		[DP_STEP_MUL] = DP_OPCODE_MUL, [DP_STEP_AND] = DP_OPCODE_AND,
		[DP_STEP_OR] = DP_OPCODE_OR,   [DP_STEP_XOR] = DP_OPCODE_XOR,
		[DP_STEP_NOT] = DP_OPCODE_NEG,
	};

	switch (s->op) {
	case DP_STEP_NUMBER:
		dp_code_push(c, s->n);
		break;
	case DP_STEP_REGISTER:
		push_register(c, s->n);
		break;
	case DP_STEP_VECTOR:
		dp_code_op16(c, DP_OPCODE_PUSH_R, (u16)(DP_REG_XMM + s->n));
		break;
	case DP_STEP_THREAD:
		dp_code_op(c, DP_OPCODE_PUSH_TASK);
		break;
	case DP_STEP_LOAD:
		load(c, s->n);
		break;
	case DP_STEP_NEGATE:
		dp_code_push(c, 0);
		dp_code_op(c, DP_OPCODE_SUB);
		break;
	case DP_STEP_SHL:
		dp_code_op8(c, DP_OPCODE_SHL_I, (u8)s->n);
		break;
	case DP_STEP_SHR:
		dp_code_op8(c, DP_OPCODE_SHR_I, (u8)s->n);
		break;
	case DP_STEP_SAR:
		shift_with_sign(c, (u8)s->n);
		break;
	default:
		dp_code_op(c, ops[s->op]);
	}
}

/* Return: false: the piece is nowhere, which has been said */
static bool push_steps(struct dp_coder *c, const struct dp_value *v,
		       const struct dp_place *p, const struct dp_piece *piece)
{
	u32 i;

	if (c->at_return) {
		dp_code_bad(
			c, v, -EINVAL,
			"this is read at the entry, retval at the return: each is a value of its own, or joined by &&");
		return false;
	}
	if (piece->kind == DP_PIECE_NOWHERE) {
		refuse(c, v, p, piece->why);
		return false;
	}
	for (i = 0; i < piece->n; i++)
		push_step(c, &piece->steps[i]);
	return true;
}

/* Parts */

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

/* Push @size bytes of memory at @offset of what the address on the stack is of. */
static void load_bytes(struct dp_coder *c, u32 offset, u32 size)
{
	if (offset) {
		dp_code_push(c, offset);
		dp_code_op(c, DP_OPCODE_ADD);
	}
	load(c, size);
}

/* The largest number that memory is read by, of at most @size bytes */
static u32 readable(u32 size)
{
	u32 n = WORD;

	while (n > size)
		n /= 2;
	return n;
}

/* Push @size bytes, at most a word, at @offset of a piece; bits above them are 0. */
static u32 push_bytes(struct dp_coder *c, const struct dp_value *v,
		      const struct dp_place *p, const struct dp_piece *piece,
		      u32 offset, u32 size)
{
	if (!push_steps(c, v, p, piece))
		return size;
	if (piece->kind == DP_PIECE_MEMORY) {
		size = readable(size);
		load_bytes(c, offset, size);
		return size;
	}
	if (offset)
		dp_code_op8(c, DP_OPCODE_SHR_I, (u8)(8 * offset));
	if (size < WORD)
		dp_code_op8(c, DP_OPCODE_PZL_I, (u8)(8 * size));
	return size;
}

static const struct dp_piece *piece_at(const struct dp_place *p, u32 offset)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (offset >= p->pieces[i].offset &&
		    offset - p->pieces[i].offset < p->pieces[i].size)
			return &p->pieces[i];
	return NULL;
}

/* Push @size bytes at @offset of the value, from all pieces that they are in. */
static void push_range(struct dp_coder *c, const struct dp_value *v,
		       const struct dp_place *p, u32 offset, u32 size)
{
	const struct dp_piece *piece;
	u32 done = 0, inner, n;

	while (done < size && !c->err) {
		piece = piece_at(p, offset + done);
		if (!piece) {
			refuse(c, v, p, DP_PLACE_OPTIMISED_OUT);
			return;
		}
		inner = offset + done - piece->offset;
		n = push_bytes(c, v, p, piece, inner,
			       least(size - done, piece->size - inner));
		if (done) {
			dp_code_op8(c, DP_OPCODE_SHL_I, (u8)(8 * done));
			dp_code_op(c, DP_OPCODE_OR);
		}
		done += n;
	}
}

/* The variable that node @n is a part of. Return: NULL: of none that is split */
static const struct dp_value *split(const struct dp_values *values, u16 n,
				    u32 *offset)
{
	const struct dp_value *v = &values->v[n];
	const struct dp_prototype_field *f;

	*offset = 0;
	while (v->op == DP_VALUE_MEMBER && !v->arrow) {
		f = dp_code_field(values, v);
		if (!f)
			return NULL;
		*offset += f->offset;
		v = &values->v[v->left];
	}
	return v->op == DP_VALUE_VARIABLE && !v->in_memory ? v : NULL;
}

bool dp_place_is_split(const struct dp_values *values, u16 n)
{
	u32 offset;

	return split(values, n, &offset);
}

void dp_place_push_word(struct dp_coder *c, u16 n, u32 offset)
{
	u32 inner;
	const struct dp_value *v = split(c->values, n, &inner);
	struct dp_place p;

	if (!place_of(c->prototype, v, &p))
		return;
	if (p.n == 1 && p.pieces->kind == DP_PIECE_NOWHERE)
		refuse(c, v, &p, p.pieces->why);
	else
		push_range(c, v, &p, inner + offset, WORD);
}

struct dp_value_type dp_place_push_part(struct dp_coder *c, u16 n)
{
	const struct dp_prototype_field *bits = dp_code_bits(c->values, n);
	struct dp_value_type type = dp_code_type(c->values, n);
	u32 offset, size = type.count ? 0 : dp_value_size(type);
	const struct dp_value *v = split(c->values, n, &offset);
	struct dp_place p;

	if (!place_of(c->prototype, v, &p))
		return DP_CODE_UNTYPED;
	if (p.n == 1 && p.pieces->kind == DP_PIECE_NOWHERE) {
		refuse(c, v, &p, p.pieces->why);
		return type;
	}
	if (!size) {
		dp_code_bad(c, &c->values->v[n], -EINVAL,
			    "this is more than one number: name a member");
		return type;
	}
	push_range(c, v, &p, offset, bits ? bits->unit : size);
	if (bits)
		dp_code_cut_bits(c, bits);
	else
		dp_code_extend(c, type);
	return type;
}

struct dp_value_type dp_place_push(struct dp_coder *c, const struct dp_value *v)
{
	struct dp_place p;

	if (place_of(c->prototype, v, &p))
		push_steps(c, v, &p, p.pieces);
	return v->type;
}

static u32 size_of(const struct dp_values *values, u16 n)
{
	struct dp_value_type type = dp_code_type(values, n);

	return dp_code_size(type) * (type.count ?: 1u);
}

u32 dp_place_words(const struct dp_values *values, u16 n)
{
	return (size_of(values, n) + WORD - 1) / WORD;
}

void dp_place_push_whole(struct dp_coder *c, u16 n)
{
	u32 words = dp_place_words(c->values, n), size = size_of(c->values, n);
	u32 offset, i;
	const struct dp_value *v = split(c->values, n, &offset);
	struct dp_place p;

	if (!place_of(c->prototype, v, &p))
		return;
	if (p.n == 1 && p.pieces->kind == DP_PIECE_NOWHERE)
		refuse(c, v, &p, p.pieces->why);
	else if (!size || words > WORDS_MAX)
		dp_code_bad(
			c, &c->values->v[n], -EINVAL,
			"this is too much to be shown: name a member, or an element");
	for (i = words; i-- > 0 && !c->err;)
		push_range(c, v, &p, offset + i * WORD,
			   least(WORD, size - i * WORD));
}
