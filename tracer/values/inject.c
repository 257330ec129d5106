// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * inject: the code that gives a call another result, or other arguments.
 *
 *   turn of all threads, logged ─► is it this call's? ─► values, logged ─► errno ─► register ─► leave
 *        │ no slot                     │ no                 │ memory is not there
 *        ▼                             ▼                    ▼
 *      failed                        abort                failed
 *
 * A number is drawn by a counter: the turn of the thread, mixed with the seed (the finalizer of
 * splitmix64). So what a thread gets depends on its own calls alone, however threads take turns.
 */
#include "tracer/values/code.h"
#include "tracer/values/place.h"
#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "sym/places.h"
#include "sym/prototypes.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ALL_THREADS 0xffffffffull
#define GOLDEN 0x9e3779b97f4a7c15ull
#define NOWHERE (-1)

static void fold(struct dp_coder *c, u8 by)
{
	dp_code_op8(c, DP_OPCODE_DUP_I, 1);
	dp_code_op8(c, DP_OPCODE_SHR_I, by);
	dp_code_op(c, DP_OPCODE_XOR);
}

static void push_and(struct dp_coder *c, u64 n, u8 op)
{
	dp_code_push(c, n);
	dp_code_op(c, op);
}

/* ( turn -- drawn ) */
static void draw(struct dp_coder *c, u64 seed)
{
	push_and(c, 1, DP_OPCODE_ADD);
	push_and(c, GOLDEN, DP_OPCODE_MUL);
	push_and(c, seed, DP_OPCODE_ADD);
	fold(c, 30);
	push_and(c, 0xbf58476d1ce4e5b9ull, DP_OPCODE_MUL);
	fold(c, 27);
	push_and(c, 0x94d049bb133111ebull, DP_OPCODE_MUL);
	fold(c, 31);
}

/* ( n -- n ) Return: the jump of a call that is let alone; 0: there is none */
static u32 decide(struct dp_coder *c, const struct dp_injection *how)
{
	u8 op = DP_OPCODE_JZ;
	u32 no;

	switch (how->when) {
	case DP_INJECT_NTH:
		dp_code_op8(c, DP_OPCODE_DUP_I, 1);
		push_and(c, how->n - 1, DP_OPCODE_EQ);
		break;
	case DP_INJECT_EVERY:
		dp_code_op8(c, DP_OPCODE_DUP_I, 1);
		push_and(c, 1, DP_OPCODE_ADD);
		push_and(c, how->n, DP_OPCODE_DIV);
		dp_code_op8(c, DP_OPCODE_ROS, 1);
		op = DP_OPCODE_JNZ;
		break;
	case DP_INJECT_DRAWN:
		dp_code_op(c, DP_OPCODE_PUSH_TID);
		dp_code_op16(c, DP_OPCODE_TURN, DP_INJECT_TURNS);
		draw(c, how->seed);
		push_and(c, how->below, DP_OPCODE_LTU);
		break;
	default:
		return 0;
	}
	no = dp_code_jump(c, op);
	dp_code_op8(c, DP_OPCODE_ROS, 1);
	return no;
}

static void log_top(struct dp_coder *c)
{
	dp_code_op8(c, DP_OPCODE_DUP_I, 1);
	dp_code_op16(c, DP_OPCODE_LOG_I, 1);
	c->out->logmax += 3 + sizeof(u64);
}

/* A register of an argument by its number in DWARF */
static int register_of(u64 number)
{
	int i;

	for (i = 0; i < DP_TRACE_ARGS; i++)
		if (dp_abi_general[i] == number)
			return dp_code_argument_register(i);
	return NOWHERE;
}

/* Where the parameter of that name is */
static int find_parameter(struct dp_coder *c, const struct dp_value *v,
			  const char *name, int len)
{
	const struct dp_prototype *f = c->prototype;
	struct dp_place place;
	u32 i = 0;

	while (f && i < f->n &&
	       !(f->parameters[i].name &&
		 strlen(f->parameters[i].name) == (size_t)len &&
		 !memcmp(f->parameters[i].name, name, (size_t)len)))
		i++;
	if (!f || i == f->n) {
		dp_code_bad(
			c, v, -EINVAL,
			"\"%.*s\" is no argument that is known: arg0 to arg5 are those in registers",
			len, name);
		return NOWHERE;
	}
	if (dp_abi_place(f, i, &place) && place.n == 1 &&
	    place.pieces[0].kind == DP_PIECE_VALUE && place.pieces[0].n == 1 &&
	    place.pieces[0].steps[0].op == DP_STEP_REGISTER)
		return register_of(place.pieces[0].steps[0].n);
	dp_code_bad(
		c, v, -EOPNOTSUPP,
		"%.*s is a floating-point number, a struct, or on the stack; only integers and pointers in registers can be changed",
		len, name);
	return NOWHERE;
}

static int target(struct dp_coder *c, const struct dp_value_item *item)
{
	const struct dp_value *v = &c->values->v[item->value];
	const char *name = c->values->text + item->at;
	const char *behind = name + item->span;
	int n = dp_code_find_argument(name, item->span);

	if (behind[strspn(behind, " \t")] != '=') {
		dp_code_bad(c, v, -EINVAL,
			    "which argument is this for? Write arg0 = VALUE");
		return NOWHERE;
	}
	if (n >= DP_TRACE_ARGS)
		dp_code_bad(
			c, v, -EOPNOTSUPP,
			"only the arguments in registers, arg0 to arg5, can be changed");
	else if (n >= 0)
		return dp_code_argument_register(n);
	else
		return find_parameter(c, v, name, item->span);
	return NOWHERE;
}

/* A number for a general register */
static void push_value(struct dp_coder *c, u16 n)
{
	const struct dp_value *v = &c->values->v[n];

	if (v->op == DP_VALUE_TEXT || dp_code_is_text(c->values, n))
		dp_code_bad(
			c, v, -EOPNOTSUPP,
			"a text has no address in the program; write a number");
	else if (dp_code_real_bits(c->values, n))
		dp_code_bad(
			c, v, -EOPNOTSUPP,
			"floating-point numbers are passed in vector registers, which cannot be changed; write an integer");
	else
		dp_code_value(c, n);
}

/* How many values there are, each of them logged and on the stack */
static void push_values(struct dp_coder *c, const struct dp_injection *how,
			int *regs)
{
	const struct dp_values *values = c->values;
	struct dp_trace_item *item;
	u32 i;

	if (values->nr_items != 1 && how->replaces)
		dp_code_bad(c, &values->v[0], -EINVAL,
			    "a function returns one value");
	for (i = 0; i < values->nr_items && !c->err; i++) {
		item = &c->out->items[c->out->nr_items++];
		snprintf(item->name, sizeof(item->name), "%.*s",
			 values->items[i].span,
			 values->text + values->items[i].at);
		regs[i] = how->replaces ? dp_code_return_register() :
					  target(c, &values->items[i]);
		push_value(c, values->items[i].value);
		log_top(c);
	}
}

/* As for log_errno() of expr.c, the word is filled in for each process, see dp_session_bind().
 * @fail: jumps of what cannot be done */
static void set_errno(struct dp_coder *c, u32 err, u32 fail[2])
{
	dp_code_push(c, 0);
	c->out->errno_at = c->out->len - 8;
	fail[0] = dp_code_jump(c, DP_OPCODE_JZ);
	fail[1] = dp_code_jump(c, DP_OPCODE_SX);
	dp_code_op(c, DP_OPCODE_PUSH_MEM_U64);
	dp_code_op(c, DP_OPCODE_PUSH_TASK);
	dp_code_op(c, DP_OPCODE_ADD);
	push_and(c, err, DP_OPCODE_POP_MEM_U32);
	dp_code_op(c, DP_OPCODE_UX);
	c->out->allow |= DP_ALLOW_WRITE;
}

void dp_code_inject(struct dp_coder *c, const struct dp_injection *how)
{
	u32 fails = dp_code_jump(c, DP_OPCODE_SX), no, errno_fails[2] = { 0 };
	int regs[DP_TRACE_ITEMS];
	u32 i;

	c->out->allow |= DP_ALLOW_REG;
	dp_code_push(c, ALL_THREADS);
	dp_code_op16(c, DP_OPCODE_TURN, DP_INJECT_TURNS);
	log_top(c);
	no = decide(c, how);
	push_values(c, how, regs);
	dp_code_op(c, DP_OPCODE_UX);
	if (how->sets_errno)
		set_errno(c, how->err, errno_fails);
	dp_code_op16(c, DP_OPCODE_INC_LV_I, DP_INJECT_DONE);
	for (i = c->values->nr_items; i-- > 0 && !c->err;)
		dp_code_op16(c, DP_OPCODE_POP_R, (u16)regs[i]);
	dp_code_op(c, how->replaces ? DP_OPCODE_LEAVE : DP_OPCODE_EXIT);
	dp_code_land(c, fails);
	for (i = 0; i < 2 && how->sets_errno; i++)
		dp_code_land(c, errno_fails[i]);
	dp_code_op16(c, DP_OPCODE_INC_LV_I, DP_INJECT_FAILED);
	if (no)
		dp_code_land(c, no);
	dp_code_op(c, DP_OPCODE_ABORT);
}
