// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * code: compile values of a spec to the instructions of a probe program.
 *
 * A test leaves 0 or 1 on the stack; && and || are the bitwise operations on those. Where the
 * right side can raise an exception, it is computed only if it decides.
 */
#include "tracer/values/code.h"
#include "tracer/values/place.h"
#include "engine/vm/ops.h"
#include "sym/prototypes.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct dp_value_type boolean = { .kind = DP_VALUE_BOOL,
					      .bits = 8 };

/* Questions about nodes */

static const struct dp_value *at(const struct dp_values *values, u16 n)
{
	return &values->v[n];
}

/* Is a string read? */
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
	case DP_VALUE_REAL:
	case DP_VALUE_TEXT:
	case DP_VALUE_RETVAL:
		return false;
	case DP_VALUE_NAME:
	case DP_VALUE_PARAMETER:
		return dp_code_touches_name(values, v);
	case DP_VALUE_VARIABLE:
		return v->reads;
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

static bool is_real(struct dp_value_type type)
{
	return type.kind == DP_VALUE_FLOAT && !type.stars;
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
	if (dp_value_has_sign(type))
		dp_code_extend(c, type);
}

/* A number to compute with */
static struct dp_value_type push_integer(struct dp_coder *c, u16 n)
{
	struct dp_value_type type = dp_code_value(c, n);

	if (is_real(type))
		dp_code_bad(
			c, at(c->values, n), -EINVAL,
			"floating-point numbers are shown and compared; nothing is computed with them");
	return type;
}

/* Push what is at index @right of pointer @left. */
static void add_scaled(struct dp_coder *c, u16 index,
		       struct dp_value_type element, u8 op)
{
	u32 size = dp_code_size(element);

	push_integer(c, index);
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

	if (at(c->values, v->left)->op == DP_VALUE_PARAMETER &&
	    at(c->values, v->left)->number == ~0ull) {
		dp_code_value(c, v->left);
		return;
	}
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
		/* What it is, and why it is not there, is the first error. */
		if (at(c->values, v->left)->op == DP_VALUE_RETVAL)
			dp_code_value(c, v->left);
		refuse_member(c, v);
		return DP_CODE_UNTYPED;
	}
	if (v->arrow)
		dp_code_value(c, v->left);
	else
		dp_code_place(c, v->left);
	add_offset(c, f->offset);
	return dp_code_known(f->type);
}

/* Without a format it is of 64 bits. */
static bool is_fetched(const struct dp_value *v)
{
	return v->op == DP_VALUE_FETCH || v->op == DP_VALUE_GLOBAL;
}

/* The address of a symbol is filled in for each process: see dp_session_bind(). */
static struct dp_value_type place_global(struct dp_coder *c,
					 const struct dp_value *v)
{
	struct dp_trace_program *o = c->out;
	struct dp_trace_symbol *s = &o->symbols[o->nr_symbols];

	dp_code_push(c, v->number);
	if (!v->name_span)
		return DP_CODE_UNTYPED;
	if (o->nr_symbols == DP_TRACE_SYMBOLS ||
	    v->name_span >= DP_TRACE_SYMBOL) {
		dp_code_bad(c, v, -EINVAL,
			    "too many symbols, or one whose name is too long");
		return DP_CODE_UNTYPED;
	}
	o->nr_symbols++;
	s->at = o->len - 8;
	snprintf(s->name, sizeof(s->name), "%.*s", v->name_span,
		 c->values->text + v->name_at);
	return DP_CODE_UNTYPED;
}

static struct dp_value_type place_fetched(struct dp_coder *c,
					  const struct dp_value *v)
{
	dp_code_value(c, v->left);
	dp_code_push(c, v->number);
	dp_code_op(c, DP_OPCODE_ADD);
	return DP_CODE_UNTYPED;
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
	case DP_VALUE_VARIABLE:
		return dp_place_push(c, v);
	case DP_VALUE_FETCH:
		return place_fetched(c, v);
	case DP_VALUE_GLOBAL:
		return place_global(c, v);
	case DP_VALUE_MEMBER:
		return place_member(c, v);
	case DP_VALUE_DEREF:
	case DP_VALUE_INDEX:
		return place_element(c, v);
	default:
		return DP_CODE_UNTYPED;
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

static struct dp_value_type push_loaded(struct dp_coder *c, u16 n)
{
	struct dp_value_type type = dp_code_place(c, n);
	const struct dp_prototype_field *bits = dp_code_bits(c->values, n);
	struct dp_printer view;

	if (bits) {
		load_unit(c, n, bits->unit);
		dp_code_cut_bits(c, bits);
		return type;
	}
	if (dp_code_view(type, &view) && view.kind == DP_PRINTER_POINTER) {
		add_offset(c, view.pointer);
		type = dp_code_pointer(type);
	}
	load(c, at(c->values, n), type);
	return type;
}

/* A cast to a type of the program that is not known, or that no number has */
static bool refuse_type(struct dp_coder *c, const struct dp_value *v)
{
	const struct dp_value name = { .at = v->name_at, .span = v->name_span };

	if (v->type.kind == DP_VALUE_NAMED)
		dp_code_bad(
			c, &name, -ENODATA,
			"no type of this name is known of the program: its debug information would tell");
	else if (v->type.count ||
		 (!v->type.stars && (v->type.kind == DP_VALUE_STRUCT ||
				     v->type.kind == DP_VALUE_VOID)))
		dp_code_bad(
			c, v, -EINVAL,
			"a value is cast to a number or a pointer: *(struct node *)rdi");
	return c->err;
}

static struct dp_value_type push_cast(struct dp_coder *c,
				      const struct dp_value *v)
{
	struct dp_value_type type = v->type, was;

	if (refuse_type(c, v))
		return DP_CODE_UNTYPED;
	was = dp_code_value(c, v->left);
	if (is_real(type) != is_real(was) ||
	    (is_real(type) && type.bits != was.bits))
		dp_code_bad(
			c, v, -EINVAL,
			"floating-point numbers are not converted: farg0 and xmm0 are doubles, farg0:f32 a float, *(double *)… is in memory");
	dp_code_extend(c, type);
	return type;
}

/* All 64 bits of a vector register may be a double; the low ones a float. */
static void check_real(struct dp_coder *c, const struct dp_value *v,
		       struct dp_value_type type, struct dp_value_type was)
{
	bool narrowed = type.bits == 32 &&
			dp_code_is_vector(c->values, at(c->values, v->left));

	if (is_real(was) && type.kind == DP_VALUE_HEX)
		narrowed |= type.bits == was.bits;
	else if (is_real(was) && !is_real(type))
		dp_code_bad(
			c, v, -EINVAL,
			"this is floating point: f%d, or x%d, which shows its bits",
			was.bits, was.bits);
	if (is_real(was) && type.bits != was.bits && !narrowed)
		dp_code_bad(c, v, -EINVAL, "this is a %s: f%d",
			    was.bits == 32 ? "float" : "double", was.bits);
	else if (is_real(type) && !is_real(was))
		dp_code_bad(
			c, v, -EINVAL,
			"f32 and f64 are for retval, memory, farg0 and xmm0: arg0 and general registers hold no floating point");
}

/* What is fetched has the size of what the bits are in. */
static struct dp_value_type push_field(struct dp_coder *c,
				       const struct dp_value *v)
{
	struct dp_value_type in = { .kind = DP_VALUE_UNSIGNED,
				    .bits = v->type.within };

	if (is_fetched(at(c->values, v->left))) {
		dp_code_place(c, v->left);
		load(c, v, in);
	} else {
		push_integer(c, v->left);
	}
	if (v->type.from)
		dp_code_op8(c, DP_OPCODE_SHR_I, v->type.from);
	dp_code_op8(c, DP_OPCODE_PZL_I, v->type.bits);
	in.bits = 64;
	return in;
}

/* Names are those of the value's own type. */
static struct dp_value_type push_enum(struct dp_coder *c,
				      const struct dp_value *v)
{
	struct dp_value_type type = dp_code_value(c, v->left);

	if (!type.known || type.stars ||
	    (type.known->lens != DP_PROTOTYPE_ENUM &&
	     type.known->lens != DP_PROTOTYPE_FLAGS))
		dp_code_bad(
			c, v, -ENODATA,
			"of this no enumeration is known, which would have names");
	return type;
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
		return DP_CODE_UNTYPED;
	}
	if (type.within)
		return push_field(c, v);
	if (type.kind == DP_VALUE_ENUM)
		return push_enum(c, v);
	/* What ftrace fetches has the size of its format. */
	if (is_fetched(at(c->values, v->left)) && type.bits) {
		dp_code_place(c, v->left);
		load(c, v, type);
		return type;
	}
	was = dp_code_value(c, v->left);
	if (!type.bits)
		type.bits = was.stars ? 64 : was.bits;
	check_real(c, v, type, was);
	dp_code_extend(c, type);
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
		       DP_CODE_UNTYPED;
}

static struct dp_value_type push_sum(struct dp_coder *c,
				     const struct dp_value *v)
{
	u8 op = v->op == DP_VALUE_ADD ? DP_OPCODE_ADD : DP_OPCODE_RSUB;
	bool swapped = v->op == DP_VALUE_ADD &&
		       dp_code_type(c->values, v->right).stars;
	struct dp_value_type left, right;

	left = push_integer(c, swapped ? v->right : v->left);
	if (left.stars) {
		add_scaled(c, swapped ? v->left : v->right, target_of(left),
			   op);
		return left;
	}
	right = push_integer(c, swapped ? v->left : v->right);
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
	struct dp_value_type left = push_integer(c, v->left);
	struct dp_value_type right = push_integer(c, v->right);

	dp_code_op(c, ops[v->op]);
	return either(left, right);
}

static struct dp_value_type push_shift(struct dp_coder *c,
				       const struct dp_value *v)
{
	const struct dp_value *by = at(c->values, v->right);
	struct dp_value_type type = push_integer(c, v->left);

	if (by->op != DP_VALUE_NUMBER || by->number > 63)
		dp_code_bad(c, by, -EINVAL,
			    "a shift is by a number from 0 to 63");
	dp_code_op8(c,
		    v->op == DP_VALUE_SHL ? DP_OPCODE_SHL_I : DP_OPCODE_SHR_I,
		    (u8)by->number);
	return type.kind == DP_VALUE_SIGNED ? DP_CODE_UNTYPED : type;
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
	struct dp_value_type type = push_integer(c, v->left);

	if (v->op == DP_VALUE_INVERT) {
		dp_code_op(c, DP_OPCODE_NEG);
		return DP_CODE_UNTYPED;
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
	struct dp_value_type type;

	switch (c->err ? DP_VALUE_NUMBER : v->op) {
	case DP_VALUE_NUMBER:
		return push_number(c, v);
	case DP_VALUE_REAL:
		dp_code_push(c, v->number);
		return (struct dp_value_type){ .kind = DP_VALUE_FLOAT,
					       .bits = 64 };
	case DP_VALUE_NAME:
	case DP_VALUE_PARAMETER:
		return dp_code_name(c, v);
	case DP_VALUE_VARIABLE:
	case DP_VALUE_MEMBER:
		return dp_place_is_split(c->values, n) ?
			       dp_place_push_part(c, n) :
			       push_loaded(c, n);
	case DP_VALUE_RETVAL:
		type = dp_code_returned(c, v);
		dp_code_extend(c, type);
		return type;
	case DP_VALUE_NEGATE:
	case DP_VALUE_INVERT:
		return push_unary(c, v);
	case DP_VALUE_DEREF:
	case DP_VALUE_FETCH:
	case DP_VALUE_GLOBAL:
	case DP_VALUE_INDEX:
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
		return DP_CODE_UNTYPED;
	default:
		dp_code_truth(c, n);
		return boolean;
	}
}

void dp_code_word(struct dp_coder *c, u16 n, u32 offset)
{
	if (dp_place_is_split(c->values, n)) {
		dp_place_push_word(c, n, offset);
		return;
	}
	dp_code_place(c, n);
	add_offset(c, offset);
	dp_code_op(c, DP_OPCODE_PUSH_MEM_U64);
}

/* Strings */

void dp_code_negate(struct dp_coder *c)
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

/* Tests */

/* Is @n a negative number, and what it is compared with, of @type, has no sign? */
static void refuse_sign(struct dp_coder *c, u16 n, u16 with,
			struct dp_value_type type)
{
	const struct dp_value *other = at(c->values, with);

	if (at(c->values, n)->negative && !dp_value_has_sign(type))
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
	if (op == DP_VALUE_GT || op == DP_VALUE_LE)
		dp_code_op(c, DP_OPCODE_XCHG);
	if (op == DP_VALUE_EQ || op == DP_VALUE_NE)
		dp_code_op(c, DP_OPCODE_EQ);
	else
		dp_code_op(c,
			   dp_value_has_sign(left) || dp_value_has_sign(right) ?
				   DP_OPCODE_LTS :
				   DP_OPCODE_LTU);
	if (op == DP_VALUE_NE || op == DP_VALUE_LE || op == DP_VALUE_GE)
		dp_code_negate(c);
}

static void test(struct dp_coder *c, const struct dp_value *v)
{
	bool text = at(c->values, v->left)->op == DP_VALUE_TEXT ||
		    at(c->values, v->right)->op == DP_VALUE_TEXT;

	if (text && (v->op == DP_VALUE_EQ || v->op == DP_VALUE_NE ||
		     v->op == DP_VALUE_LIKE))
		dp_code_test_text(c, v);
	else if (v->op == DP_VALUE_LIKE)
		dp_code_bad(c, at(c->values, v->right), -EINVAL,
			    "'~' compares a string with a \"pattern*\"");
	else if (dp_code_real_bits(c->values, v->left) ||
		 dp_code_real_bits(c->values, v->right))
		dp_code_test_real(c, v);
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
		dp_code_negate(c);
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
		if (dp_code_real_bits(c->values, n)) {
			dp_code_truth_of_real(c, n);
			break;
		}
		dp_code_value(c, n);
		dp_code_push(c, 0);
		dp_code_op(c, DP_OPCODE_EQ);
		dp_code_negate(c);
	}
}
