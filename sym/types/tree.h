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
#include "sym/prototypes.h"

#define DP_TREE_TYPES 512
#define DP_TREE_FIELDS 4096
#define DP_TREE_NAMES 4096
#define DP_TREE_TEXT (96u << 10)
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
 * @size: of STRUCT
 * @of: type, of POINTER and ARRAY; of STRUCT, what a template is of, 0: none
 * @first, @n: fields of STRUCT; names of ENUM
 * @length: of ARRAY
 * @name: of STRUCT, in the text
 */
struct dp_tree_type {
	u8 kind, lens, bits, is_signed, partial;
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
};

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
 * @p: for free()
 * Return: 0; -EBADMSG a number is out of its range, or a value has itself in it; -ENOMEM.
 */
int dp_tree_build(const struct dp_tree *t, struct dp_prototype **p);

#endif
