// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * condition: the condition of a watchpoint, compiled to what the kernel runs at a hit.
 *
 * Each node of the tree leaves 64 bits in the frame, at its depth. A value of fewer bits is
 * extended by its sign, if it has one. A test leaves 0 or 1, and nothing can fault, so that
 * && and || are the bitwise operations.
 */
#include "lang/value.h"
#include "resolve/points.h"
#include "tracer/watchpoint/code.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>

struct compiler {
	struct dp_watch_code *code;
	const struct dp_values *values;
	const struct dp_spec *spec;
	struct dp_diag *diag;
	u8 len;
	int err;
};

/* What a node's bits mean; @literal: it is a number that is written there */
struct meaning {
	bool has_sign, literal;
};

static struct meaning compile(struct compiler *c, u16 n, u32 depth);

static struct meaning bad(struct compiler *c, const struct dp_value *v, int err,
			  const char *why)
{
	if (c->err)
		return (struct meaning){ 0 };
	c->err = dp_diag_set(c->diag, err, "%s", why);
	dp_diag_caret(c->diag, c->spec->cond_col + v->at, v->span);
	return (struct meaning){ 0 };
}

static const struct dp_value *at(const struct compiler *c, u16 n)
{
	return &c->values->v[n];
}

static void save(struct compiler *c, u32 depth, u8 from)
{
	dp_watch_store(c->code, BPF_DW, DP_WATCH_VALUE(depth), from);
}

static void fetch(struct compiler *c, u8 to, u32 depth)
{
	dp_watch_load(c->code, BPF_DW, to, BPF_REG_10, DP_WATCH_VALUE(depth));
}

static struct meaning number(struct compiler *c, const struct dp_value *v,
			     u32 depth)
{
	dp_watch_wide(c->code, BPF_REG_1, 0, v->number, 0);
	save(c, depth, BPF_REG_1);
	return (struct meaning){ .literal = true };
}

static struct meaning name(struct compiler *c, const struct dp_value *v,
			   u32 depth)
{
	bool now = dp_value_is(c->values, v, "new");

	if (dp_value_is(c->values, v, "tid"))
		dp_watch_load(c->code, BPF_W, BPF_REG_1, BPF_REG_10,
			      DP_WATCH_AT(tid));
	else if (!now && !dp_value_is(c->values, v, "old"))
		return bad(
			c, v, -EOPNOTSUPP,
			"a condition of a watchpoint knows new, old, tid and numbers");
	else if (c->spec->access == DP_WATCH_EXECUTE)
		return bad(
			c, v, -EINVAL,
			"new and old are of variables, and this is watched for its execution");
	else
		dp_watch_load(c->code, BPF_DW, BPF_REG_1, BPF_REG_10,
			      now ? DP_WATCH_AT(now) : DP_WATCH_AT(before));
	save(c, depth, BPF_REG_1);
	return (struct meaning){ 0 };
}

/* new:s32, (int)new */
static struct meaning typed(struct compiler *c, const struct dp_value *v,
			    u32 depth)
{
	struct dp_value_type type = v->type;
	int shift = 64 - (type.bits ? type.bits : 8 * c->len);

	if (type.stars || type.count || type.within ||
	    (type.kind != DP_VALUE_SIGNED && type.kind != DP_VALUE_UNSIGNED &&
	     type.kind != DP_VALUE_HEX))
		return bad(
			c, v, -EOPNOTSUPP,
			"types of a watchpoint's condition are u8 to u64 and s8 to s64");
	if (c->len && type.bits > 8 * c->len &&
	    at(c, v->left)->op == DP_VALUE_NAME)
		return bad(
			c, v, -EINVAL,
			"this type has more bytes than are watched; /LEN behind the variable says how many these are");
	compile(c, v->left, depth);
	fetch(c, BPF_REG_1, depth);
	dp_watch_put(c->code, BPF_ALU64 | BPF_LSH | BPF_K, BPF_REG_1, 0, 0,
		     shift);
	dp_watch_put(c->code,
		     BPF_ALU64 | BPF_K |
			     (type.kind == DP_VALUE_SIGNED ? BPF_ARSH :
							     BPF_RSH),
		     BPF_REG_1, 0, 0, shift);
	save(c, depth, BPF_REG_1);
	return (struct meaning){ .has_sign = type.kind == DP_VALUE_SIGNED };
}

/* 0 or 1: does @jump, with r1 and r2, jump? */
static void judge(struct compiler *c, u8 jump, u32 depth)
{
	dp_watch_number(c->code, BPF_REG_0, 1);
	dp_watch_put(c->code, BPF_JMP | BPF_X | jump, BPF_REG_1, BPF_REG_2, 1,
		     0);
	dp_watch_number(c->code, BPF_REG_0, 0);
	save(c, depth, BPF_REG_0);
}

/* Both sides into r1 and r2. Return: of a result: has it a sign? */
static bool both(struct compiler *c, const struct dp_value *v, u32 depth,
		 struct meaning m[2])
{
	m[0] = compile(c, v->left, depth);
	m[1] = compile(c, v->right, depth + 1);
	fetch(c, BPF_REG_1, depth);
	fetch(c, BPF_REG_2, depth + 1);
	return (m[0].has_sign || m[0].literal) &&
	       (m[1].has_sign || m[1].literal) &&
	       (m[0].has_sign || m[1].has_sign);
}

static const u8 jumps[2][DP_VALUE_GT + 1] = {
	{ [DP_VALUE_EQ] = BPF_JEQ,
	  [DP_VALUE_NE] = BPF_JNE,
	  [DP_VALUE_LE] = BPF_JLE,
	  [DP_VALUE_GE] = BPF_JGE,
	  [DP_VALUE_LT] = BPF_JLT,
	  [DP_VALUE_GT] = BPF_JGT },
	{ [DP_VALUE_EQ] = BPF_JEQ,
	  [DP_VALUE_NE] = BPF_JNE,
	  [DP_VALUE_LE] = BPF_JSLE,
	  [DP_VALUE_GE] = BPF_JSGE,
	  [DP_VALUE_LT] = BPF_JSLT,
	  [DP_VALUE_GT] = BPF_JSGT },
};

static struct meaning comparison(struct compiler *c, const struct dp_value *v,
				 u32 depth)
{
	struct meaning m[2];
	bool has_sign = both(c, v, depth, m);

	if (!has_sign &&
	    (at(c, v->left)->negative || at(c, v->right)->negative))
		return bad(
			c, v, -EINVAL,
			"this has no sign to be compared with a negative number: write new:s32, or another width");
	judge(c, jumps[has_sign][v->op], depth);
	return (struct meaning){ 0 };
}

/* -x, ~x and !x */
static struct meaning unary(struct compiler *c, const struct dp_value *v,
			    u32 depth)
{
	struct meaning m = compile(c, v->left, depth);

	fetch(c, BPF_REG_1, depth);
	dp_watch_number(c->code, BPF_REG_2, v->op == DP_VALUE_INVERT ? -1 : 0);
	if (v->op == DP_VALUE_NOT) {
		judge(c, BPF_JEQ, depth);
		return (struct meaning){ 0 };
	}
	if (v->op == DP_VALUE_INVERT)
		dp_watch_put(c->code, BPF_ALU64 | BPF_XOR | BPF_X, BPF_REG_1,
			     BPF_REG_2, 0, 0);
	else
		dp_watch_put(c->code, BPF_ALU64 | BPF_NEG, BPF_REG_1, 0, 0, 0);
	save(c, depth, BPF_REG_1);
	return m;
}

/* Of && and ||: 0 or 1 */
static void truth(struct compiler *c, u16 n, u32 depth)
{
	compile(c, n, depth);
	fetch(c, BPF_REG_1, depth);
	dp_watch_number(c->code, BPF_REG_2, 0);
	judge(c, BPF_JNE, depth);
}

static struct meaning logical(struct compiler *c, const struct dp_value *v,
			      u32 depth)
{
	truth(c, v->left, depth);
	truth(c, v->right, depth + 1);
	fetch(c, BPF_REG_1, depth);
	fetch(c, BPF_REG_2, depth + 1);
	dp_watch_put(c->code,
		     BPF_ALU64 | BPF_X |
			     (v->op == DP_VALUE_AND ? BPF_AND : BPF_OR),
		     BPF_REG_1, BPF_REG_2, 0, 0);
	save(c, depth, BPF_REG_1);
	return (struct meaning){ 0 };
}

static const u8 operations[] = {
	[DP_VALUE_BIT_OR] = BPF_OR,   [DP_VALUE_BIT_XOR] = BPF_XOR,
	[DP_VALUE_BIT_AND] = BPF_AND, [DP_VALUE_SHL] = BPF_LSH,
	[DP_VALUE_SHR] = BPF_RSH,     [DP_VALUE_ADD] = BPF_ADD,
	[DP_VALUE_SUB] = BPF_SUB,     [DP_VALUE_MUL] = BPF_MUL,
};

static struct meaning binary(struct compiler *c, const struct dp_value *v,
			     u32 depth)
{
	bool shift = v->op == DP_VALUE_SHL || v->op == DP_VALUE_SHR;
	const struct dp_value *by = at(c, v->right);
	struct meaning m[2];
	bool has_sign;

	if (shift && (by->op != DP_VALUE_NUMBER || by->number > 63))
		return bad(c, by, -EINVAL,
			   "a shift is by a number from 0 to 63");
	has_sign = both(c, v, depth, m);
	dp_watch_put(c->code, BPF_ALU64 | BPF_X | operations[v->op], BPF_REG_1,
		     BPF_REG_2, 0, 0);
	save(c, depth, BPF_REG_1);
	return (struct meaning){ .has_sign = has_sign && !shift };
}

static struct meaning compile(struct compiler *c, u16 n, u32 depth)
{
	const struct dp_value *v = at(c, n);

	if (depth >= DP_WATCH_DEPTH)
		return bad(c, v, -EOPNOTSUPP,
			   "this condition is too deep for a watchpoint");
	switch (v->op) {
	case DP_VALUE_NUMBER:
		return number(c, v, depth);
	case DP_VALUE_NAME:
		return name(c, v, depth);
	case DP_VALUE_SHOWN:
	case DP_VALUE_CAST:
		return typed(c, v, depth);
	case DP_VALUE_NEGATE:
	case DP_VALUE_INVERT:
	case DP_VALUE_NOT:
		return unary(c, v, depth);
	case DP_VALUE_OR:
	case DP_VALUE_AND:
		return logical(c, v, depth);
	case DP_VALUE_EQ ... DP_VALUE_GT:
		return comparison(c, v, depth);
	case DP_VALUE_BIT_OR ... DP_VALUE_MUL:
		return binary(c, v, depth);
	default:
		return bad(
			c, v, -EOPNOTSUPP,
			"a condition of a watchpoint knows new, old, tid and numbers");
	}
}

static int compile_whole(struct compiler *c)
{
	u16 root = c->values->items[0].value;

	compile(c, root, 0);
	fetch(c, BPF_REG_0, 0);
	if (c->code->full)
		bad(c, at(c, root), -EOPNOTSUPP,
		    "this condition is too long for a watchpoint");
	return c->err;
}

int dp_watch_condition(struct dp_watch_code *code, const struct dp_spec *spec,
		       u8 len, struct dp_diag *diag)
{
	struct dp_values *values = malloc(sizeof(*values));
	struct dp_watch_code *spare = calloc(1, sizeof(*spare));
	struct compiler c = { code ? code : spare, values, spec, diag, len, 0 };
	int err;

	if (!values || !spare)
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	else
		err = dp_value_condition(values, spec->cond, spec->cond_col, diag) ?:
			      compile_whole(&c);
	free(values);
	free(spare);
	return err;
}
