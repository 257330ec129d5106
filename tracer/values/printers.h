/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * printers: structs of libraries that stand for what they lead to: strings, vectors, pointers.
 *
 * A struct is one of these by its name and by its members: one with other members is shown as
 * any struct is.
 */
#ifndef DP_TRACER_VALUES_PRINTERS_H
#define DP_TRACER_VALUES_PRINTERS_H

#include "lang/value.h"

struct dp_prototype_type;

/** enum dp_printer_kind - what a struct stands for */
enum dp_printer_kind {
	DP_PRINTER_NONE,
	DP_PRINTER_TEXT, /* a text of so many bytes, which need not end with a zero byte */
	DP_PRINTER_ELEMENTS, /* elements in memory */
	DP_PRINTER_POINTER, /* a pointer that it has */
	DP_PRINTER_MAYBE, /* a value that it has, or none */
};

/**
 * struct dp_printer - where a struct has it
 * @kind: enum dp_printer_kind
 * @pointer: offset of the address; of MAYBE, of the value
 * @length: offset of how many elements there are, in 8 bytes; @ends: of the address behind
 *          them instead; of MAYBE, of a byte that is not 0 if there is a value
 * @of: type of the elements, of what POINTER points at, and of the value
 */
struct dp_printer {
	u8 kind;
	bool ends;
	u32 pointer, length;
	const struct dp_prototype_type *of;
};

/** dp_printer_of() - what a value of type @t stands for. Return: false, and kind NONE: for itself */
bool dp_printer_of(const struct dp_prototype_type *t, struct dp_printer *view);

#define DP_FOLLOWS 8
#define DP_FOLLOW_TEXT \
	64 /* bytes that are shown of what something within a struct leads to */
#define DP_FOLLOW_ELEMENTS 16
#define DP_FOLLOW_BYTES 256 /* of elements of what is no part of a struct */

/**
 * struct dp_follow - what something in a struct leads to, which is logged behind the struct
 * @at: offset of that in the struct
 * @view: of TEXT or ELEMENTS; of a C string, NONE
 * @most: bytes that are shown of it; one more is logged of TEXT, which says that it goes on
 */
struct dp_follow {
	u32 at, most;
	struct dp_printer view;
};

/**
 * dp_follow_list() - what is followed from a struct or an array of @type
 * @out: in no order of offsets; always the same for the same type
 * Return: how many, at most DP_FOLLOWS.
 */
u32 dp_follow_list(struct dp_value_type type, struct dp_follow *out);

#define DP_SHOWN_LEVELS 2 /* structs in one another whose members are shown */
#define DP_SHOWN_BYTES 512 /* of a struct or an array */

#endif
