// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * code: compile values of a spec to the instructions of a probe program.
 *
 * A test leaves 0 or 1 on the stack; && and || are the bitwise operations on those. Where the
 * right side can raise an exception, it is computed only if it decides.
 */
#include "tracer/values/code.h"
#include "engine/vm/ops.h"
#include "sym/list.h"
#include "sym/prototypes.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct dp_value_type untyped = { .kind = DP_VALUE_UNTYPED,
					      .bits = 64 };
static const struct dp_value_type boolean = { .kind = DP_VALUE_BOOL,
					      .bits = 8 };

void dp_code_bad(struct dp_coder *c, const struct dp_value *v, int err,
		 const char *fmt, ...)
{
	char why[200];
	va_list ap;

	if (c->err)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	c->err = dp_diag_set(c->diag, err, "%s", why);
	dp_diag_caret(c->diag, c->column + v->at, v->span);
}

/* The program's bytes */

static void put(struct dp_coder *c, u64 value, u32 size)
{
	struct dp_trace_program *o = c->out;
	u32 i;

	if (dp_list_reserve(&o->code, o->len + size, &o->cap, 1)) {
		c->err = dp_diag_set(c->diag, -ENOMEM, "out of memory");
		return;
	}
	for (i = 0; i < size; i++)
		o->code[o->len++] = (u8)(value >> (8 * i));
}

void dp_code_op(struct dp_coder *c, u8 op)
{
	put(c, op, 1);
}

void dp_code_op8(struct dp_coder *c, u8 op, u8 operand)
{
	put(c, op, 1);
	put(c, operand, 1);
}

void dp_code_op16(struct dp_coder *c, u8 op, u16 operand)
{
	put(c, op, 1);
	put(c, operand, 2);
}

void dp_code_push(struct dp_coder *c, u64 value)
{
	put(c, DP_OPCODE_PUSH, 1);
	put(c, value, 8);
}

u32 dp_code_jump(struct dp_coder *c, u8 op)
{
	put(c, op, 1);
	put(c, 0, 8);
	c->out->jumps += op != DP_OPCODE_SX;
	return c->out->len;
}

void dp_code_land(struct dp_coder *c, u32 jump)
{
	u64 distance = c->out->len - jump;

	if (!c->err)
		memcpy(c->out->code + jump - 8, &distance, 8);
}

/* Questions about nodes */

static const struct dp_value *at(const struct dp_values *values, u16 n)
{
	return &values->v[n];
}

/* Is a string read, byte by byte? */
static bool compares_text(const struct dp_values *values,
			  const struct dp_value *v)
{
	return v->op >= DP_VALUE_EQ && v->op <= DP_VALUE_LIKE &&
	       (at(values, v->left)->op == DP_VALUE_TEXT ||
		at(values, v->right)->op == DP_VALUE_TEXT);
}

bool dp_code_touches(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = at(values, n);

	switch (v->op) {
	case DP_VALUE_NUMBER:
	case DP_VALUE_TEXT:
		return false;
	case DP_VALUE_NAME:
	case DP_VALUE_PARAMETER:
		return dp_code_touches_name(values, v);
	default:
		return dp_code_is_place(values, n) ||
		       compares_text(values, v) ||
		       dp_code_touches(values, v->left) ||
		       (v->op >= DP_VALUE_OR &&
			dp_code_touches(values, v->right));
	}
}

/* What *@type or @type[N] is */
static struct dp_value_type target_of(struct dp_value_type type)
{
	type.stars--;
	return type;
}

/* Values */

static void extend(struct dp_coder *c, struct dp_value_type type)
{
	bool sign = type.kind == DP_VALUE_SIGNED || type.kind == DP_VALUE_CHAR;

	if (!type.stars && type.bits && type.bits < 64)
		dp_code_op8(c, sign ? DP_OPCODE_PBL_I : DP_OPCODE_PZL_I,
			    type.bits);
}

static const u8 loads[] = { [1] = DP_OPCODE_PUSH_MEM_U8,
			    [2] = DP_OPCODE_PUSH_MEM_U16,
			    [4] = DP_OPCODE_PUSH_MEM_U32,
			    [8] = DP_OPCODE_PUSH_MEM_U64 };

static void load(struct dp_coder *c, const struct dp_value *v,
		 struct dp_value_type type)
{
	u32 size = type.count ? 0 : dp_value_size(type);

	if (!size) {
		dp_code_bad(
			c, v, -EINVAL,
			type.count || dp_code_is_wide(type) ?
				"this is more than one number: name a member, or an element" :
				"what this points to has no size: *(u32 *)…");
		return;
	}
	dp_code_op(c, loads[size]);
	if (type.kind == DP_VALUE_SIGNED || type.kind == DP_VALUE_CHAR)
		extend(c, type);
}

/* Push what is at index @right of pointer @left. */
static void add_scaled(struct dp_coder *c, u16 index,
		       struct dp_value_type element, u8 op)
{
	u32 size = dp_code_size(element);

	dp_code_value(c, index);
	if (size > 1) {
		dp_code_push(c, size);
		dp_code_op(c, DP_OPCODE_MUL);
	}
	dp_code_op(c, op);
}

static bool expect_pointer(struct dp_coder *c, const struct dp_value *v,
			   struct dp_value_type type)
{
	if (!type.stars)
		dp_code_bad(
			c, v, -EINVAL,
			"it is not known what this points to: write (u32 *) or (char *) … before it");
	return type.stars;
}

/* The names that a struct has, for who asks for another */
static void refuse_member(struct dp_coder *c, const struct dp_value *v)
{
	struct dp_value_type type = dp_code_type(c->values, v->left);
	struct dp_value name = { .at = v->name_at, .span = v->name_span };
	char names[100];

	if (type.kind != DP_VALUE_STRUCT) {
		/* A name that is not known is the first error. */
		dp_code_value(c, v->left);
		dp_code_bad(
			c, &name, -EINVAL,
			"what is before this is not known to be a struct, or a pointer to one");
		return;
	}
	if (type.known->lens == DP_PROTOTYPE_VARIANTS) {
		dp_code_bad(
			c, &name, -EOPNOTSUPP,
			"this is one of several variants, which are shown as a whole; members of one are not there yet");
		return;
	}
	dp_code_members(type.known, names, sizeof(names));
	if (type.stars != v->arrow)
		dp_code_bad(
			c, &name, -EINVAL,
			v->arrow ?
				"this is a struct: '.' has its members" :
				"this is a pointer: \"->\" has the members of what it points to");
	else
		dp_code_bad(
			c, &name, -EINVAL, "the struct has %s%s",
			*names ? names : "no members that are known",
			type.known->partial && type.known->n ?
				"; what is in virtual base classes is not there yet" :
				"");
}

static void add_offset(struct dp_coder *c, u32 offset)
{
	if (!offset)
		return;
	dp_code_push(c, offset);
	dp_code_op(c, DP_OPCODE_ADD);
}

static struct dp_value_type place_member(struct dp_coder *c,
					 const struct dp_value *v)
{
	const struct dp_prototype_field *f = dp_code_field(c->values, v);

	if (!f || (!v->arrow && !dp_code_is_place(c->values, v->left))) {
		refuse_member(c, v);
		return untyped;
	}
	if (v->arrow)
		dp_code_value(c, v->left);
	else
		dp_code_place(c, v->left);
	add_offset(c, f->offset);
	return dp_code_known(f->type);
}

static struct dp_value_type place_fetched(struct dp_coder *c,
					  const struct dp_value *v)
{
	dp_code_value(c, v->left);
	dp_code_push(c, v->number);
	dp_code_op(c, DP_OPCODE_ADD);
	return untyped;
}

/* What a pointer points to, or an array has; at an index. */
static struct dp_value_type place_element(struct dp_coder *c,
					  const struct dp_value *v)
{
	bool array = dp_code_is_place(c->values, v->left) &&
		     dp_code_type(c->values, v->left).count;
	struct dp_value_type type = array ? dp_code_place(c, v->left) :
					    dp_code_value(c, v->left);

	if (array)
		type.count = 0;
	else if (expect_pointer(c, at(c->values, v->left), type))
		type = target_of(type);
	if (v->op == DP_VALUE_INDEX)
		add_scaled(c, v->right, type, DP_OPCODE_ADD);
	return dp_code_inner(type);
}

struct dp_value_type dp_code_place(struct dp_coder *c, u16 n)
{
	const struct dp_value *v = at(c->values, n);

	switch (c->err ? DP_VALUE_NUMBER : v->op) {
	case DP_VALUE_FETCH:
		return place_fetched(c, v);
	case DP_VALUE_MEMBER:
		return place_member(c, v);
	case DP_VALUE_DEREF:
	case DP_VALUE_INDEX:
		return place_element(c, v);
	default:
		return untyped;
	}
}

/* The bytes that no single load has are pushed one part after the other. */
static void load_unit(struct dp_coder *c, u16 n, u32 bytes)
{
	u32 done, size;

	for (done = 0; done < bytes; done += size) {
		for (size = 8; size > bytes - done; size /= 2)
			continue;
		if (done) {
			dp_code_place(c, n);
			add_offset(c, done);
		}
		dp_code_op(c, loads[size]);
		if (!done)
			continue;
		dp_code_op8(c, DP_OPCODE_SHL_I, (u8)(8 * done));
		dp_code_op(c, DP_OPCODE_OR);
	}
}

static struct dp_value_type load_bits(struct dp_coder *c, u16 n,
				      const struct dp_prototype_field *f,
				      struct dp_value_type type)
{
	load_unit(c, n, f->unit);
	if (f->shift)
		dp_code_op8(c, DP_OPCODE_SHR_I, f->shift);
	if (f->bits < 64)
		dp_code_op8(c,
			    f->type->is_signed ? DP_OPCODE_PBL_I :
						 DP_OPCODE_PZL_I,
			    f->bits);
	return type;
}

static struct dp_value_type push_loaded(struct dp_coder *c, u16 n)
{
	struct dp_value_type type = dp_code_place(c, n);
	const struct dp_prototype_field *bits = dp_code_bits(c->values, n);
	struct dp_printer view;

	if (bits)
		return load_bits(c, n, bits, type);
	if (dp_code_view(type, &view) && view.kind == DP_PRINTER_POINTER) {
		add_offset(c, view.pointer);
		type = dp_code_pointer(type);
	}
	load(c, at(c->values, n), type);
	return type;
}

static struct dp_value_type push_cast(struct dp_coder *c,
				      const struct dp_value *v)
{
	dp_code_value(c, v->left);
	if (v->type.kind == DP_VALUE_FLOAT && !v->type.stars)
		dp_code_bad(
			c, v, -EINVAL,
			"registers here hold no floating point; *(double *)… is in memory");
	extend(c, v->type);
	return v->type;
}

/* A format without a number of bits leaves the value as it is. */
static struct dp_value_type push_shown(struct dp_coder *c,
				       const struct dp_value *v)
{
	struct dp_value_type type = v->type, was;

	if (type.kind == DP_VALUE_STRING || type.count) {
		dp_code_bad(
			c, v, -EINVAL,
			"this is no number; a string is compared with a \"text\"");
		return untyped;
	}
	/* What ftrace fetches has the size of its format. */
	if (at(c->values, v->left)->op == DP_VALUE_FETCH && type.bits) {
		dp_code_place(c, v->left);
		load(c, v, type);
		return type;
	}
	was = dp_code_value(c, v->left);
	if (!type.bits)
		type.bits = was.stars ? 64 : was.bits;
	if (type.kind == DP_VALUE_FLOAT && was.kind != DP_VALUE_FLOAT)
		dp_code_bad(
			c, v, -EINVAL,
			"f32 and f64 are for retval and memory: arg0 and registers hold no floating point");
	extend(c, type);
	return type;
}

static struct dp_value_type either(struct dp_value_type a,
				   struct dp_value_type b)
{
	if (a.kind == DP_VALUE_SIGNED || b.kind == DP_VALUE_SIGNED)
		return (struct dp_value_type){ .kind = DP_VALUE_SIGNED,
					       .bits = 64 };
	return a.kind == DP_VALUE_UNSIGNED && b.kind == DP_VALUE_UNSIGNED ?
		       (struct dp_value_type){ .kind = DP_VALUE_UNSIGNED,
					       .bits = 64 } :
		       untyped;
}

static struct dp_value_type push_sum(struct dp_coder *c,
				     const struct dp_value *v)
{
	u8 op = v->op == DP_VALUE_ADD ? DP_OPCODE_ADD : DP_OPCODE_RSUB;
	bool swapped = v->op == DP_VALUE_ADD &&
		       dp_code_type(c->values, v->right).stars;
	struct dp_value_type left, right;

	left = dp_code_value(c, swapped ? v->right : v->left);
	if (left.stars) {
		add_scaled(c, swapped ? v->left : v->right, target_of(left),
			   op);
		return left;
	}
	right = dp_code_value(c, swapped ? v->left : v->right);
	dp_code_op(c, op);
	return either(left, right);
}

static struct dp_value_type push_bits(struct dp_coder *c,
				      const struct dp_value *v)
{
	static const u8 ops[] = { [DP_VALUE_BIT_OR] = DP_OPCODE_OR,
				  [DP_VALUE_BIT_XOR] = DP_OPCODE_XOR,
				  [DP_VALUE_BIT_AND] = DP_OPCODE_AND,
				  [DP_VALUE_MUL] = DP_OPCODE_MUL };
	struct dp_value_type left = dp_code_value(c, v->left);
	struct dp_value_type right = dp_code_value(c, v->right);

	dp_code_op(c, ops[v->op]);
	return either(left, right);
}

static struct dp_value_type push_shift(struct dp_coder *c,
				       const struct dp_value *v)
{
	const struct dp_value *by = at(c->values, v->right);
	struct dp_value_type type = dp_code_value(c, v->left);

	if (by->op != DP_VALUE_NUMBER || by->number > 63)
		dp_code_bad(c, by, -EINVAL,
			    "a shift is by a number from 0 to 63");
	dp_code_op8(c,
		    v->op == DP_VALUE_SHL ? DP_OPCODE_SHL_I : DP_OPCODE_SHR_I,
		    (u8)by->number);
	return type.kind == DP_VALUE_SIGNED ? untyped : type;
}

static struct dp_value_type push_number(struct dp_coder *c,
					const struct dp_value *v)
{
	dp_code_push(c, v->number);
	return (struct dp_value_type){ .kind = v->negative ? DP_VALUE_SIGNED :
							     DP_VALUE_UNSIGNED,
				       .bits = 64 };
}

static struct dp_value_type push_unary(struct dp_coder *c,
				       const struct dp_value *v)
{
	struct dp_value_type type = dp_code_value(c, v->left);

	if (v->op == DP_VALUE_INVERT) {
		dp_code_op(c, DP_OPCODE_NEG);
		return untyped;
	}
	dp_code_push(c, 0);
	dp_code_op(c, DP_OPCODE_SUB);
	type.kind = DP_VALUE_SIGNED;
	type.bits = 64;
	return type;
}

struct dp_value_type dp_code_value(struct dp_coder *c, u16 n)
{
	const struct dp_value *v = at(c->values, n);

	switch (c->err ? DP_VALUE_NUMBER : v->op) {
	case DP_VALUE_NUMBER:
		return push_number(c, v);
	case DP_VALUE_NAME:
	case DP_VALUE_PARAMETER:
		return dp_code_name(c, v);
	case DP_VALUE_NEGATE:
	case DP_VALUE_INVERT:
		return push_unary(c, v);
	case DP_VALUE_DEREF:
	case DP_VALUE_FETCH:
	case DP_VALUE_INDEX:
	case DP_VALUE_MEMBER:
		return push_loaded(c, n);
	case DP_VALUE_CAST:
		return push_cast(c, v);
	case DP_VALUE_SHOWN:
		return push_shown(c, v);
	case DP_VALUE_ADD:
	case DP_VALUE_SUB:
		return push_sum(c, v);
	case DP_VALUE_BIT_OR:
	case DP_VALUE_BIT_XOR:
	case DP_VALUE_BIT_AND:
	case DP_VALUE_MUL:
		return push_bits(c, v);
	case DP_VALUE_SHL:
	case DP_VALUE_SHR:
		return push_shift(c, v);
	case DP_VALUE_TEXT:
		dp_code_bad(
			c, v, -EINVAL,
			"a text is compared with a string: arg0:str == \"text\"");
		return untyped;
	default:
		dp_code_truth(c, n);
		return boolean;
	}
}

void dp_code_word(struct dp_coder *c, u16 n, u32 offset)
{
	dp_code_place(c, n);
	add_offset(c, offset);
	dp_code_op(c, DP_OPCODE_PUSH_MEM_U64);
}

/* Strings */

static void negate(struct dp_coder *c)
{
	dp_code_push(c, 1);
	dp_code_op(c, DP_OPCODE_XOR);
}

void dp_code_text(struct dp_coder *c, u16 n)
{
	const struct dp_value *v = at(c->values, n);
	u16 inner = v->op == DP_VALUE_SHOWN ? v->left : n;
	struct dp_value_type type;

	if (!dp_code_is_place(c->values, inner)) {
		dp_code_value(c, inner);
		return;
	}
	type = dp_code_place(c, inner);
	if (type.stars)
		load(c, at(c->values, inner), type);
}

/* A byte of a text in quotes, where "\" stands before what means itself */
struct letter {
	char c;
	bool meant;
};

static struct letter letter_at(const struct dp_coder *c,
			       const struct dp_value *text, int *i)
{
	const char *s = c->values->text + text->at;
	struct letter l = { s[*i], false };

	if (l.c == '\\' && *i + 2 < text->span) {
		l = (struct letter){ s[++*i], true };
		if (l.c == 'n')
			l.c = '\n';
		if (l.c == 't')
			l.c = '\t';
	}
	++*i;
	return l;
}

#define TEXT_MAX 128

/* The byte at offset @i of the string whose address is on the stack is @l. Return: the jump
 * to where it is not. */
static u32 compare_byte(struct dp_coder *c, u32 i, struct letter l, bool glob)
{
	u32 differs;

	dp_code_op8(c, DP_OPCODE_DUP_I, 1);
	dp_code_push(c, i);
	dp_code_op(c, DP_OPCODE_ADD);
	dp_code_op(c, DP_OPCODE_PUSH_MEM_U8);
	if (!glob || l.meant || l.c != '?') {
		dp_code_push(c, (u8)l.c);
		dp_code_op(c, DP_OPCODE_EQ);
	}
	differs = dp_code_jump(c, DP_OPCODE_JZ);
	dp_code_op8(c, DP_OPCODE_ROS, 1);
	return differs;
}

/* @bounded: no zero byte ends the string. Return: how many jumps to where it differs are in
 * @out. */
static u32 compare_bytes(struct dp_coder *c, const struct dp_value *text,
			 bool glob, bool bounded, u32 *out)
{
	int i = 1, last = text->span - 1;
	struct letter l;
	u32 n = 0;

	while (i < last && n < TEXT_MAX - 1) {
		l = letter_at(c, text, &i);
		if (glob && !l.meant && l.c == '*' && i == last)
			return n;
		if (glob && !l.meant && strchr("*[", l.c))
			dp_code_bad(
				c, text, -EOPNOTSUPP,
				"a pattern has '?', and '*' at its end; others are not there yet");
		out[n] = compare_byte(c, n, l, glob);
		n++;
	}
	if (i < last)
		dp_code_bad(c, text, -EINVAL,
			    "a text to be compared has at most 127 bytes");
	if (bounded)
		return n;
	out[n] = compare_byte(c, n, (struct letter){ 0, true }, glob);
	return n + 1;
}

/* The string in @view of node @n is as long as a text, or longer if that ends with '*'.
 * The string's address is on the stack. Return: the jump to where it is not. */
static u32 compare_length(struct dp_coder *c, u16 n,
			  const struct dp_printer *view,
			  const struct dp_value *text, bool glob)
{
	int i = 1, last = text->span - 1;
	struct letter l = { 0, true };
	u32 len = 0, differs;

	for (; i < last; len++)
		l = letter_at(c, text, &i);
	glob = glob && l.c == '*' && !l.meant;
	dp_code_word(c, n, view->length);
	dp_code_push(c, len - glob);
	dp_code_op(c, glob ? DP_OPCODE_LTU : DP_OPCODE_EQ);
	if (glob)
		negate(c);
	differs = dp_code_jump(c, DP_OPCODE_JZ);
	dp_code_op8(c, DP_OPCODE_ROS, 1);
	return differs;
}

/* Return: as compare_bytes() */
static u32 compare_view(struct dp_coder *c, u16 n,
			const struct dp_printer *view,
			const struct dp_value *text, bool glob, u32 *out)
{
	dp_code_word(c, n, view->pointer);
	out[0] = compare_length(c, n, view, text, glob);
	return 1 + compare_bytes(c, text, glob, true, out + 1);
}

static void test_text(struct dp_coder *c, const struct dp_value *v)
{
	bool swapped = at(c->values, v->left)->op == DP_VALUE_TEXT;
	u16 string = swapped ? v->right : v->left;
	const struct dp_value *text =
		at(c->values, swapped ? v->left : v->right);
	bool glob = v->op == DP_VALUE_LIKE;
	u32 differs[TEXT_MAX], n, done;
	struct dp_printer view;

	string = dp_code_text_view(c->values, string, &view);
	if (!view.kind && !dp_code_is_text(c->values, string)) {
		/* A name that is not known is the first error. */
		dp_code_value(c, string);
		dp_code_bad(
			c, at(c->values, string), -EINVAL,
			"this is no string: write :str after it, or (char *) before it");
		return;
	}
	if (view.kind) {
		n = compare_view(c, string, &view, text, glob, differs);
	} else {
		dp_code_text(c, string);
		n = compare_bytes(c, text, glob, false, differs);
	}
	dp_code_op8(c, DP_OPCODE_ROS, 1);
	dp_code_push(c, v->op != DP_VALUE_NE);
	done = dp_code_jump(c, DP_OPCODE_JMP);
	while (n-- > 0)
		dp_code_land(c, differs[n]);
	dp_code_op8(c, DP_OPCODE_ROS, 2);
	dp_code_push(c, v->op == DP_VALUE_NE);
	dp_code_land(c, done);
}

/* Tests */

static bool has_sign(struct dp_value_type type)
{
	return !type.stars &&
	       (type.kind == DP_VALUE_SIGNED || type.kind == DP_VALUE_CHAR);
}

/* Is @n a negative number, and what it is compared with, of @type, has no sign? */
static void refuse_sign(struct dp_coder *c, u16 n, u16 with,
			struct dp_value_type type)
{
	const struct dp_value *other = at(c->values, with);

	if (at(c->values, n)->negative && !has_sign(type))
		dp_code_bad(
			c, other, -EINVAL,
			"this has no sign to be compared with a negative number: write (int)%.*s, or %.*s:s64",
			other->span, c->values->text + other->at, other->span,
			c->values->text + other->at);
}

static void test_numbers(struct dp_coder *c, const struct dp_value *v)
{
	struct dp_value_type left = dp_code_value(c, v->left);
	struct dp_value_type right = dp_code_value(c, v->right);
	u8 op = v->op;

	refuse_sign(c, v->right, v->left, left);
	refuse_sign(c, v->left, v->right, right);
	if (left.kind == DP_VALUE_FLOAT || right.kind == DP_VALUE_FLOAT)
		dp_code_bad(c, v, -EOPNOTSUPP,
			    "floating-point numbers are not compared yet");
	if (op == DP_VALUE_GT || op == DP_VALUE_LE)
		dp_code_op(c, DP_OPCODE_XCHG);
	if (op == DP_VALUE_EQ || op == DP_VALUE_NE)
		dp_code_op(c, DP_OPCODE_EQ);
	else
		dp_code_op(c, has_sign(left) || has_sign(right) ?
				      DP_OPCODE_LTS :
				      DP_OPCODE_LTU);
	if (op == DP_VALUE_NE || op == DP_VALUE_LE || op == DP_VALUE_GE)
		negate(c);
}

static void test(struct dp_coder *c, const struct dp_value *v)
{
	bool text = at(c->values, v->left)->op == DP_VALUE_TEXT ||
		    at(c->values, v->right)->op == DP_VALUE_TEXT;

	if (text && (v->op == DP_VALUE_EQ || v->op == DP_VALUE_NE ||
		     v->op == DP_VALUE_LIKE))
		test_text(c, v);
	else if (v->op == DP_VALUE_LIKE)
		dp_code_bad(c, at(c->values, v->right), -EINVAL,
			    "'~' compares a string with a \"pattern*\"");
	else
		test_numbers(c, v);
}

static void both(struct dp_coder *c, const struct dp_value *v)
{
	bool or = v->op == DP_VALUE_OR;
	bool late = dp_code_touches(c->values, v->right);
	u32 decided = 0;

	dp_code_truth(c, v->left);
	if (late)
		decided = dp_code_jump(c, or ? DP_OPCODE_JNZ : DP_OPCODE_JZ);
	dp_code_truth(c, v->right);
	dp_code_op(c, or ? DP_OPCODE_OR : DP_OPCODE_AND);
	if (late)
		dp_code_land(c, decided);
}

void dp_code_truth(struct dp_coder *c, u16 n)
{
	const struct dp_value *v = at(c->values, n);

	switch (c->err ? DP_VALUE_NUMBER : v->op) {
	case DP_VALUE_OR:
	case DP_VALUE_AND:
		both(c, v);
		break;
	case DP_VALUE_NOT:
		dp_code_truth(c, v->left);
		negate(c);
		break;
	case DP_VALUE_EQ:
	case DP_VALUE_NE:
	case DP_VALUE_LE:
	case DP_VALUE_GE:
	case DP_VALUE_LT:
	case DP_VALUE_GT:
	case DP_VALUE_LIKE:
		test(c, v);
		break;
	default:
		dp_code_value(c, n);
		dp_code_push(c, 0);
		dp_code_op(c, DP_OPCODE_EQ);
		negate(c);
	}
}
