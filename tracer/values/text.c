// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * text: comparisons of strings with texts and patterns.
 *
 * A text is compared byte by byte, each with a jump to where the string differs, so a detour can do
 * it; and so is a pattern with '?', and '*' at its end. For all others the machine has an
 * instruction. An array of characters ends with the array.
 */
#include "tracer/values/code.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include <errno.h>
#include <string.h>

#define TEXT_MAX 128
#define PATTERN_MAX 160
#define WORD 8

/** struct letter - a byte of a text in quotes, where "\" stands before what means itself */
struct letter {
	char c;
	bool meant;
};

/** struct text - what a string is compared with
 *  @v: its node; @i: the next byte, of those before @last
 *  @bound: bytes that the string has at most; 0: no end is known
 *  @string: node of the string; @view: of a struct that knows where it is, and its length */
struct text {
	const struct dp_value *v;
	const char *bytes;
	int i, last;
	u32 bound;
	u16 string;
	struct dp_printer view;
};

static bool is_left(const struct text *t)
{
	return t->i < t->last;
}

static struct letter next(struct text *t)
{
	struct letter l = { t->bytes[t->i], false };

	if (l.c == '\\' && t->i + 1 < t->last) {
		l = (struct letter){ t->bytes[++t->i], true };
		if (l.c == 'n')
			l.c = '\n';
		if (l.c == 't')
			l.c = '\t';
	}
	t->i++;
	return l;
}

static bool is_special(struct letter l, char c)
{
	return !l.meant && l.c == c;
}

/* Byte by byte */

/* The byte at offset @i of the string whose address is on the stack is @l. Return: the jump
 * to where it is not. */
static u32 compare_byte(struct dp_coder *c, u32 i, struct letter l, bool any)
{
	u32 differs;

	dp_code_op8(c, DP_OPCODE_DUP_I, 1);
	dp_code_push(c, i);
	dp_code_op(c, DP_OPCODE_ADD);
	dp_code_op(c, DP_OPCODE_PUSH_MEM_U8);
	if (!any) {
		dp_code_push(c, (u8)l.c);
		dp_code_op(c, DP_OPCODE_EQ);
	}
	differs = dp_code_jump(c, DP_OPCODE_JZ);
	dp_code_op8(c, DP_OPCODE_ROS, 1);
	return differs;
}

/* Return: how many jumps to where the string differs are in @out. */
static u32 compare_bytes(struct dp_coder *c, struct text t, bool glob,
			 u32 out[TEXT_MAX])
{
	struct letter l;
	u32 n = 0;

	while (is_left(&t) && n < TEXT_MAX - 1) {
		l = next(&t);
		if (glob && is_special(l, '*'))
			return n;
		out[n] = compare_byte(c, n, l, glob && is_special(l, '?'));
		n++;
	}
	if (is_left(&t))
		dp_code_bad(c, t.v, -EINVAL,
			    "a text to be compared has at most 127 bytes");
	if (t.view.kind || (t.bound == n && n))
		return n;
	out[n] = compare_byte(c, n, (struct letter){ 0, true }, false);
	return n + 1;
}

static u32 bytes_of(const struct text *text)
{
	struct text t = *text;
	u32 n = 0;

	for (; is_left(&t); n++)
		next(&t);
	return n;
}

static bool ends_open(const struct text *text)
{
	struct letter l = { 0, true };
	struct text t = *text;

	while (is_left(&t))
		l = next(&t);
	return is_special(l, '*');
}

/* The string is as long as the text, or longer if that ends with '*'. Its address is on the stack.
 * Return: the jump to where it is not. */
static u32 compare_length(struct dp_coder *c, const struct text *t, bool glob)
{
	bool open = glob && ends_open(t);
	u32 differs;

	dp_code_word(c, t->string, t->view.length);
	dp_code_push(c, bytes_of(t) - open);
	dp_code_op(c, open ? DP_OPCODE_LTU : DP_OPCODE_EQ);
	if (open)
		dp_code_negate(c);
	differs = dp_code_jump(c, DP_OPCODE_JZ);
	dp_code_op8(c, DP_OPCODE_ROS, 1);
	return differs;
}

/* The address is on the stack. */
static void push_compared(struct dp_coder *c, const struct text *t, bool glob)
{
	u32 differs[TEXT_MAX + 1], n = 0, done;

	if (t->view.kind)
		differs[n++] = compare_length(c, t, glob);
	n += compare_bytes(c, *t, glob, differs + n);
	dp_code_op8(c, DP_OPCODE_ROS, 1);
	dp_code_push(c, 1);
	done = dp_code_jump(c, DP_OPCODE_JMP);
	while (n-- > 0)
		dp_code_land(c, differs[n]);
	dp_code_op8(c, DP_OPCODE_ROS, 2);
	dp_code_push(c, 0);
	dp_code_land(c, done);
}

/* Patterns */

/** struct pattern - tokens of enum dp_vm_like */
struct pattern {
	u8 bytes[PATTERN_MAX];
	u32 len;
};

static void put(struct dp_coder *c, struct pattern *p, const struct text *t,
		u8 byte)
{
	if (p->len == sizeof(p->bytes))
		dp_code_bad(c, t->v, -EINVAL, "this pattern is too long");
	else
		p->bytes[p->len++] = byte;
}

static void put_itself(struct dp_coder *c, struct pattern *p,
		       const struct text *t, char byte)
{
	if ((u8)byte <= DP_LIKE_NONE_OF)
		put(c, p, t, DP_LIKE_ITSELF);
	put(c, p, t, (u8)byte);
}

/* "a-z", "a". A '-' at the end, or the beginning, means itself. */
static void put_range(struct dp_coder *c, struct pattern *p, struct text *t)
{
	struct letter low = next(t), high = low;
	bool range = is_left(t) && t->bytes[t->i] == '-' &&
		     t->i + 1 < t->last && t->bytes[t->i + 1] != ']';

	if (range) {
		t->i++;
		high = next(t);
	}
	put(c, p, t, (u8)low.c);
	put(c, p, t, (u8)high.c);
}

/* [a-z_], [!x]: behind the '[' */
static void put_class(struct dp_coder *c, struct pattern *p, struct text *t)
{
	bool none = is_left(t) && strchr("!^", t->bytes[t->i]);
	u32 count, first;

	t->i += none;
	put(c, p, t, none ? DP_LIKE_NONE_OF : DP_LIKE_OF);
	count = p->len;
	put(c, p, t, 0);
	first = p->len;
	/* A ']' that comes first means itself. */
	while (is_left(t) && !c->err &&
	       (t->bytes[t->i] != ']' || p->len == first))
		put_range(c, p, t);
	if (!is_left(t)) {
		dp_code_bad(c, t->v, -EINVAL,
			    "a '[' of this pattern has no ']'");
		return;
	}
	t->i++;
	p->bytes[count] = (u8)((p->len - first) / 2);
}

static void make_pattern(struct dp_coder *c, struct text t, struct pattern *p)
{
	struct letter l;

	p->len = 0;
	while (is_left(&t) && !c->err) {
		l = next(&t);
		if (is_special(l, '['))
			put_class(c, p, &t);
		else if (is_special(l, '?'))
			put(c, p, &t, DP_LIKE_ANY);
		else if (is_special(l, '*'))
			put(c, p, &t, DP_LIKE_MANY);
		else
			put_itself(c, p, &t, l.c);
	}
}

static void push_pattern(struct dp_coder *c, const struct pattern *p)
{
	u32 at = (p->len + WORD - 1) / WORD * WORD, size;
	u64 word;

	while (at) {
		at -= WORD;
		size = p->len - at < WORD ? p->len - at : WORD;
		word = 0;
		memcpy(&word, p->bytes + at, size);
		dp_code_push(c, word);
	}
}

/* Is it a beginning, with any byte here and there? */
static bool is_plain(struct text t)
{
	struct letter l;

	while (is_left(&t)) {
		l = next(&t);
		if (is_special(l, '[') || (is_special(l, '*') && is_left(&t)))
			return false;
	}
	return true;
}

static void push_address(struct dp_coder *c, const struct text *t)
{
	if (t->view.kind)
		dp_code_word(c, t->string, t->view.pointer);
	else
		dp_code_text(c, t->string);
}

static void push_like(struct dp_coder *c, const struct text *t)
{
	bool ends = t->view.kind || t->bound;
	struct pattern p;

	make_pattern(c, *t, &p);
	push_pattern(c, &p);
	push_address(c, t);
	if (t->view.kind)
		dp_code_word(c, t->string, t->view.length);
	else
		dp_code_push(c, t->bound ?: DP_LIKE_MOST);
	dp_code_op16(c, DP_OPCODE_LIKE,
		     (u16)(p.len | (ends ? DP_LIKE_ENDS : 0)));
}

/* Comparisons */

/* What an array has, where the string is one */
static u32 bound_of(const struct dp_values *values, u16 string)
{
	const struct dp_value *v = &values->v[string];
	u16 inner = v->op == DP_VALUE_SHOWN ? v->left : string;
	struct dp_value_type type = dp_code_type(values, inner);

	return dp_code_is_place(values, inner) && !type.stars ? type.count : 0;
}

static void push_test(struct dp_coder *c, const struct text *t, bool glob)
{
	if (!glob && t->bound && bytes_of(t) > t->bound) {
		/* It is longer than the string can be, if there is one. */
		push_address(c, t);
		dp_code_op(c, DP_OPCODE_PUSH_MEM_U8);
		dp_code_op8(c, DP_OPCODE_ROS, 1);
		dp_code_push(c, 0);
	} else if (!glob || (is_plain(*t) && !t->bound)) {
		push_address(c, t);
		push_compared(c, t, glob);
	} else {
		push_like(c, t);
	}
}

void dp_code_test_text(struct dp_coder *c, const struct dp_value *v)
{
	const struct dp_values *values = c->values;
	bool swapped = values->v[v->left].op == DP_VALUE_TEXT;
	u16 string = swapped ? v->right : v->left;
	struct text t = { .v = &values->v[swapped ? v->left : v->right],
			  .bytes = values->text };

	string = dp_code_text_view(values, string, &t.view);
	if (!t.view.kind && !dp_code_is_text(values, string)) {
		/* A name that is not known is the first error. */
		dp_code_value(c, string);
		dp_code_bad(
			c, &values->v[string], -EINVAL,
			"this is no string: write :str after it, or (char *) before it");
		return;
	}
	t.i = t.v->at + 1;
	t.last = t.v->at + t.v->span - 1;
	t.string = string;
	t.bound = t.view.kind ? 0 : bound_of(values, string);
	push_test(c, &t, v->op == DP_VALUE_LIKE);
	if (v->op == DP_VALUE_NE)
		dp_code_negate(c);
}

/* Lengths */

void dp_code_least(struct dp_coder *c, u32 most)
{
	u32 less, done;

	dp_code_op8(c, DP_OPCODE_DUP_I, 1);
	dp_code_push(c, most);
	dp_code_op(c, DP_OPCODE_LTU);
	less = dp_code_jump(c, DP_OPCODE_JNZ);
	dp_code_op8(c, DP_OPCODE_ROS, 2);
	dp_code_push(c, most);
	done = dp_code_jump(c, DP_OPCODE_JMP);
	dp_code_land(c, less);
	dp_code_op8(c, DP_OPCODE_ROS, 1);
	dp_code_land(c, done);
}

void dp_code_text_length(struct dp_coder *c, const struct dp_value *v, u32 most)
{
	int arg = v->op == DP_VALUE_PARAMETER ?
			  dp_code_length_of(c->prototype, v->left) :
			  -1;

	if (arg < 0) {
		dp_code_push(c, most);
	} else {
		dp_code_argument(c, v, arg);
		dp_code_least(c, most);
	}
}
