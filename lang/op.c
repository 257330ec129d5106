// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* op: find instructions by their shape in the text, and by their code. */
#include "lang/private.h"
#include <string.h>

static const struct dp_lang_op ops[] = {
#define OP(code, name, operand, pops, pushes, ends, state, group, text) \
	{ code, DP_OPERAND_##operand, DP_OP_##state,                    \
	  ends, DP_GROUP_##group,     text },
	DP_OPS(OP)
};

#define NR_OPS (sizeof(ops) / sizeof(ops[0]))

/* Other spellings; @bits: of the literal, where a size letter gives them. */
static const struct alias {
	const char *shape, *means;
	u32 bits;
} aliases[] = {
	{ "push b,%", "push %", 8 },
	{ "push w,%", "push %", 16 },
	{ "push d,%", "push %", 32 },
	{ "push q,%", "push %", 64 },
	{ "pop %", "ros %", 0 },
	{ "not", "neg", 0 },
	{ "rem", "remove", 0 },
	{ "log ascii", "log str", 0 },
	{ "callk", "call_kmod", 0 },
	{ "push mem,b", "push mem,u8", 0 },
	{ "push mem,w", "push mem,u16", 0 },
	{ "push mem,d", "push mem,u32", 0 },
	{ "push mem,q", "push mem,u64", 0 },
	{ "pop mem,b", "pop mem,u8", 0 },
	{ "pop mem,w", "pop mem,u16", 0 },
	{ "pop mem,d", "pop mem,u32", 0 },
	{ "pop mem,q", "pop mem,u64", 0 },
	{ "push io,b", "push io,u8", 0 },
	{ "push io,w", "push io,u16", 0 },
	{ "push io,d", "push io,u32", 0 },
	{ "pop io,b", "pop io,u8", 0 },
	{ "pop io,w", "pop io,u16", 0 },
	{ "pop io,d", "pop io,u32", 0 },
};

#define NR_ALIASES (sizeof(aliases) / sizeof(aliases[0]))

static const struct dp_lang_op *find(const char *shape)
{
	size_t i;

	for (i = 0; i < NR_OPS; i++)
		if (!strcmp(ops[i].text, shape))
			return &ops[i];
	return NULL;
}

const struct dp_lang_op *dp_lang_op_find(const char *shape, u32 *bits)
{
	const struct dp_lang_op *op = find(shape);
	size_t i;

	*bits = 0;
	for (i = 0; !op && i < NR_ALIASES; i++)
		if (!strcmp(aliases[i].shape, shape)) {
			*bits = aliases[i].bits;
			op = find(aliases[i].means);
		}
	return op;
}

const struct dp_lang_op *dp_lang_op_at(u8 code)
{
	size_t i;

	for (i = 0; i < NR_OPS; i++)
		if (ops[i].code == code)
			return &ops[i];
	return NULL;
}

const struct dp_lang_op *dp_lang_op_shape(size_t i, const char **shape)
{
	if (i < NR_OPS) {
		*shape = ops[i].text;
		return &ops[i];
	}
	i -= NR_OPS;
	if (i >= NR_ALIASES)
		return NULL;
	*shape = aliases[i].shape;
	return find(aliases[i].means);
}

u32 dp_lang_operand_size(u8 operand, u8 word)
{
	switch (operand) {
	case DP_OPERAND_NONE:
		return 0;
	case DP_OPERAND_U8:
		return 1;
	case DP_OPERAND_UL:
	case DP_OPERAND_REL:
		return word;
	default:
		return 2;
	}
}
