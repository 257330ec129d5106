/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi: the program of a frame description. It makes a table that tells, for each range
 * of code, where the caller's stack pointer (CFA) and each saved register are.
 *
 * Context: any, handlers too; about 800 bytes of stack.
 * Source: DWARF 4, 6.4.2.
 */
#ifndef DP_SYM_UNWIND_CFI_H
#define DP_SYM_UNWIND_CFI_H

#include "sym/unwind/eh.h"

#define DP_CFI_REGS \
	17 /* DWARF's numbers: general registers, the return address */
#define DP_CFI_DEPTH 4 /* remembered rows; compilers need one or two */
#define DP_CFI_NO_REG 0xff

/** enum dp_cfi_how - where a register is; the row's @value completes it */
enum dp_cfi_how {
	DP_CFI_SAME,
	DP_CFI_UNDEFINED,
	DP_CFI_AT_CFA, /* in memory, @value bytes from the CFA */
	DP_CFI_IS_CFA, /* it is the CFA plus @value */
	DP_CFI_IN_REG,
	DP_CFI_AT_EXPR, /* in memory, where an expression says */
	DP_CFI_IS_EXPR,
};

/**
 * struct dp_cfi_row - how frames are found in a range of code
 * @how: of each register, enum dp_cfi_how; @value: its operand. An expression is
 *       given as the offset of its block (a length, then operations) from the
 *       descriptions' first byte.
 * @cfa_reg: the CFA is this register plus @cfa; DP_CFI_NO_REG: the CFA is the value
 *           of expression @cfa_expr, which is 0 if nothing is known
 */
struct dp_cfi_row {
	uint8_t how[DP_CFI_REGS];
	uint8_t cfa_reg;
	int32_t value[DP_CFI_REGS];
	int64_t cfa;
	uint64_t cfa_expr;
};

/**
 * struct dp_cfi - a table while it is made
 * @row: holds in [start, end); the last row has no end
 * @bad: the next instruction was not understood
 */
struct dp_cfi {
	const struct dp_eh *eh;
	struct dp_cursor code;
	uint64_t start, end;
	bool done, bad;
	unsigned int depth;
	struct dp_cfi_row row, first, saved[DP_CFI_DEPTH];
};

/**
 * dp_cfi_begin() - start before the first row
 * @eh: must have read the CIE of @fde last, and stay so; @rules: from dp_eh_read()
 */
void dp_cfi_begin(struct dp_cfi *m, const struct dp_eh *eh,
		  const struct dp_fde *fde, struct dp_cursor rules);
/** dp_cfi_next() - the next row, maybe of an empty range. Return: false: no more rows, or
 *  @bad. */
bool dp_cfi_next(struct dp_cfi *m);

/*
 * expr: DWARF's expressions: the operations that compilers and libc's hand-written code
 * use in frame descriptions.
 *
 * Context: any, handlers too.
 * Source: DWARF 4, section 2.5.
 */

/**
 * struct dp_expr - the state that an expression reads
 * @reg: DP_CFI_REGS registers
 * @read: reads a word of memory; false: it cannot be read
 */
struct dp_expr {
	const uint64_t *reg;
	bool (*read)(void *arg, uint64_t addr, uint64_t *value);
	void *arg;
};

/**
 * dp_expr_value() - evaluate an expression
 * @code: a block, beginning with its length
 * @begin: the first value on its stack, or NULL
 * Return: false: an operation is not understood, or memory cannot be read.
 */
bool dp_expr_value(const struct dp_expr *x, struct dp_cursor code,
		   const uint64_t *begin, uint64_t *value);

#endif
