// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * walk: follow a program along all its ways, with values in place of elements.
 *
 * All that decides where an element is, the tops and bases of stacks, is known: where it would
 * come of a register or of memory, the program is left. Each way has blocks of its own, so no
 * two ways ever meet.
 */
#include "engine/vm/decode.h"
#include "engine/vm/native/value.h"
#include "engine/vm/native/walk.h"
#include "port.h"

/* Instructions, on all ways together */
#define STEPS 2048
/* that are still to be followed: each has needed two blocks */
#define WAYS (DP_NATIVE_BLOCKS / 2 + 1)

u8 dp_walk_peek(const struct dp_walk *w, u64 index)
{
	return w->s->stack[index & w->limits->stack_mask];
}

void dp_walk_poke(struct dp_walk *w, u64 index, u8 value)
{
	if (value == DP_NATIVE_NO_VALUE)
		w->end = DP_NATIVE_LEAVE;
	w->s->stack[index & w->limits->stack_mask] = value;
}

void dp_walk_push(struct dp_walk *w, u8 value)
{
	w->s->tos = (w->s->tos - 1) & w->limits->stack_mask;
	dp_walk_poke(w, w->s->tos, value);
}

u8 dp_walk_pop(struct dp_walk *w)
{
	u8 value = dp_walk_peek(w, w->s->tos);

	w->s->tos = (w->s->tos + 1) & w->limits->stack_mask;
	return value;
}

bool dp_walk_known(struct dp_walk *w, u8 value, u64 *imm)
{
	if (dp_value_is_const(w->n, value, imm))
		return true;
	w->end = DP_NATIVE_LEAVE;
	return false;
}

/* Is it a local variable whose number is on the stack? */
static bool is_indexed(u8 op)
{
	switch (op) {
	case DP_OPCODE_PUSH_LV:
	case DP_OPCODE_POP_LV:
	case DP_OPCODE_MOVE_LV:
	case DP_OPCODE_INC_LV:
	case DP_OPCODE_DEC_LV:
	case DP_OPCODE_LOG_LV:
		return true;
	default:
		return false;
	}
}

/* Only an inc of a variable that nothing else in the program uses can be made per CPU: no
 * execution sees what the sum is. */
static bool is_additive(const struct dp_walk *w, u64 variable)
{
	u32 at, next;
	u64 arg;

	if (w->limits->shared)
		return false;
	for (at = 0; at < w->len; at = next) {
		u8 op = w->code[at];

		next = dp_op_decode(w->code, at, &arg);
		if (is_indexed(op) ||
		    (dp_op_operand(op) == DP_OPERAND_LV && arg == variable &&
		     op != DP_OPCODE_INC_LV_I))
			return false;
	}
	return true;
}

/* One variable, once on each way: that can be counted as a hit is. */
static void increment(struct dp_walk *w, u64 variable)
{
	struct dp_native *n = w->n;

	if (w->s->met ||
	    (n->variable != DP_NATIVE_NONE && n->variable != variable) ||
	    !is_additive(w, variable)) {
		w->end = DP_NATIVE_LEAVE;
		return;
	}
	n->variable = (u16)variable;
	w->s->met = true;
}

/* Does the program end here? */
static bool ends(const struct dp_walk *w)
{
	u32 at = w->s->pc;
	u64 arg;

	if (w->code[at] == DP_OPCODE_JMP) {
		dp_op_decode(w->code, at, &arg);
		at = (u32)arg;
	}
	return w->code[at] == DP_OPCODE_EXIT;
}

/* Return: false: there are too many, or the words are not all of a string. */
static bool note_texts(const struct dp_walk *w, struct dp_native_record *r,
		       u32 words)
{
	const struct dp_native_value *v;
	u32 i, k, n = 0, left = 0;

	r->texts = 0;
	for (i = 0; i<words; i++, left -= left> 0) {
		if (r->values[i] == DP_NATIVE_NO_VALUE)
			return false;
		v = &w->n->values[r->values[i]];
		k = v->op == DP_NATIVE_TEXT;
		if (left ? v->op != DP_NATIVE_REST :
			   v->op == DP_NATIVE_REST ||
				    (k && n == DP_NATIVE_TEXTS))
			return false;
		if (!k)
			continue;
		r->texts |= dp_native_text(n++, (u8)i, v->size);
		left = v->size;
	}
	return !left;
}

/* The last thing that a program does */
static void keep(struct dp_walk *w, u64 arg)
{
	struct dp_native_record *r = &w->s->record;
	struct dp_native *n = w->n;
	u32 words = arg >> DP_AGGREGATE_SHIFT & DP_AGGREGATE_COUNT_MASK, i;

	w->end = DP_NATIVE_LEAVE;
	if (arg & DP_AGGREGATE_LOSES || words > DP_NATIVE_ELEMENTS ||
	    r->nr_items || w->s->met || n->nr_records == DP_NATIVE_RECORDS ||
	    !ends(w))
		return;
	for (i = 0; i < words; i++)
		r->values[i] = dp_walk_peek(w, w->s->tos + words - 1 - i);
	if (!note_texts(w, r, words))
		return;
	r->nr_values = (u8)words;
	r->table = (u8)(1 + (arg & DP_AGGREGATE_TABLE));
	n->blocks[w->s->block].record = n->nr_records;
	n->records[n->nr_records++] = *r;
	w->end = DP_NATIVE_RECORD;
}

static void other(struct dp_walk *w, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_NOP:
	case DP_OPCODE_SX: /* an exception is raised by the interpreter */
	case DP_OPCODE_UX:
		break;
	case DP_OPCODE_INC_LV_I:
		increment(w, arg);
		break;
	case DP_OPCODE_AGGREGATE:
		keep(w, arg);
		break;
	case DP_OPCODE_EXIT:
	case DP_OPCODE_ABORT:
		dp_walk_end(w, op == DP_OPCODE_EXIT);
		break;
	default:
		w->end = DP_NATIVE_LEAVE;
		break;
	}
}

static void step(struct dp_walk *w)
{
	u64 arg;
	u8 op = w->code[w->s->pc];

	w->s->pc = dp_op_decode(w->code, w->s->pc, &arg);
	if (++w->steps > STEPS || w->steps == w->limits->leave)
		w->end = DP_NATIVE_LEAVE;
	else if (!dp_walk_flow(w, op, arg) && !dp_walk_stack(w, op, arg) &&
		 !dp_walk_math(w, op, arg) && !dp_walk_data(w, op, arg) &&
		 !dp_walk_log(w, op, arg))
		other(w, op, arg);
}

static void block(struct dp_walk *w)
{
	struct dp_native_block *b = &w->n->blocks[w->s->block];

	b->first = w->n->nr_values;
	w->end = DP_WALK_GOES_ON;
	while (w->end == DP_WALK_GOES_ON && !w->s->leaves)
		step(w);
	if (w->end == DP_WALK_GOES_ON)
		w->end = DP_NATIVE_LEAVE;
	b->end = (u8)w->end;
	b->last = w->n->nr_values;
}

void dp_walk_jump(struct dp_walk *w, u64 target)
{
	if (w->s->jumps++ == w->limits->jmpmax)
		w->s->leaves = true;
	w->s->pc = (u32)target;
}

void dp_walk_test(struct dp_walk *w, u8 value, bool truth, u64 target,
		  bool counts)
{
	struct dp_native *n = w->n;
	struct dp_native_block *b = &n->blocks[w->s->block];
	struct dp_walk_state *on = w->s + 1;
	u64 imm;

	if (dp_value_is_const(n, value, &imm)) {
		if (!imm != truth)
			dp_walk_jump(w, target);
		else
			w->s->jumps += counts;
		return;
	}
	if (value == DP_NATIVE_NO_VALUE ||
	    n->nr_blocks + 2 > DP_NATIVE_BLOCKS) {
		w->end = DP_NATIVE_LEAVE;
		return;
	}
	*on = *w->s;
	on->jumps += counts;
	b->test = value;
	w->s->block = n->nr_blocks++;
	on->block = n->nr_blocks++;
	b->yes = truth ? w->s->block : on->block;
	b->no = truth ? on->block : w->s->block;
	dp_walk_jump(w, target);
	w->end = DP_NATIVE_TEST;
}

static void walk(struct dp_walk *w, struct dp_walk_state *states, u32 start)
{
	w->n->nr_blocks = 1;
	w->s = states;
	w->s->pc = start;
	w->s->record.major = w->s->record.minor = DP_NATIVE_UNSET;
	/* The stack begins with zeros. */
	dp_value_const(w->n, 0);
	while (w->s >= states) {
		block(w);
		/* Two ways, or none that has not been followed. */
		w->s += w->end == DP_NATIVE_TEST ? 1 : -1;
	}
}

/* Whether such a program runs at all is known to the interpreter alone. */
static bool ends_itself(const u8 *code, u32 len)
{
	u32 at;
	u64 arg;

	for (at = 0; at < len; at = dp_op_decode(code, at, &arg))
		if (code[at] == DP_OPCODE_REMOVE ||
		    code[at] == DP_OPCODE_SUSPEND)
			return true;
	return false;
}

int dp_native_walk(const u8 *code, u32 len, u32 start,
		   const struct dp_native_limits *limits,
		   struct dp_native *native)
{
	struct dp_walk w = {
		.code = code, .len = len, .limits = limits, .n = native
	};
	struct dp_walk_state *states;

	if (ends_itself(code, len))
		return -EOPNOTSUPP;
	states = dp_port_alloc(WAYS * sizeof(*states));
	if (!states)
		return -ENOMEM;
	*native = (struct dp_native){ .variable = DP_NATIVE_NONE };
	walk(&w, states, start);
	dp_port_free(states);
	return native->blocks[0].end == DP_NATIVE_LEAVE ? -EOPNOTSUPP : 0;
}
