/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cfi: the program in a frame description, which makes a table: for each range of
 * code, where the caller's stack pointer (CFA) and each saved register are.
 *
 * Context: any, handlers too; about 800 bytes of stack.
 * Source: DWARF 4, 6.4.2.
 */
#ifndef DP_SYM_UNWIND_CFI_H
#define DP_SYM_UNWIND_CFI_H

#include "sym/unwind/eh.h"

#define DP_CFI_REGS \
	17 /* DWARF's numbers: general registers, the return address */
#define DP_CFI_DEPTH 4 /* rows that are remembered; compilers need one or two */
#define DP_CFI_NO_REG 0xff

/** enum dp_cfi_how - where a register is; @value of the row says the rest */
enum dp_cfi_how {
	DP_CFI_SAME,
	DP_CFI_UNDEFINED,
	DP_CFI_AT_CFA, /* in memory, so far from the CFA */
	DP_CFI_IS_CFA, /* it is the CFA plus that */
	DP_CFI_IN_REG,
	DP_CFI_AT_EXPR, /* in memory, where an expression says */
	DP_CFI_IS_EXPR,
};

/**
 * struct dp_cfi_row - how frames are found in a range of code
 * @how: of each register, enum dp_cfi_how; @value: as that says. An expression is
 *       named by the distance of its block (a length, and operations) from the
 *       descriptions' first byte.
 * @cfa_reg: the CFA is this register plus @cfa; DP_CFI_NO_REG: it is what the
 *           expression @cfa_expr says, which is 0 if nothing is known
 */
struct dp_cfi_row {
	uint8_t how[DP_CFI_REGS];
	uint8_t cfa_reg;
	int32_t value[DP_CFI_REGS];
	int64_t cfa;
	uint64_t cfa_expr;
};

/**
 * struct dp_cfi - a table in the making
 * @row: holds in [start, end); the last one has no end
 * @bad: what came next was not understood
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
 * dp_cfi_begin() - before the first row
 * @eh: has read the CIE of @fde last, and stays so; @rules: as dp_eh_read() gave them
 */
void dp_cfi_begin(struct dp_cfi *m, const struct dp_eh *eh,
		  const struct dp_fde *fde, struct dp_cursor rules);
/** dp_cfi_next() - the next row; may be of no code at all. Return: false: there is none, or
 *  @bad. */
bool dp_cfi_next(struct dp_cfi *m);

/*
 * expr: DWARF's expressions, those operations that compilers and the hand-written
 * code of libc use in frame descriptions.
 *
 * Context: any, handlers too.
 * Source: DWARF 4, section 2.5.
 */

/**
 * struct dp_expr - what an expression is about
 * @reg: DP_CFI_REGS registers
 * @read: a word of memory; false: it cannot be read
 */
struct dp_expr {
	const uint64_t *reg;
	bool (*read)(void *arg, uint64_t addr, uint64_t *value);
	void *arg;
};

/**
 * dp_expr_value() - what an expression comes to
 * @code: a block, beginning with its length
 * @begin: what its stack holds at first, or NULL
 * Return: false: an operation is not understood, or memory cannot be read.
 */
bool dp_expr_value(const struct dp_expr *x, struct dp_cursor code,
		   const uint64_t *begin, uint64_t *value);

#endif
