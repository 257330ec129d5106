// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* op: instructions and registers by name and by number. */
#include "engine/vm/regs.h"
#include "lang/private.h"
#include <stdio.h>
#include <string.h>

static const struct dp_op ops[] = {
#define ROW(code, name, operand, pops, pushes, ends, state, group, text) \
	{ code,		 DP_OPERAND_##operand, ends,                     \
	  DP_OP_##state, DP_GROUP_##group,     text },
	DP_OPS(ROW)
};

#define NR_OPS (sizeof(ops) / sizeof(ops[0]))

static const struct {
	u16 number;
	bool writable;
	const char *name;
} regs[] = {
#define REG(number, name, field, half, writable) { number, writable, #name },
#define SPECIAL(number, name) { number, false, #name },
	DP_REGS(REG) DP_SPECIAL_REGS(SPECIAL)
};

#define NR_REGS (sizeof(regs) / sizeof(regs[0]))

const struct dp_op *dp_op_find(const char *text)
{
	size_t i;

	for (i = 0; i < NR_OPS; i++)
		if (!strcmp(ops[i].text, text))
			return &ops[i];
	return NULL;
}

const struct dp_op *dp_op_by_code(u8 code)
{
	size_t i;

	for (i = 0; i < NR_OPS; i++)
		if (ops[i].code == code)
			return &ops[i];
	return NULL;
}

u32 dp_op_size(const struct dp_op *op, u8 word)
{
	switch (op->operand) {
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

static const char *operand_word(u8 operand)
{
	switch (operand) {
	case DP_OPERAND_REL:
		return "LABEL";
	case DP_OPERAND_REG:
	case DP_OPERAND_REGW:
		return "REGISTER";
	default:
		return "N";
	}
}

void dp_op_forms(const char *mnemonic, char *to, size_t size)
{
	size_t len = strlen(mnemonic), used = 0, i;

	*to = '\0';
	for (i = 0; i < NR_OPS && used < size; i++) {
		const char *text = ops[i].text;
		size_t head = strcspn(text, "%");

		if (strncmp(text, mnemonic, len) ||
		    (text[len] && text[len] != ' '))
			continue;
		used += (size_t)snprintf(
			to + used, size - used, "%s\"%.*s%s\"",
			used ? ", " : "", (int)head, text,
			text[head] ? operand_word(ops[i].operand) : "");
	}
}

int dp_reg_number(const char *name, bool *writable)
{
	size_t i;

	for (i = 0; i < NR_REGS; i++)
		if (!strcmp(regs[i].name, name)) {
			*writable = regs[i].writable;
			return regs[i].number;
		}
	return -1;
}

const char *dp_reg_name(u64 number)
{
	size_t i;

	for (i = 0; i < NR_REGS; i++)
		if (regs[i].number == number)
			return regs[i].name;
	return NULL;
}
