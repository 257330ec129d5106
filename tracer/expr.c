// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * expr: values and conditions of a spec, compiled to a probe program.
 *
 *   condition   an exception in it, or 0: abort
 *   item        its address or value, then a log; an exception in it: three elements are
 *               logged, of which the second is the address that cannot be read
 *   exit
 *
 * What needs the value that a function returns is another such program behind it, which runs when
 * the function returns: the terms of the condition, and the items, that lead to retval.
 *
 * A false condition jumps over the log. All jumps lead forward.
 */
#include "tracer/expr.h"
#include "tracer/values/place.h"
#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include "sym/places.h"
#include "sym/prototypes.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST (DP_EXPR_STACK - 2) /* an index adds its scale */
#define ARRAY_MAX 64 /* elements that are shown */
#define FAULT_ELEMENTS 3 /* of an exception: its code, an address, 0 */
#define FAULT_SIZE (FAULT_ELEMENTS * (u32)sizeof(u64))

/* What is returned */

static void returned_type(struct dp_coder *c, const struct dp_value *v,
			  struct dp_type *type)
{
	static const u8 kinds[] = { [DP_VALUE_UNTYPED] = DP_TYPE_UNKNOWN,
				    [DP_VALUE_UNSIGNED] = DP_TYPE_UNSIGNED,
				    [DP_VALUE_SIGNED] = DP_TYPE_SIGNED,
				    [DP_VALUE_HEX] = DP_TYPE_POINTER,
				    [DP_VALUE_BOOL] = DP_TYPE_BOOL,
				    [DP_VALUE_FLOAT] = DP_TYPE_FLOAT };
	u8 kind = v->type.kind, bits = v->type.bits ?: 64;

	if (kind >= sizeof(kinds) || v->type.count || v->type.stars ||
	    (kind && !kinds[kind]))
		dp_code_bad(
			c, v, -EINVAL,
			"what is returned is u8 to u64, s8 to s64, x8 to x64, f32 or f64");
	else
		*type = (struct dp_type){ kinds[kind],
					  kind == DP_VALUE_BOOL ? 8 : bits };
}

/* A number that is returned is in each record. */
static bool is_returned(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = &values->v[n], *name = v;

	if (v->op == DP_VALUE_SHOWN)
		name = &values->v[v->left];
	if (name->op != DP_VALUE_RETVAL || !dp_code_is_retval(values, name))
		return false;
	return v->op != DP_VALUE_SHOWN ?
		       !dp_code_is_text(values, n) :
		       !v->type.count && v->type.kind != DP_VALUE_STRING &&
			       v->type.kind != DP_VALUE_SYMBOL &&
			       v->type.kind != DP_VALUE_OCTAL &&
			       v->type.kind != DP_VALUE_CHAR;
}

/* "retval" is not logged: it says how the return value is shown. Return: false: this is another
 * value. */
static bool take_returned(struct dp_coder *c, u16 n)
{
	const struct dp_value *v = &c->values->v[n];
	struct dp_type *ret = &c->out->ret;

	if (!is_returned(c->values, n))
		return false;
	if (!c->at_return && ret->kind)
		dp_code_bad(c, v, -EINVAL, "retval is there twice");
	else if (!c->at_return && v->op == DP_VALUE_SHOWN)
		returned_type(c, v, ret);
	return true;
}

/* Items */

/* Of a string and a pattern, which is on the stack: a byte of it may take two. */
static u32 depth_of_pattern(const struct dp_values *values,
			    const struct dp_value *v, u32 left, u32 right)
{
	const struct dp_value *text = &values->v[v->right];

	if (values->v[v->left].op == DP_VALUE_TEXT)
		text = &values->v[v->left];
	return (2 * (u32)text->span + 7) / 8 + 2 +
	       (left > right ? left : right);
}

/* Elements of the stack that computing node @n takes, at most. A test of a string takes three. */
static u32 depth_of(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = &values->v[n];
	u32 left = 0, right = 0;

	if (v->op <= DP_VALUE_PARAMETER)
		return 3;
	if (v->op == DP_VALUE_VARIABLE || dp_place_is_split(values, n))
		return DP_PLACE_DEEPEST + 1;
	left = depth_of(values, v->left);
	if (v->op >= DP_VALUE_OR)
		right = 1 + depth_of(values, v->right);
	if (v->op == DP_VALUE_LIKE)
		return depth_of_pattern(values, v, left, right);
	/* Of floating-point numbers, both are there again, and a constant. */
	if (v->op >= DP_VALUE_EQ && v->op <= DP_VALUE_GT)
		right += 2;
	return left > right ? left : right;
}

static void check_depth(struct dp_coder *c, u16 n)
{
	if (!c->err && depth_of(c->values, n) > DEEPEST)
		dp_code_bad(c, &c->values->v[n], -EINVAL,
			    "this has too many parts in one another");
}

static void name_item(const struct dp_values *values,
		      const struct dp_value_item *from,
		      struct dp_trace_item *item)
{
	int n = from->span;
	const char *end = "";

	if (n >= DP_TRACE_NAME) {
		end = "...";
		n = DP_TRACE_NAME - 4;
	}
	snprintf(item->name, sizeof(item->name), "%.*s%s", n,
		 values->text + from->at, end);
}

/* What an exception at @bad leads to: its three elements are logged. Otherwise nothing is. */
static void log_exception(struct dp_coder *c, u32 bad)
{
	u32 done = dp_code_jump(c, DP_OPCODE_JMP);

	dp_code_land(c, bad);
	dp_code_op16(c, DP_OPCODE_LOG_I, FAULT_ELEMENTS);
	dp_code_land(c, done);
}

/* Bytes in memory: a string, or an array. */
static void log_memory(struct dp_coder *c, u16 n, u8 op, u32 len)
{
	const struct dp_value *v = &c->values->v[n];
	u16 inner = v->op == DP_VALUE_SHOWN ? v->left : n;
	bool touches = dp_code_touches(c->values, inner);
	u32 bad = 0, cut;

	if (touches)
		bad = dp_code_jump(c, DP_OPCODE_SX);
	dp_code_text_length(c, v, len);
	if (op == DP_OPCODE_LOG_STR)
		dp_code_text(c, n);
	else
		dp_code_place(c, inner);
	/* The log itself notes what cannot be read. */
	cut = dp_code_jump(c, DP_OPCODE_SX);
	dp_code_op(c, op);
	dp_code_op(c, DP_OPCODE_UX);
	if (touches)
		log_exception(c, bad);
	dp_code_land(c, cut);
	c->out->logmax += len > FAULT_SIZE ? len : FAULT_SIZE;
}

/* Bytes that @f leads to: of a string one more than is shown, so that its end is seen. A vector
 * may end before it begins: then there is a lot. */
static void push_followed_length(struct dp_coder *c, u16 n,
				 const struct dp_follow *f)
{
	u32 each = f->view.kind == DP_PRINTER_ELEMENTS ? f->view.of->size : 1;
	bool text = f->view.kind == DP_PRINTER_TEXT;

	if (f->view.kind == DP_PRINTER_NONE) {
		dp_code_push(c, f->most);
		return;
	}
	if (f->view.ends) {
		dp_code_word(c, n, f->at + f->view.pointer);
		dp_code_word(c, n, f->at + f->view.length);
		dp_code_op(c, DP_OPCODE_SUB);
		each = 1;
	} else {
		dp_code_word(c, n, f->at + f->view.length);
	}
	dp_code_least(c, (f->most + text) / each);
	if (each > 1) {
		dp_code_push(c, each);
		dp_code_op(c, DP_OPCODE_MUL);
	}
}

/* What something in the struct that node @n is leads to */
static void log_follow(struct dp_coder *c, u16 n, const struct dp_follow *f)
{
	u32 bad = dp_code_jump(c, DP_OPCODE_SX), cut, most = f->most + 1;
	u8 op = f->view.kind == DP_PRINTER_NONE ? DP_OPCODE_LOG_STR :
						  DP_OPCODE_LOG_MRF;

	push_followed_length(c, n, f);
	dp_code_word(c, n, f->at + f->view.pointer);
	cut = dp_code_jump(c, DP_OPCODE_SX);
	dp_code_op(c, op);
	dp_code_op(c, DP_OPCODE_UX);
	log_exception(c, bad);
	dp_code_land(c, cut);
	c->out->logmax +=
		DP_ITEM_PREFIX + (most > FAULT_SIZE ? most : FAULT_SIZE);
}

static struct dp_value_type log_number(struct dp_coder *c, u16 n)
{
	bool touches = dp_code_touches(c->values, n);
	struct dp_value_type type;
	u32 bad = 0;

	if (touches)
		bad = dp_code_jump(c, DP_OPCODE_SX);
	type = dp_code_value(c, n);
	if (touches)
		dp_code_op(c, DP_OPCODE_UX);
	dp_code_op16(c, DP_OPCODE_LOG_I, 1);
	if (touches)
		log_exception(c, bad);
	c->out->logmax += touches ? FAULT_SIZE : sizeof(u64);
	return type;
}

/* An array that a format makes of a place */
static struct dp_value_type log_array(struct dp_coder *c, u16 n)
{
	const struct dp_value *v = &c->values->v[n];

	if (!dp_code_is_place(c->values, v->left) ||
	    dp_code_bits(c->values, v->left))
		dp_code_bad(
			c, v, -EINVAL,
			"this is not in memory: an array is +0(rdi):u8[16] or *(u8 *)rdi:u8[16]");
	else
		log_memory(c, n, DP_OPCODE_LOG_MRF,
			   v->type.count * dp_value_size(v->type));
	return v->type;
}

/* The bytes that are logged of a struct, or of an array of @type that the program has: of a long
 * array the beginning. 0: it cannot be shown */
static u32 size_of_whole(struct dp_value_type type)
{
	u32 size = dp_code_size(type), n = type.count ?: 1;

	if (!size || size > DP_SHOWN_BYTES || type.count == DP_CODE_OPEN)
		return 0;
	if (n > ARRAY_MAX)
		n = ARRAY_MAX;
	if (n > DP_SHOWN_BYTES / size)
		n = DP_SHOWN_BYTES / size;
	return n * size;
}

static void refuse_whole(struct dp_coder *c, u16 n, struct dp_value_type type)
{
	const char *why =
		"this is too much to be shown: name a member, or an element";

	if (type.count == DP_CODE_OPEN)
		why = "how many elements this has is not known: name one of them";
	else if (!dp_code_size(type))
		why = "what this has in it is not known";
	dp_code_bad(c, &c->values->v[n], -EINVAL, "%s", why);
}

static void log_follows(struct dp_coder *c, u16 n, struct dp_trace_item *item)
{
	u32 i;

	item->follows = dp_follow_list(item->type, item->follow);
	for (i = 0; i < item->follows; i++)
		log_follow(c, n, &item->follow[i]);
}

static void log_whole(struct dp_coder *c, u16 n, struct dp_trace_item *item)
{
	u32 size = size_of_whole(item->type);

	if (!size) {
		refuse_whole(c, n, item->type);
		return;
	}
	log_memory(c, n, DP_OPCODE_LOG_MRF, size);
	log_follows(c, n, item);
}

static bool is_whole(const struct dp_values *values, u16 n,
		     struct dp_value_type type)
{
	return (dp_code_is_place(values, n) || dp_place_is_split(values, n)) &&
	       (type.count || dp_code_is_wide(type) ||
		(!type.stars && type.kind == DP_VALUE_STRUCT));
}

/* A struct or an array that is not in memory: its words. Three would be an exception. */
static struct dp_value_type log_split(struct dp_coder *c, u16 n)
{
	u32 words = dp_place_words(c->values, n), bad = 0;
	bool touches = dp_code_touches(c->values, n);

	if (touches)
		bad = dp_code_jump(c, DP_OPCODE_SX);
	if (words == FAULT_ELEMENTS)
		dp_code_push(c, 0);
	dp_place_push_whole(c, n);
	words += words == FAULT_ELEMENTS;
	if (touches)
		dp_code_op(c, DP_OPCODE_UX);
	dp_code_op16(c, DP_OPCODE_LOG_I, (u16)words);
	if (touches)
		log_exception(c, bad);
	c->out->logmax += words * (u32)sizeof(u64) + FAULT_SIZE;
	return dp_code_type(c->values, n);
}

static void log_text(struct dp_coder *c, u16 n, struct dp_value_type type)
{
	u32 len = DP_TRACE_STRING;

	if (type.count && type.count < len && !type.stars)
		len = type.count;
	log_memory(c, n, DP_OPCODE_LOG_STR, len);
}

static void log_item(struct dp_coder *c, const struct dp_value_item *from,
		     size_t place)
{
	struct dp_trace_item *item = &c->out->items[c->out->nr_items++];
	struct dp_printer view;
	u16 n = dp_code_text_view(c->values, from->value, &view);
	const struct dp_value *v = &c->values->v[n];
	struct dp_value_type type = dp_code_type(c->values, n);

	check_depth(c, n);
	name_item(c->values, from, item);
	item->place = (u8)place;
	item->at_return = c->at_return;
	c->out->logmax += DP_ITEM_PREFIX;
	if (dp_place_is_split(c->values, n) && is_whole(c->values, n, type)) {
		item->type = log_split(c, n);
		log_follows(c, n, item);
	} else if (dp_code_is_text(c->values, n)) {
		log_text(c, n, type);
		item->type.kind = DP_VALUE_STRING;
	} else if (v->op == DP_VALUE_SHOWN && v->type.count) {
		item->type = log_array(c, n);
	} else if (is_whole(c->values, n, type)) {
		item->type = type;
		log_whole(c, n, item);
	} else {
		item->type = log_number(c, n);
	}
}

static void log_default(struct dp_coder *c)
{
	struct dp_trace_item *item;
	int i;

	for (i = 0; i < DP_TRACE_ARGS; i++) {
		item = &c->out->items[c->out->nr_items++];
		snprintf(item->name, sizeof(item->name), "arg%d", i);
		item->type.kind = DP_VALUE_UNTYPED;
		item->place = (u8)i;
		dp_code_op16(c, DP_OPCODE_PUSH_R, dp_code_argument_register(i));
		dp_code_op16(c, DP_OPCODE_LOG_I, 1);
		c->out->logmax += DP_ITEM_PREFIX + sizeof(u64);
	}
}

/* Is a parameter, node 0, in memory that can be shown? */
static bool is_shown(const struct dp_values *values)
{
	struct dp_value_type type = dp_code_type(values, 0);

	return !is_whole(values, 0, type) || size_of_whole(type);
}

/* Is it known where a parameter, node 0, or what it stands for, is? */
static bool is_known(const struct dp_values *values,
		     const struct dp_prototype *f)
{
	const struct dp_value *v = &values->v[0];

	if (v->op == DP_VALUE_DEREF)
		v = &values->v[v->left];
	return v->number != ~0ull &&
	       (v->op != DP_VALUE_VARIABLE || dp_place_can_show(v, f));
}

/* All parameters that the function is known to have, where they have names and can be read */
static void log_parameters(struct dp_coder *c, struct dp_values *values)
{
	const struct dp_prototype *f = c->prototype;
	struct dp_value_item item = { 0 };
	struct dp_trace_item *shown;
	u32 i;

	for (i = 0; i < f->n && c->out->nr_items < DP_TRACE_ITEMS; i++) {
		values->nr = 1;
		values->v[0] = (struct dp_value){ 0 };
		dp_code_refer(values, 0, f, i);
		if (!is_shown(values))
			dp_code_parameter(&values->v[0], f, i);
		if (!f->parameters[i].name || !is_known(values, f))
			continue;
		shown = &c->out->items[c->out->nr_items];
		log_item(c, &item, c->out->nr_items);
		snprintf(shown->name, sizeof(shown->name), "%s",
			 f->parameters[i].name);
	}
}

/* All arguments of a tracepoint, or as many as a line has room for */
static void log_arguments(struct dp_coder *c, struct dp_values *values,
			  const struct dp_spec *spec)
{
	const struct dp_scope *scope = c->prototype->scope;
	struct dp_value_item item = { 0 };
	struct dp_trace_item *shown;
	u32 i;

	c->column = spec->point_col;
	for (i = 0; i < scope->n && c->out->nr_items < DP_TRACE_ITEMS; i++) {
		values->nr = 1;
		values->v[0] = (struct dp_value){
			.span = (int)strcspn(spec->text + c->column, " (")
		};
		dp_place_bind(&values->v[0], c->prototype, i, false);
		shown = &c->out->items[c->out->nr_items];
		log_item(c, &item, c->out->nr_items);
		snprintf(shown->name, sizeof(shown->name), "%s",
			 scope->variables[i].name);
	}
}

static bool is_tracepoint(const struct dp_spec *spec)
{
	return spec->prototype && spec->prototype->scope &&
	       spec->prototype->scope->of_tracepoint;
}

/* An empty log makes no record, so the program logs 0 elements; but of a call there is one. */
static void log_end(struct dp_coder *c, const struct dp_spec *spec)
{
	if (!c->out->nr_items && spec->kind != DP_SPEC_RETURN)
		dp_code_op16(c, DP_OPCODE_LOG_I, 0);
	c->out->enters |= c->out->nr_items || spec->kind != DP_SPEC_RETURN;
	c->out->logmax += DP_ITEM_PREFIX;
	if (c->out->logmax > DP_VM_LOG)
		c->out->logmax = DP_VM_LOG;
}

static void bind(struct dp_coder *c, const struct dp_spec *spec,
		 struct dp_values *values)
{
	if (c->err)
		return;
	if (spec->kind == DP_SPEC_RETURN)
		dp_code_bind_returned(values, spec->prototype);
	dp_code_bind(values, spec->prototype);
}

/* Of the entry, or of the return. Return: are there others? */
static bool log_items(struct dp_coder *c, const struct dp_spec *spec,
		      struct dp_values *values)
{
	bool others = false, is;
	u32 i;

	c->column = spec->args_col + 1;
	c->err = c->err ?:
			  dp_value_list(values, spec->args, c->column, c->diag);
	bind(c, spec, values);
	for (i = 0; !c->err && i < values->nr_items; i++) {
		u16 n = values->items[i].value;

		if (take_returned(c, n))
			continue;
		is = dp_code_is_of_return(values, n) == c->at_return;
		others |= !is;
		if (is)
			log_item(c, &values->items[i], i);
	}
	return others;
}

/* Programs */

/** struct test - where a condition's exceptions, and its 0, are to lead; 0: there are none */
struct test {
	u32 fault, fails;
};

#define NONE 0xffff

/* What is left of node @n with the terms of the entry, or of the return, alone. Return: NONE:
 * nothing */
static u16 terms(struct dp_coder *c, struct dp_values *values, u16 n)
{
	struct dp_value *v = &values->v[n];

	if (v->op != DP_VALUE_AND) {
		if (dp_code_is_of_return(values, n) == c->at_return)
			return n;
		c->out->judged |= !c->at_return;
		return NONE;
	}
	v->left = terms(c, values, v->left);
	v->right = terms(c, values, v->right);
	if (v->left == NONE)
		return v->right;
	return v->right == NONE ? v->left : n;
}

static struct test condition(struct dp_coder *c, const struct dp_spec *spec,
			     struct dp_values *values)
{
	struct test t = { 0 };
	u16 n;

	if (!spec->cond)
		return t;
	c->column = spec->cond_col;
	c->err = c->err ?:
			  dp_value_condition(values, spec->cond, c->column,
					     c->diag);
	bind(c, spec, values);
	if (c->err)
		return t;
	n = terms(c, values, values->items[0].value);
	if (n == NONE)
		return t;
	c->out->enters |= !c->at_return;
	check_depth(c, n);
	if (dp_code_touches(values, n))
		t.fault = dp_code_jump(c, DP_OPCODE_SX);
	dp_code_truth(c, n);
	if (t.fault)
		dp_code_op(c, DP_OPCODE_UX);
	t.fails = dp_code_jump(c, DP_OPCODE_JZ);
	return t;
}

static void finish(struct dp_coder *c, struct test t)
{
	dp_code_op(c, DP_OPCODE_EXIT);
	if (!t.fails)
		return;
	dp_code_land(c, t.fails);
	if (t.fault)
		dp_code_land(c, t.fault);
	dp_code_op(c, DP_OPCODE_ABORT);
}

static struct dp_coder begin(const struct dp_spec *spec,
			     struct dp_trace_program *program,
			     struct dp_values *values, struct dp_diag *diag)
{
	memset(program, 0, sizeof(*program));
	return (struct dp_coder){
		.values = values,
		.out = program,
		.diag = diag,
		.prototype = spec->prototype,
		.at_entry = (spec->form == DP_POINT_SYMBOL && !spec->offset &&
			     !spec->bare) ||
			    (spec->prototype && spec->prototype->scope &&
			     spec->prototype->scope->is_entry),
	};
}

static struct test begin_return(struct dp_coder *c, const struct dp_spec *spec,
				struct dp_values *values)
{
	c->at_return = true;
	c->out->leaves = c->out->len + 1;
	return condition(c, spec, values);
}

/* Of the table's functions that set errno where they fail: so many bytes from the thread pointer as a
 * word says. The number 0 in place of its address: it is not known. */
static void log_errno(struct dp_coder *c, const struct dp_prototype *f)
{
	u32 works, unknown, bad;

	dp_code_op16(c, DP_OPCODE_PUSH_R, dp_code_return_register());
	dp_code_extend(c, dp_code_known(f->returns));
	dp_code_push(c, f->failure);
	dp_code_op(c, DP_OPCODE_EQ);
	works = dp_code_jump(c, DP_OPCODE_JZ);
	dp_code_push(c, 0);
	c->out->errno_at = c->out->len - 8;
	unknown = dp_code_jump(c, DP_OPCODE_JZ);
	bad = dp_code_jump(c, DP_OPCODE_SX);
	dp_code_op(c, DP_OPCODE_PUSH_MEM_U64);
	dp_code_op(c, DP_OPCODE_PUSH_TASK);
	dp_code_op(c, DP_OPCODE_ADD);
	dp_code_op(c, DP_OPCODE_PUSH_MEM_U32);
	dp_code_op16(c, DP_OPCODE_LOG_I, 1);
	dp_code_land(c, works);
	dp_code_land(c, unknown);
	dp_code_land(c, bad);
	c->out->logmax += DP_ITEM_PREFIX + sizeof(u64);
}

static bool sets_errno(const struct dp_spec *spec)
{
	const struct dp_prototype *f = spec->table;

	return spec->kind == DP_SPEC_RETURN && f &&
	       f->fails == DP_PROTOTYPE_FAILS_ERRNO &&
	       (f->returns->kind == DP_PROTOTYPE_INT ||
		f->returns->kind == DP_PROTOTYPE_POINTER);
}

static int end(struct dp_coder *c)
{
	if (c->err)
		dp_expr_free(c->out);
	return c->err;
}

/* Ahead of the values */
static void log_stack(struct dp_coder *c)
{
	dp_code_op(c, DP_OPCODE_PUSH_BACKTRACE);
	dp_code_op16(c, DP_OPCODE_LOG_I, 1);
	c->out->logmax += DP_ITEM_PREFIX + sizeof(u64);
	c->out->enters = true;
	c->out->stack = true;
}

int dp_expr_trace(const struct dp_spec *spec, struct dp_trace_program *program,
		  struct dp_diag *diag)
{
	struct dp_values values = { .text = "" };
	struct dp_coder c = begin(spec, program, &values, diag);
	struct test t = condition(&c, spec, &values);
	bool leaves = program->judged || sets_errno(spec);

	if (spec->stack)
		log_stack(&c);
	if (spec->args)
		leaves |= log_items(&c, spec, &values);
	else if (is_tracepoint(spec))
		log_arguments(&c, &values, spec);
	else if (spec->prototype)
		log_parameters(&c, &values);
	else if (spec->form != DP_POINT_LINE &&
		 spec->form != DP_POINT_TRACEPOINT && !spec->bare)
		log_default(&c);
	log_end(&c, spec);
	finish(&c, t);
	if (leaves && !c.err) {
		t = begin_return(&c, spec, &values);
		if (spec->args)
			log_items(&c, spec, &values);
		if (sets_errno(spec))
			log_errno(&c, spec->table);
		if (program->logmax > DP_VM_LOG)
			program->logmax = DP_VM_LOG;
		finish(&c, t);
	}
	return end(&c);
}

int dp_expr_count(const struct dp_spec *spec, struct dp_trace_program *program,
		  struct dp_diag *diag)
{
	struct dp_values values;
	struct dp_coder c = begin(spec, program, &values, diag);
	struct test t = condition(&c, spec, &values);

	if (program->judged && !c.err) {
		finish(&c, t);
		t = begin_return(&c, spec, &values);
	} else {
		program->enters = true;
	}
	dp_code_op16(&c, DP_OPCODE_INC_LV_I, 0);
	finish(&c, t);
	return end(&c);
}

/* At a return, what the entry has logged is there, and so are facts of the thread. */
int dp_expr_aggregate(const struct dp_spec *spec,
		      struct dp_trace_program *program, struct dp_diag *diag)
{
	struct dp_values conditions = { .text = "" }, values = { .text = "" };
	struct dp_coder c = begin(spec, program, &conditions, diag);
	struct dp_aggregates aggs = { .n = 0 };
	bool returns = spec->kind == DP_SPEC_RETURN;
	struct test t = condition(&c, spec, &conditions);

	c.values = &values;
	c.column = spec->aggs_col + 1;
	c.err = c.err ?:
			dp_value_aggregates(&values, &aggs, spec->aggs,
					    c.column, c.diag);
	bind(&c, spec, &values);
	if (returns && !c.err) {
		program->judged = true;
		program->enters |= dp_code_aggregate_enter(&c, &aggs);
		finish(&c, t);
		c.values = &conditions;
		t = begin_return(&c, spec, &conditions);
		c.values = &values;
		c.column = spec->aggs_col + 1;
	} else {
		program->enters = true;
	}
	if (!c.err)
		dp_code_aggregate(&c, &aggs);
	finish(&c, t);
	return end(&c);
}

int dp_expr_inject(const struct dp_spec *spec, const struct dp_injection *how,
		   struct dp_trace_program *program, struct dp_diag *diag)
{
	struct dp_values conditions = { .text = "" }, values = { .text = "" };
	struct dp_coder c = begin(spec, program, &conditions, diag);
	struct test t = condition(&c, spec, &conditions);

	program->enters = true;
	c.values = &values;
	c.column = spec->args_col + 1;
	c.err = c.err ?: dp_value_list(&values, spec->args, c.column, c.diag);
	bind(&c, spec, &values);
	if (!c.err)
		dp_code_inject(&c, how);
	finish(&c, t);
	return end(&c);
}

static bool is_truth(const struct dp_value *v)
{
	return v->op == DP_VALUE_NOT ||
	       (v->op >= DP_VALUE_OR && v->op <= DP_VALUE_LIKE);
}

/* At a return the registers are no longer those of the entry. */
static void check_time(struct dp_coder *c, u16 n)
{
	if (dp_code_is_of_return(c->values, n) == c->at_return)
		return;
	dp_code_bad(
		c, &c->values->v[n], -EINVAL,
		c->at_return ?
			"this is known at the entry, and the probe is at the return" :
			"this is known at the return; give the probe retprobe = yes");
}

int dp_expr_push(const struct dp_spec *spec, const char *text, bool at_return,
		 struct dp_trace_program *program, struct dp_diag *diag)
{
	struct dp_values values = { .text = "" };
	struct dp_coder c = begin(spec, program, &values, diag);
	u16 n;

	c.at_return = at_return;
	c.err = dp_value_condition(&values, text, 0, diag);
	bind(&c, spec, &values);
	if (!c.err) {
		n = values.items[0].value;
		check_time(&c, n);
		check_depth(&c, n);
		if (is_truth(&values.v[n]))
			dp_code_truth(&c, n);
		else
			dp_code_value(&c, n);
	}
	dp_code_op(&c, DP_OPCODE_RET);
	return end(&c);
}

void dp_expr_free(struct dp_trace_program *program)
{
	free(program->code);
	program->code = NULL;
}
