// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* reg: names and numbers of registers. */
#include "lang/private.h"
#include "arch/arch.h"
#include <string.h>

static const struct reg {
	u16 number;
	bool writable;
	const char *name;
} regs[] = {
#define REG(number, name, field, half, writable) { number, writable, #name },
#define SPECIAL(number, name) { number, false, #name },
#define HALF(number, name) { number, false, #name "l" },
	DP_REGS(REG) DP_SPECIAL_REGS(SPECIAL) DP_WIDE_REGS(SPECIAL)
		DP_VECTOR_REGS(HALF)
};

static const char *const kernels[] = {
#define KERNEL(name) #name,
	DP_KERNEL_REGS(KERNEL)
};

#define NR_REGS (sizeof(regs) / sizeof(regs[0]))

int dp_lang_reg_find(const struct dp_token *name, bool *writable)
{
	size_t i;

	for (i = 0; i < NR_REGS; i++)
		if (dp_lex_is(name, regs[i].name)) {
			*writable = regs[i].writable;
			return regs[i].number;
		}
	return -ENOENT;
}

bool dp_lang_reg_is_kernels(const struct dp_token *name)
{
	size_t i;

	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (dp_lex_is(name, kernels[i]))
			return true;
	return false;
}

const char *dp_lang_reg_name(u16 number)
{
	size_t i;

	for (i = 0; i < NR_REGS; i++)
		if (regs[i].number == number)
			return regs[i].name;
	return NULL;
}

void dp_lang_reg_list(struct dp_diag *diag, bool writable)
{
	size_t i;

	/* Those that have numbers below 16 are many. */
	for (i = 0; i < NR_REGS; i++)
		if (regs[i].writable ||
		    (!writable && strncmp(regs[i].name, "fr", 2) &&
		     strncmp(regs[i].name, "xmm", 3)))
			dp_diag_add(diag, " %s", regs[i].name);
	if (!writable)
		dp_diag_add(diag, ", fr0 to fr7, xmm0 to xmm15");
}
