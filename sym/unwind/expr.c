// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* expr: DWARF's expressions, as frame descriptions use them. */
#include "sym/unwind/cfi.h"
#include <dwarf.h>

#define STACK_MAX 16

struct stack {
	uint64_t v[STACK_MAX];
	unsigned int n;
};

static uint64_t pop(struct stack *stack)
{
	return stack->n ? stack->v[--stack->n] : 0;
}

static void push(struct stack *stack, uint64_t value)
{
	if (stack->n < STACK_MAX)
		stack->v[stack->n++] = value;
}

static bool binary(struct stack *stack, uint8_t op)
{
	uint64_t b = pop(stack), a = pop(stack);

	switch (op) {
	case DW_OP_and:
		a &= b;
		break;
	case DW_OP_minus:
		a -= b;
		break;
	case DW_OP_or:
		a |= b;
		break;
	case DW_OP_plus:
		a += b;
		break;
	case DW_OP_shl:
		a = b < 64 ? a << b : 0;
		break;
	case DW_OP_shr:
		a = b < 64 ? a >> b : 0;
		break;
	case DW_OP_eq:
		a = a == b;
		break;
	case DW_OP_ge:
		a = (int64_t)a >= (int64_t)b;
		break;
	default:
		return false;
	}
	push(stack, a);
	return true;
}

/* A constant of 1, 2, 4 or 8 bytes; odd operations are signed. */
static uint64_t constant(struct dp_cursor *c, uint8_t op)
{
	unsigned int size = 1u << ((op - DW_OP_const1u) / 2);
	unsigned int unused = 64 - 8 * size;
	uint64_t value = dp_cursor_take(c, size);

	return op & 1 ? (uint64_t)((int64_t)(value << unused) >> unused) :
			value;
}

static bool operate(const struct dp_expr *x, struct stack *stack,
		    struct dp_cursor *c, uint8_t op)
{
	uint64_t value;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		value = op - DW_OP_lit0;
	else if (op >= DW_OP_breg0 && op < DW_OP_breg0 + DP_CFI_REGS)
		value = x->reg[op - DW_OP_breg0] + (uint64_t)dp_cursor_sleb(c);
	else if (op >= DW_OP_const1u && op <= DW_OP_const8s)
		value = constant(c, op);
	else if (op == DW_OP_constu)
		value = dp_cursor_uleb(c);
	else if (op == DW_OP_consts)
		value = (uint64_t)dp_cursor_sleb(c);
	else if (op == DW_OP_plus_uconst)
		value = pop(stack) + dp_cursor_uleb(c);
	else if (op != DW_OP_deref)
		return binary(stack, op);
	else if (!x->read(x->arg, pop(stack), &value))
		return false;
	push(stack, value);
	return true;
}

bool dp_expr_value(const struct dp_expr *x, struct dp_cursor code,
		   const uint64_t *begin, uint64_t *value)
{
	struct dp_cursor c = dp_cursor_block(&code);
	struct stack stack = { .n = 0 };

	if (begin)
		push(&stack, *begin);
	while (c.p < c.end && !c.bad)
		if (!operate(x, &stack, &c, (uint8_t)dp_cursor_take(&c, 1)))
			return false;
	*value = pop(&stack);
	return !c.bad;
}
