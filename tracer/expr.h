/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * expr: the arguments and the condition of a spec, compiled to a probe program.
 *
 *   ARGS  item { "," item }          item    VALUE [ ":" TYPE ] | "retval" [ ":" RTYPE ]
 *   COND  and { "||" and }           VALUE   arg0 … arg5, or a register
 *   and   test { "&&" test }         TYPE    u8 … u64, s8 … s64, x8 … x64, str
 *   test  "(" COND ")" | operand OP operand     OP  == != < <= > >=
 *                                    RTYPE   u8 … x64, f32, f64
 */
#ifndef DP_EXPR_H
#define DP_EXPR_H

#include "tracer/tracer.h"

#define DP_TRACE_ARGS 6
#define DP_TRACE_ITEMS 16
#define DP_TRACE_STRING 200 /* bytes of a string that are shown */

/** enum dp_show - how a value is printed */
enum dp_show {
	DP_SHOW_UNSIGNED,
	DP_SHOW_SIGNED,
	DP_SHOW_HEX,
	DP_SHOW_STRING,
};

/** struct dp_trace_item - one value of a trace line, in the order of the log */
struct dp_trace_item {
	char name[16];
	u16 reg; /* number (arch/x86/regs.h) */
	u8 bits;
	u8 show;
};

/**
 * struct dp_trace_program - what a spec's hits run
 * @items: the values in a record; empty for a program that only counts
 * @logmax: bytes that the longest record takes
 * @ret: the type of retval, if the spec has it; retval is in no record's log
 */
struct dp_trace_program {
	struct dp_trace_item items[DP_TRACE_ITEMS];
	size_t nr_items;
	u8 *code;
	size_t cap;
	u32 len, logmax;
	struct dp_type ret;
};

/**
 * dp_expr_trace() - log the arguments where the condition holds
 * dp_expr_count() - count in local variable 0 where the condition holds
 * @program: filled in; free with dp_expr_free()
 *
 * Return: 0; -EINVAL with a caret into the spec's text; -EOPNOTSUPP; -ENOMEM.
 */
int dp_expr_trace(const struct dp_spec *spec, struct dp_trace_program *program,
		  struct dp_diag *diag);
int dp_expr_count(const struct dp_spec *spec, struct dp_trace_program *program,
		  struct dp_diag *diag);
void dp_expr_free(struct dp_trace_program *program);

#endif
