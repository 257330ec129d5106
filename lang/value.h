/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * value: the values and conditions of a spec, as a tree.
 *
 *   LIST    item { "," item }            item    [ NAME "=" ] or
 *   or      and { "||" and }             and     test { "&&" test }
 *   test    shown [ OP shown ]           OP      == != < <= > >= ~
 *   shown   sum [ ":" FORMAT ]           FORMAT  u8 … x64, str, d, x, c …; TYPE "[" N "]"
 *   sum     | ^ & << >> + - *, each closer than the one before, so & is closer than ==
 *   unary   - ~ ! * or "(" TYPE ")", then unary; or a primary
 *   primary NUMBER 1.5 'c' "text" NAME %REG $NAME "(" or ")", then { "[" or "]" | "->" NAME | "." NAME }
 *           @NAME @NAME+OFFSET @ADDRESS, +OFFSET "(" sum ")", +uOFFSET "(" sum ")" and \NUMBER, as ftrace writes them
 *
 * Context: tool; pure, without allocation.
 */
#ifndef DP_LANG_VALUE_H
#define DP_LANG_VALUE_H

#include <dprobes/diag.h>
#include "port_types.h"

struct dp_prototype_type;

#define DP_VALUE_NODES 256
#define DP_VALUE_ITEMS 16

/** enum dp_value_op - what a node is */
enum dp_value_op {
	DP_VALUE_NUMBER, /* @number; @negative: it is written with a minus */
	DP_VALUE_REAL, /* a double, whose bits @number has */
	DP_VALUE_TEXT, /* "…", without its quotes */
	DP_VALUE_NAME, /* register, argument, …; with its % or $ */
	DP_VALUE_GLOBAL, /* what is at the symbol NAME + @number; no name: at @number */
	DP_VALUE_RETVAL, /* what is returned, of @type; zeros: that is not known */
	DP_VALUE_PARAMETER, /* what a name has been bound to: argument @number of @type */
	DP_VALUE_VARIABLE, /* the same: variable @left, of @type; or parameter @left, if @by_abi */
	DP_VALUE_NEGATE,
	DP_VALUE_INVERT,
	DP_VALUE_NOT,
	DP_VALUE_DEREF, /* *@left */
	DP_VALUE_MEMBER, /* @left.NAME; @arrow: @left->NAME */
	DP_VALUE_FETCH, /* what is at @left + @number, as ftrace writes it */
	DP_VALUE_CAST, /* (@type)@left */
	DP_VALUE_SHOWN, /* @left:@type */
	DP_VALUE_OR,
	DP_VALUE_AND,
	DP_VALUE_EQ,
	DP_VALUE_NE,
	DP_VALUE_LE,
	DP_VALUE_GE,
	DP_VALUE_LT,
	DP_VALUE_GT,
	DP_VALUE_LIKE, /* ~ */
	DP_VALUE_BIT_OR,
	DP_VALUE_BIT_XOR,
	DP_VALUE_BIT_AND,
	DP_VALUE_SHL,
	DP_VALUE_SHR,
	DP_VALUE_ADD,
	DP_VALUE_SUB,
	DP_VALUE_MUL,
	DP_VALUE_INDEX,
};

/** enum dp_value_kind - what the bits of a value mean */
enum dp_value_kind {
	DP_VALUE_UNTYPED, /* of a register: 64 bits, shown in hexadecimal digits */
	DP_VALUE_UNSIGNED,
	DP_VALUE_SIGNED,
	DP_VALUE_HEX,
	DP_VALUE_OCTAL,
	DP_VALUE_CHAR,
	DP_VALUE_BOOL,
	DP_VALUE_FLOAT,
	DP_VALUE_ENUM, /* a format only: the names that the type has */
	DP_VALUE_SYMBOL, /* an address, shown as what is there */
	DP_VALUE_STRING, /* the text that a pointer points to */
	DP_VALUE_STRUCT, /* in memory only */
	DP_VALUE_VOID, /* a pointer's target only */
	DP_VALUE_STACK, /* a stack of the thread's, as a number; a key only */
	DP_VALUE_NAMED, /* a type of the program, whose name a cast has; until it is looked up */
};

/**
 * struct dp_value_type - @kind: enum dp_value_kind; @bits: 8 to 64, 0: those of the value
 * @stars: a pointer to a pointer to …; @count: elements of an array, 0: none
 * @within: @bits are a part of so many bits, from bit @from on; 0: they are not
 * @known: what the program's debug information, or a table of prototypes, has of it, without
 *         stars and count; or NULL
 */
struct dp_value_type {
	u8 kind, bits, stars, from, within;
	u16 count;
	const struct dp_prototype_type *known;
};

/**
 * struct dp_value - a node
 * @op: enum dp_value_op; @left, @right: index of other nodes
 * @at, @span: where it stands in the text; @name_at, @name_span: of a member's name
 * @in_memory: a variable has an address; @reads: memory is read to find it
 */
struct dp_value {
	u8 op;
	bool negative, arrow, by_abi, in_memory, reads;
	struct dp_value_type type;
	u16 left, right;
	int at, span, name_at, name_span;
	u64 number;
};

/**
 * struct dp_value_item - one value of a list
 * @value: index of its node; @at, @span: of its name: as given before "=", or its text without
 *         the format
 */
struct dp_value_item {
	u16 value;
	int at, span;
};

/**
 * struct dp_values - what a text has been taken for
 * @text: the caller's; nodes and names point into it
 */
struct dp_values {
	const char *text;
	struct dp_value v[DP_VALUE_NODES];
	struct dp_value_item items[DP_VALUE_ITEMS];
	u32 nr, nr_items;
};

/**
 * dp_value_list() - take a list of values apart, which may be empty
 * dp_value_condition() - take a condition apart; it is items[0]
 * @column: of @text in the spec, for carets
 *
 * Return: 0; -EINVAL; -EOPNOTSUPP for a form that is known and not there.
 */
int dp_value_list(struct dp_values *values, const char *text, int column,
		  struct dp_diag *diag);
int dp_value_condition(struct dp_values *values, const char *text, int column,
		       struct dp_diag *diag);

/** enum dp_aggregate_op - what is kept of the values of many hits */
enum dp_aggregate_op {
	DP_AGGREGATE_COUNT,
	DP_AGGREGATE_SUM,
	DP_AGGREGATE_AVG,
	DP_AGGREGATE_MIN,
	DP_AGGREGATE_MAX,
	DP_AGGREGATE_HIST, /* powers of two */
	DP_AGGREGATE_LHIST, /* steps of one size */
	DP_AGGREGATE_FIRST,
	DP_AGGREGATE_LAST,
	DP_AGGREGATE_DISTINCT,
	DP_AGGREGATE_OPS,
};

#define DP_AGGREGATES 8
#define DP_AGGREGATE_STEPS 1000 /* of an lhist */

/**
 * struct dp_aggregate - what is kept of one value
 * @op: enum dp_aggregate_op; @value: index of its node, if it has one
 * @low, @high, @step: of an lhist; @at, @span: where it stands in the text
 */
struct dp_aggregate {
	u8 op;
	u16 value;
	s64 low, high, step;
	int at, span;
};

/** struct dp_aggregates - the keys are items of struct dp_values */
struct dp_aggregates {
	struct dp_aggregate v[DP_AGGREGATES];
	u32 n;
};

/**
 * dp_value_aggregates() - take apart what a spec has in braces: AGG, … [by KEY, …]
 * @values: gets the nodes, and the keys as items
 * Return: as dp_value_list().
 */
int dp_value_aggregates(struct dp_values *values, struct dp_aggregates *aggs,
			const char *text, int column, struct dp_diag *diag);

/** dp_value_is() - is the text of @v @word? */
bool dp_value_is(const struct dp_values *values, const struct dp_value *v,
		 const char *word);
/** dp_value_has_sign() - is it a number that may be negative? */
bool dp_value_has_sign(struct dp_value_type type);
/** dp_value_size() - bytes of one element of @type, no struct, in memory; 0: it has no size */
u32 dp_value_size(struct dp_value_type type);

#endif
