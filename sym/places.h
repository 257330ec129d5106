/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places: where the values of a program's names are at one address of its code.
 *
 *   place    one or more pieces; two or more are parts of one struct, or number, and one may be,
 *            too; what no piece describes is nowhere
 *   piece    steps, which compute a number: an address in memory, or the value itself
 *   step     one operation on a stack of numbers
 */
#ifndef DP_PLACES_H
#define DP_PLACES_H

#include "port_types.h"

struct dp_prototype_type;

/** enum dp_step_op - what a step does; two operands are below and top of the stack */
enum dp_step_op {
	DP_STEP_NUMBER, /* push @n */
	DP_STEP_REGISTER, /* push general register @n, as DWARF numbers them */
	DP_STEP_VECTOR, /* push the low half of vector register @n */
	DP_STEP_THREAD, /* push the thread pointer; of tracepoints only */
	DP_STEP_CFA, /* push the stack pointer of the caller; never in a struct dp_place */
	DP_STEP_FRAME, /* push register @n, on which the frame is based; never there either */
	DP_STEP_LOAD, /* replace an address by the @n bytes there: 1, 2, 4 or 8 */
	DP_STEP_ADD,
	DP_STEP_SUB, /* below - top */
	DP_STEP_MUL,
	DP_STEP_AND,
	DP_STEP_OR,
	DP_STEP_XOR,
	DP_STEP_NEGATE,
	DP_STEP_NOT,
	DP_STEP_SHL, /* by @n, 0 to 63 */
	DP_STEP_SHR,
	DP_STEP_SAR, /* with the sign */
	DP_STEP_OPS,
};

/** struct dp_step - @op: enum dp_step_op */
struct dp_step {
	u8 op;
	u64 n;
};

#define DP_PLACE_DEEPEST 8 /* numbers on the stack of steps */
#define DP_PLACE_REGISTERS 16

/** enum dp_place_why - why a value cannot be read there */
enum dp_place_why {
	DP_PLACE_KNOWN, /* it can */
	DP_PLACE_OPTIMISED_OUT,
	DP_PLACE_ENTRY_VALUE, /* it is what a register was at the function's entry */
	DP_PLACE_THREAD_LOCAL,
	DP_PLACE_POINTER_TO_PARTS, /* of an object that is not in memory any more */
	DP_PLACE_COMPUTED, /* by operations that steps do not have */
	DP_PLACE_X87, /* in a register of the x87, or another that is not read */
	DP_PLACE_NO_FRAME, /* the function's frame is not built yet, or gone */
	DP_PLACE_UNCERTAIN, /* in pieces that may be elsewhere, or nowhere */
	DP_PLACE_TOO_LARGE, /* for what the child may write */
	DP_PLACE_FORM, /* the note of a tracepoint has it in a form that is not known */
	DP_PLACE_SYMBOL, /* the note has it by a symbol that the module has not, or not one of */
	DP_PLACE_WHYS,
};

/** enum dp_piece_kind - what the number that steps compute is */
enum dp_piece_kind {
	DP_PIECE_NOWHERE, /* no steps: @why */
	DP_PIECE_MEMORY, /* an address */
	DP_PIECE_VALUE, /* the value, in its low bytes */
	DP_PIECE_KINDS,
};

/**
 * struct dp_piece - a part of a value
 * @kind: enum dp_piece_kind; @why: enum dp_place_why
 * @offset, @size: which bytes of the value
 */
struct dp_piece {
	u8 kind, why;
	u32 offset, size;
	const struct dp_step *steps;
	u32 n;
};

/** struct dp_known - addresses of code at which a value is known, @end not */
struct dp_known {
	u64 start, end;
};

/**
 * struct dp_variable - a parameter, local or global variable, at one address
 * @pieces, @n: ascending, at least one
 * @known, @nr_known: where it can be told, if @pieces is NOWHERE; some of those places
 * @is_parameter: of the function, or of one that is inlined
 * @written: as the note of a tracepoint has it; else NULL
 */
struct dp_variable {
	const char *name;
	const struct dp_prototype_type *type;
	const struct dp_piece *pieces;
	u32 n;
	const struct dp_known *known;
	u32 nr_known;
	bool is_parameter;
	const char *written;
};

/** struct dp_type_name - a type of the program by its name: "node_t", "struct node" */
struct dp_type_name {
	const char *name;
	const struct dp_prototype_type *type;
};

/**
 * struct dp_scope - names that hold at one address of code
 * @variables, @n: the innermost first
 * @types, @nr_types: that were asked for and found
 * @is_entry: the address is the entry of its function
 * @entry: that of its function; 0: it is not known
 * @by_abi: its parameters are those of its prototype, passed as the ABI says
 * @of_tracepoint: variables are the arguments of a tracepoint, in order: arg0, arg1, …
 */
struct dp_scope {
	const struct dp_variable *variables;
	u32 n;
	const struct dp_type_name *types;
	u32 nr_types;
	u64 entry;
	bool is_entry, by_abi, of_tracepoint;
};

#endif
