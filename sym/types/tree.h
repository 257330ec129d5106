/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree: a prototype as the child writes it, with numbers instead of pointers.
 *
 * The child fills it from debug information (prototype.c); the tool checks each number and
 * makes a struct dp_prototype of it (tree.c).
 */
#ifndef DP_TYPES_TREE_H
#define DP_TYPES_TREE_H

#include "port_types.h"
#include "sym/places.h"
#include "sym/prototypes.h"

#define DP_TREE_TYPES 512
#define DP_TREE_FIELDS 4096
#define DP_TREE_NAMES 4096
#define DP_TREE_TEXT (96u << 10)
#define DP_TREE_VARIABLES 512
#define DP_TREE_PIECES 2048
#define DP_TREE_STEPS 8192
#define DP_TREE_KNOWN 1024
#define DP_TREE_NAMED 64
/** Type 0 is void; this is none. */
#define DP_TREE_NONE (~0u)

/**
 * struct dp_tree_type - a type
 * @kind: enum dp_prototype_kind
 * @lens: enum dp_prototype_lens of INT: PLAIN, CHAR, BOOL or ENUM; of POINTER: PLAIN, REFERENCE or
 *        FUNCTION; of STRUCT: PLAIN, VARIANTS, or HEX; the tool finds out strings
 * @bits: of INT and FLOAT, and of each part of COMPLEX
 * @is_signed: of INT, not 0 if so
 * @partial: of STRUCT, not 0 if it has more than its fields
 * @passed: of STRUCT, enum dp_prototype_passed
 * @size: of STRUCT
 * @of: type, of POINTER and ARRAY; of STRUCT, what a template is of, 0: none
 * @first, @n: fields of STRUCT; names of ENUM
 * @length: of ARRAY
 * @name: of STRUCT, in the text
 */
struct dp_tree_type {
	u8 kind, lens, bits, is_signed, partial, passed;
	u32 of, first, n, name;
	u64 size, length;
};

/** struct dp_tree_field - @name: in the text; @type: of it; @offset: in the struct; others: as in
 *  struct dp_prototype_field */
struct dp_tree_field {
	u32 name, type;
	u64 offset;
	u8 bits, shift, unit, role;
	u64 value;
};

/** struct dp_tree_name - an enumerator; @text: its name, in the text */
struct dp_tree_name {
	u32 text;
	u64 value;
};

/** struct dp_tree_parameter - @name: in the text; @type: of it */
struct dp_tree_parameter {
	u32 name, type;
};

/** struct dp_tree_piece - as struct dp_piece; @first, @n: steps; @size: 0: the whole value */
struct dp_tree_piece {
	u8 kind, why;
	u32 offset, size, first, n;
};

/**
 * struct dp_tree_variable - @name: in the text; @type: of it
 * @first, @n: pieces; @first_known, @nr_known: where it is known
 * @is_parameter: not 0 if so
 */
struct dp_tree_variable {
	u32 name, type, first, n, first_known, nr_known;
	u8 is_parameter;
};

/** struct dp_tree_named - a type by its name: @text, in the text */
struct dp_tree_named {
	u32 text, type;
};

/**
 * struct dp_tree_scope - what has a name at an address; struct dp_scope has the words
 * @wanted: not 0: it was asked for
 * @entry: of the function in the process, 0: it is not known
 * @prologue_end: where the function's frame is built, 0: it is not known
 */
struct dp_tree_scope {
	u8 wanted, is_entry, by_abi;
	u64 entry, prologue_end;
	u32 variables, pieces, steps, known, named;
	struct dp_tree_variable variable[DP_TREE_VARIABLES];
	struct dp_tree_piece piece[DP_TREE_PIECES];
	struct dp_step step[DP_TREE_STEPS];
	struct dp_known where[DP_TREE_KNOWN];
	struct dp_tree_named type[DP_TREE_NAMED];
};

/**
 * struct dp_tree - a function
 * @found: not 0 when it is complete
 * @variadic: not 0 if so
 * @name: of the function, in the text
 * @returns: type
 * @parameters, @types, @fields, @names, @text: how many there are of each
 * @bytes: names, each with a zero byte behind it; "" at 0 is for what has no name
 */
struct dp_tree {
	u8 found, variadic;
	u32 name, returns;
	u32 parameters, types, fields, names, text;
	struct dp_tree_parameter parameter[DP_PROTOTYPE_PARAMETERS];
	struct dp_tree_type type[DP_TREE_TYPES];
	struct dp_tree_field field[DP_TREE_FIELDS];
	struct dp_tree_name enumerator[DP_TREE_NAMES];
	char bytes[DP_TREE_TEXT];
	struct dp_tree_scope scope;
};

struct dp_frame;

/**
 * dp_tree_place_bits() - where to load a bit field from
 * @f: its offset, unit, bits and shift are set
 * @at, @n: its place in its struct and its width, in bits
 * @size, @of: bytes of its type, and of the struct
 *
 * Nothing outside of the struct is loaded.
 * Return: false: it is in no unit.
 */
bool dp_tree_place_bits(struct dp_tree_field *f, u64 at, u64 n, u64 size,
			u64 of);

/**
 * dp_tree_build() - a prototype of what a child wrote, which nobody writes any more
 * @frame: where the function's frame is; or NULL
 * @p: for free()
 * Return: 0; -EBADMSG a number is out of its range, or a value has itself in it; -ENOMEM.
 */
int dp_tree_build(const struct dp_tree *t, const struct dp_frame *frame,
		  struct dp_prototype **p);

#endif
