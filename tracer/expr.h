/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* expr: the values and the condition of a spec (lang/value.h), compiled to a probe program. */
#ifndef DP_EXPR_H
#define DP_EXPR_H

#include "engine/layout/aggregate.h"
#include "lang/value.h"
#include "tracer/values/printers.h"
#include "tracer/tracer.h"

#define DP_TRACE_ARGS 6 /* in registers */
#define DP_TRACE_FLOAT_ARGS 8 /* in vector registers */
#define DP_TRACE_ITEMS DP_VALUE_ITEMS
#define DP_TRACE_STRING 200 /* bytes of a string that are shown */
#define DP_TRACE_NAME 40
#define DP_TRACE_SYMBOLS 16
#define DP_TRACE_SYMBOL 128 /* bytes of a name */
#define DP_TRACE_RATES 16 /* numbers in a program: two for each latency */
#define DP_TRACE_RATE_BITS \
	30 /* a rate is in nanoseconds of so many ticks, by powers of 2 */
#define DP_TRACE_KEEPS 4 /* instructions that keep a hit */
#define DP_EXPR_STACK 32 /* elements of a program's stack */

/**
 * struct dp_trace_item - one value of a trace line, in the order of the log
 * @name: "arg0"; an expression as it is written, its end cut off
 * @type: a string, an array, or a value of 64 bits, extended from its bits
 * @place: among the values of the spec; @at_return: it is logged when the function returns, behind
 *         those of its entry
 * @words: of a key of a table
 * @follow, @follows: what a struct or an array leads to, which is logged behind it
 */
struct dp_trace_item {
	char name[DP_TRACE_NAME];
	struct dp_value_type type;
	u8 place, words;
	bool at_return;
	struct dp_follow follow[DP_FOLLOWS];
	u32 follows;
};

#define DP_TRACE_KEPT 64

/** struct dp_trace_kept - what is kept of a value: @op: enum dp_aggregate_op
 *  @name: as it is written; @time: the value is in nanoseconds
 *  @field: number of the table's field, if it has one */
struct dp_trace_kept {
	char name[DP_TRACE_KEPT];
	struct dp_value_type type;
	u8 op, field;
	bool time;
};

/** struct dp_trace_symbol - a number in the code, to which the address of @name is added */
struct dp_trace_symbol {
	u32 at;
	char name[DP_TRACE_SYMBOL];
};

/**
 * struct dp_trace_program - what a spec's hits run
 * @items: the values in a record; empty for a program that only counts
 * @logmax: bytes that the longest record takes; @jumps: that a run makes, at most
 * @enters: a hit runs the code from its start; of a return probe, an entry
 * @leaves: 1 + offset of what runs at a return; 0: nothing. @judged: it has a condition
 * @errno_at: of a number in the code: the address of a word that says where errno is, see
 *            dp_session_bind(); 0: none. The last thing that is logged at a return is errno then,
 *            if the function has failed
 * @rate_at, @nr_rates: of numbers in the code: the clock's rate, see dp_session_bind()
 * @symbols, @nr_symbols: likewise, addresses of symbols
 * @kept, @nr_kept: what its hits keep, in a table of @shape; the items are its keys then. @keep_at,
 *         @nr_keeps: of instructions' operands in the code, which name the table
 * @stack: the first thing that is logged is the number of the stack
 * @ret: the type of retval, if the spec has it; retval is in no record's log
 */
struct dp_trace_program {
	struct dp_trace_item items[DP_TRACE_ITEMS];
	size_t nr_items;
	u8 *code;
	size_t cap;
	u32 len, logmax, jumps, leaves, errno_at;
	u32 rate_at[DP_TRACE_RATES], nr_rates;
	struct dp_trace_symbol symbols[DP_TRACE_SYMBOLS];
	u32 nr_symbols;
	struct dp_trace_kept kept[DP_AGGREGATES];
	struct dp_aggregate_shape shape;
	u32 nr_kept, keep_at[DP_TRACE_KEEPS], nr_keeps;
	bool enters, judged, stack;
	u32 allow; /* enum dp_vm_allow */
	struct dp_type ret;
};

/** enum dp_inject_when - which calls, of those for which the condition holds */
enum dp_inject_when {
	DP_INJECT_ALL,
	DP_INJECT_NTH, /* the @n-th of the process */
	DP_INJECT_EVERY, /* each @n-th */
	DP_INJECT_DRAWN, /* those for which a number drawn from @seed is below @below */
};

/**
 * struct dp_injection - what a call gets instead of what it would have
 * @when: enum dp_inject_when
 * @replaces: the spec's value is what the function returns, without being executed; else its values
 *            are arguments
 * @sets_errno: errno is @err then
 */
struct dp_injection {
	u8 when;
	u64 n, seed, below;
	bool replaces, sets_errno;
	u32 err;
};

/* Local variables of such a program: how many calls got it; how many could not be decided, or their
 * value not be computed; and whose turn it is, of all threads and of each */
enum { DP_INJECT_DONE, DP_INJECT_FAILED, DP_INJECT_TURNS };
#define DP_INJECT_VARIABLES 256

/**
 * dp_expr_trace() - log the values where the condition holds
 * dp_expr_count() - count in local variable 0 where the condition holds
 * dp_expr_aggregate() - keep the values where the condition holds, in a table
 * @program: filled in; free with dp_expr_free()
 *
 * A condition that reads memory that is not there does not hold.
 * Return: 0; -EINVAL with a caret into the spec's text; -ENODATA the same for a name that is not
 * known, which debug information may know; -EOPNOTSUPP; -ENOMEM.
 */
int dp_expr_trace(const struct dp_spec *spec, struct dp_trace_program *program,
		  struct dp_diag *diag);
int dp_expr_count(const struct dp_spec *spec, struct dp_trace_program *program,
		  struct dp_diag *diag);
int dp_expr_aggregate(const struct dp_spec *spec,
		      struct dp_trace_program *program, struct dp_diag *diag);
/** dp_expr_inject() - have calls get what the spec's values say: the program of @spec's hits, whose
 *  log has the call's number, from 0, and the values. Return: as dp_expr_trace(). */
int dp_expr_inject(const struct dp_spec *spec, const struct dp_injection *how,
		   struct dp_trace_program *program, struct dp_diag *diag);
/**
 * dp_expr_push() - push a value on the stack, and ret
 * @text: of one value, whose names are those of @spec; @at_return: of what a function returns
 * Return: as dp_expr_trace(), with a caret into @text.
 */
int dp_expr_push(const struct dp_spec *spec, const char *text, bool at_return,
		 struct dp_trace_program *program, struct dp_diag *diag);
void dp_expr_free(struct dp_trace_program *program);

#endif
