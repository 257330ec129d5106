/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * expr: DWARF's expressions, those operations that compilers and the hand-written
 * code of libc use in frame descriptions.
 *
 * Context: any, handlers too.
 * Source: DWARF 4, section 2.5.
 */
#ifndef DP_SYM_UNWIND_EXPR_H
#define DP_SYM_UNWIND_EXPR_H

#include "sym/unwind/cfi.h"

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
