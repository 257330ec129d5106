// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* expr: DWARF's expressions, as frame descriptions use them. */
#include "sym/unwind/cfi.h"

#define STACK_MAX 16

enum op {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
};

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
	case OP_AND:
		a &= b;
		break;
	case OP_MINUS:
		a -= b;
		break;
	case OP_OR:
		a |= b;
		break;
	case OP_PLUS:
		a += b;
		break;
	case OP_SHL:
		a = b < 64 ? a << b : 0;
		break;
	case OP_SHR:
		a = b < 64 ? a >> b : 0;
		break;
	case OP_EQ:
		a = a == b;
		break;
	case OP_GE:
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
	unsigned int size = 1u << ((op - OP_CONST1U) / 2);
	unsigned int unused = 64 - 8 * size;
	uint64_t value = dp_cursor_take(c, size);

	return op & 1 ? (uint64_t)((int64_t)(value << unused) >> unused) :
			value;
}

static bool operate(const struct dp_expr *x, struct stack *stack,
		    struct dp_cursor *c, uint8_t op)
{
	uint64_t value;

	if (op >= OP_LIT0 && op <= OP_LIT31)
		value = op - OP_LIT0;
	else if (op >= OP_BREG0 && op < OP_BREG0 + DP_CFI_REGS)
		value = x->reg[op - OP_BREG0] + (uint64_t)dp_cursor_sleb(c);
	else if (op >= OP_CONST1U && op <= OP_CONST8S)
		value = constant(c, op);
	else if (op == OP_CONSTU)
		value = dp_cursor_uleb(c);
	else if (op == OP_CONSTS)
		value = (uint64_t)dp_cursor_sleb(c);
	else if (op == OP_PLUS_UCONST)
		value = pop(stack) + dp_cursor_uleb(c);
	else if (op != OP_DEREF)
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
