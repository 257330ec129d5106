// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * aggregate: instructions that keep a hit in a table.
 *
 *   entry of a call   words of what the return needs of it ─► its log
 *   hit, or return    words of the keys, values ─► table
 *                     an exception: the hit is lost, and counted there
 *
 * At a return, what the entry has logged comes from there.
 */
#include "tracer/values/code.h"
#include "tracer/values/place.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WORD 8
#define COMM_WORDS 2
#define LOG_PREFIX DP_ITEM_PREFIX

static const struct dp_value_type text = { .kind = DP_VALUE_STRING };
static const struct dp_value_type stack = { .kind = DP_VALUE_STACK,
					    .bits = 32 };

/** struct keeping - words that the entry has logged: @logged of @all */
struct keeping {
	struct dp_coder *c;
	u32 logged, all;
};

static bool is_comm(const struct dp_values *values, const struct dp_value *v)
{
	return v->op == DP_VALUE_NAME && (dp_value_is(values, v, "comm") ||
					  dp_value_is(values, v, "$comm"));
}

static bool is_stack(const struct dp_values *values, const struct dp_value *v)
{
	return v->op == DP_VALUE_NAME && dp_value_is(values, v, "stack");
}

/* What is the same at the return */
static bool is_fact(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = &values->v[n];

	if (v->op == DP_VALUE_SHOWN)
		v = &values->v[v->left];
	return v->op == DP_VALUE_NUMBER || is_comm(values, v) ||
	       (v->op == DP_VALUE_NAME && (dp_value_is(values, v, "pid") ||
					   dp_value_is(values, v, "tid") ||
					   dp_value_is(values, v, "cpu")));
}

/* Has the entry of a call to log it, because the hit is its return? */
static bool is_entered(const struct dp_coder *c, u16 n)
{
	return c->out->judged && !dp_code_is_of_return(c->values, n) &&
	       !is_fact(c->values, n);
}

static bool touches(const struct dp_coder *c, u16 n)
{
	return is_comm(c->values, &c->values->v[n]) ||
	       dp_code_is_text(c->values, n) || dp_code_touches(c->values, n);
}

static u32 text_words(const struct dp_coder *c, u16 n)
{
	struct dp_value_type type = dp_code_type(c->values, n);
	u32 words = (type.count + WORD - 1u) / WORD;

	return type.count && !type.stars && words < DP_VM_TEXT_WORDS ?
		       words :
		       DP_VM_TEXT_WORDS;
}

static struct dp_value_type push_text(struct dp_coder *c, u16 n, u32 *words)
{
	*words = text_words(c, n);
	dp_code_text(c, n);
	dp_code_text_length(c, &c->values->v[n], *words * WORD);
	dp_code_op16(c, DP_OPCODE_PUSH_STR, (u16)*words);
	return text;
}

/* Facts have a place of their own, because arguments and registers are another call's by then. */
static struct dp_value_type push_fact(struct dp_coder *c, u16 n)
{
	bool at_return = c->at_return;
	struct dp_value_type type;

	c->at_return = false;
	type = dp_code_value(c, n);
	c->at_return = at_return;
	return type;
}

static bool is_too_wide(const struct dp_coder *c, u16 n)
{
	struct dp_value_type type = dp_code_type(c->values, n);

	return c->values->v[n].op != DP_VALUE_SHOWN &&
	       (dp_code_is_place(c->values, n) ||
		dp_place_is_split(c->values, n)) &&
	       (type.count || dp_code_is_wide(type) ||
		(!type.stars && type.kind == DP_VALUE_STRUCT));
}

/* A key, or a value that is one word. @words: how many it is */
static struct dp_value_type push(struct dp_coder *c, u16 node, u32 *words)
{
	struct dp_printer view;
	u16 n = dp_code_text_view(c->values, node, &view);
	const struct dp_value *v = &c->values->v[n];

	*words = 1;
	if (is_comm(c->values, v)) {
		*words = COMM_WORDS;
		dp_code_op(c, DP_OPCODE_PUSH_COMM);
		return text;
	}
	if (is_stack(c->values, v)) {
		dp_code_op(c, DP_OPCODE_PUSH_BACKTRACE);
		c->out->stack = true;
		return stack;
	}
	if (dp_code_is_text(c->values, n))
		return push_text(c, n, words);
	if (is_too_wide(c, n)) {
		dp_code_bad(
			c, v, -EINVAL,
			"this is more than a number or a string: name a member, or an element");
		return DP_CODE_UNTYPED;
	}
	return is_fact(c->values, n) ? push_fact(c, n) : dp_code_value(c, n);
}

static u32 count_words(const struct dp_coder *c, u16 node)
{
	struct dp_printer view;
	u16 n = dp_code_text_view(c->values, node, &view);

	return is_comm(c->values, &c->values->v[n]) ? COMM_WORDS :
	       dp_code_is_text(c->values, n)	    ? text_words(c, n) :
						      1;
}

static bool has_value(const struct dp_aggregate *a)
{
	return a->op != DP_AGGREGATE_COUNT;
}

/* The value, or key, number @i of all; the keys come first. Return: false: there is no more */
static bool node_at(const struct dp_coder *c, const struct dp_aggregates *aggs,
		    u32 i, u16 *node)
{
	u32 k;

	if (i < c->values->nr_items) {
		*node = c->values->items[i].value;
		return true;
	}
	i -= c->values->nr_items;
	for (k = 0; k < aggs->n; k++)
		if (has_value(&aggs->v[k]) && !i--) {
			*node = aggs->v[k].value;
			return true;
		}
	return false;
}

static bool any_touches(const struct dp_coder *c,
			const struct dp_aggregates *aggs, bool entered)
{
	bool any = false;
	u16 node;
	u32 i;

	for (i = 0; node_at(c, aggs, i, &node); i++)
		any |= is_entered(c, node) == entered && touches(c, node);
	return any;
}

/* Words that an entry logs */
static u32 entered_words(const struct dp_coder *c,
			 const struct dp_aggregates *aggs)
{
	u32 i, words = 0;
	u16 node;

	for (i = 0; node_at(c, aggs, i, &node); i++)
		if (is_entered(c, node))
			words += count_words(c, node);
	return words;
}

/* An exception logs nothing, so that the return does not find it. */
bool dp_code_aggregate_enter(struct dp_coder *c,
			     const struct dp_aggregates *aggs)
{
	u32 all = entered_words(c, aggs), bad = 0, i, words;
	bool may = any_touches(c, aggs, true);
	u16 node;

	if (!all)
		return false;
	if (may)
		bad = dp_code_jump(c, DP_OPCODE_SX);
	for (i = 0; node_at(c, aggs, i, &node); i++)
		if (is_entered(c, node))
			push(c, node, &words);
	if (may)
		dp_code_op(c, DP_OPCODE_UX);
	dp_code_op16(c, DP_OPCODE_LOG_I, (u16)all);
	if (may)
		dp_code_land(c, bad);
	c->out->logmax = LOG_PREFIX + all * WORD;
	return true;
}

/* An entry's words are in its log from the last one to the first. */
static struct dp_value_type push_entered(struct keeping *k, u16 node,
					 u32 *words)
{
	struct dp_coder mute = *k->c;
	struct dp_trace_program none = { 0 };
	struct dp_value_type type;
	u32 i;

	/* For its type alone. What is wrong with it has been said at the entry. */
	mute.at_return = false;
	mute.out = &none;
	type = push(&mute, node, words);
	dp_expr_free(&none);
	for (i = 0; i < *words; i++)
		dp_code_op16(
			k->c, DP_OPCODE_PUSH_ENTERED,
			(u16)(LOG_PREFIX + WORD * (k->all - 1 - k->logged++)));
	return type;
}

static struct dp_value_type push_any(struct keeping *k, u16 node, u32 *words)
{
	return k->c->at_return && is_entered(k->c, node) ?
		       push_entered(k, node, words) :
		       push(k->c, node, words);
}

static void name(const struct dp_coder *c, char *to, size_t size, int at,
		 int span)
{
	int most = (int)size - 4;

	snprintf(to, size, "%.*s%s", span < most ? span : most,
		 c->values->text + at, span < most ? "" : "...");
}

static void keep_key(struct keeping *k, u32 i)
{
	const struct dp_value_item *from = &k->c->values->items[i];
	struct dp_trace_program *o = k->c->out;
	struct dp_trace_item *item = &o->items[o->nr_items++];
	u32 words;

	item->type = push_any(k, from->value, &words);
	item->words = (u8)words;
	name(k->c, item->name, sizeof(item->name), from->at, from->span);
	o->shape.keys += words;
	if (o->shape.keys > DP_AGGREGATE_KEYS)
		dp_code_bad(
			k->c, &k->c->values->v[from->value], -EINVAL,
			"keys have 160 bytes at most, and a string takes 64 of them: give fewer");
}

static const u8 kinds[] = {
	[DP_AGGREGATE_SUM] = DP_FIELD_SUM,
	[DP_AGGREGATE_AVG] = DP_FIELD_SUM,
	[DP_AGGREGATE_MIN] = DP_FIELD_MIN,
	[DP_AGGREGATE_MAX] = DP_FIELD_MAX,
	[DP_AGGREGATE_HIST] = DP_FIELD_HIST,
	[DP_AGGREGATE_LHIST] = DP_FIELD_LHIST,
	[DP_AGGREGATE_FIRST] = DP_FIELD_FIRST,
	[DP_AGGREGATE_LAST] = DP_FIELD_LAST,
	[DP_AGGREGATE_DISTINCT] = DP_FIELD_SET,
};

/* What is computed with has to be a number, and one that integers can hold */
static void check_value(struct dp_coder *c, const struct dp_value *v, u8 op,
			struct dp_value_type type, u32 words)
{
	bool order = op != DP_AGGREGATE_FIRST && op != DP_AGGREGATE_LAST &&
		     op != DP_AGGREGATE_DISTINCT;

	if (words != 1)
		dp_code_bad(c, v, -EINVAL,
			    "a string is no number: it can be a key, by …");
	else if (type.kind == DP_VALUE_STACK)
		dp_code_bad(c, v, -EINVAL,
			    "a stack is no number: it can be a key, by stack");
	else if (order && type.kind == DP_VALUE_FLOAT && !type.stars)
		dp_code_bad(
			c, v, -EINVAL,
			"floating-point numbers are shown and compared; nothing is computed with them");
}

static void keep_value(struct keeping *k, const struct dp_aggregate *a)
{
	struct dp_trace_program *o = k->c->out;
	struct dp_trace_kept *kept = &o->kept[o->nr_kept++];
	const struct dp_value *v = &k->c->values->v[a->value];
	struct dp_aggregate_field *f;
	u32 words;

	kept->op = a->op;
	name(k->c, kept->name, sizeof(kept->name), a->at, a->span);
	if (!has_value(a))
		return;
	kept->type = push_any(k, a->value, &words);
	check_value(k->c, v, a->op, kept->type, words);
	kept->time = v->op == DP_VALUE_RETVAL &&
		     !dp_code_is_retval(k->c->values, v);
	kept->field = (u8)o->shape.nr;
	f = &o->shape.fields[o->shape.nr++];
	*f = (struct dp_aggregate_field){
		.kind = kinds[a->op],
		.sign = dp_value_has_sign(kept->type),
		.low = a->low,
		.high = a->high,
		.step = (u64)a->step,
	};
	/* Of a value that says nothing of its sign, the bounds do. */
	f->sign |= kept->type.kind == DP_VALUE_UNTYPED && a->low < 0;
}

static void put_keep(struct dp_coder *c, u16 how)
{
	struct dp_trace_program *o = c->out;
	u32 words = o->shape.keys + o->shape.nr;

	dp_code_op16(c, DP_OPCODE_AGGREGATE,
		     (u16)(how | words << DP_AGGREGATE_SHIFT));
	if (o->nr_keeps < DP_TRACE_KEEPS)
		o->keep_at[o->nr_keeps++] = o->len - 2;
}

void dp_code_aggregate(struct dp_coder *c, const struct dp_aggregates *aggs)
{
	struct keeping k = { .c = c, .all = entered_words(c, aggs) };
	bool may = any_touches(c, aggs, false) || (c->at_return && k.all);
	u32 bad = 0, done, i;

	if (may)
		bad = dp_code_jump(c, DP_OPCODE_SX);
	for (i = 0; i < c->values->nr_items && !c->err; i++)
		keep_key(&k, i);
	for (i = 0; i < aggs->n && !c->err; i++)
		keep_value(&k, &aggs->v[i]);
	if (may)
		dp_code_op(c, DP_OPCODE_UX);
	put_keep(c, 0);
	if (!may)
		return;
	done = dp_code_jump(c, DP_OPCODE_JMP);
	dp_code_land(c, bad);
	put_keep(c, DP_AGGREGATE_LOSES);
	dp_code_land(c, done);
}
