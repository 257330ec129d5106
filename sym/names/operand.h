/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* operand: the arguments of a tracepoint's note, each an operand as the assembler of x86-64 writes it. */
#ifndef DP_NAMES_OPERAND_H
#define DP_NAMES_OPERAND_H

#include <stddef.h>
#include "port_types.h"

#define DP_OPERAND_SYMBOL 256
#define DP_OPERAND_NONE 0xff /* no register */

/** enum dp_operand_kind - where an argument's value is */
enum dp_operand_kind {
	DP_OPERAND_NUMBER, /* it is @number, or the address of @symbol, and @number */
	DP_OPERAND_GENERAL, /* register @base */
	DP_OPERAND_VECTOR, /* vector register @base */
	DP_OPERAND_MEMORY, /* at the sum of what there is */
	DP_OPERAND_THREAD_LOCAL, /* a variable of each thread's own */
};

/**
 * struct dp_operand - SIZE@OPERAND
 * @size: bytes of the value, 1, 2, 4 or 8; @is_signed, @is_float: what they mean
 * @width: bytes of the register that is named, from bit @shift of all of it on
 * @base, @index: registers, as DWARF numbers them; or DP_OPERAND_NONE
 * @scale: 1, 2, 4 or 8, of @index
 * @of_thread: the thread pointer is added (%fs:)
 * @symbol: "" for none
 */
struct dp_operand {
	u8 kind, size, width, shift;
	u8 base, index, scale;
	bool is_signed, is_float, of_thread;
	u64 number;
	char symbol[DP_OPERAND_SYMBOL];
};

/** dp_operand_next() - the next argument of *@text, which moves behind it.
 *  Return: where it begins, with its @len; NULL: there is none */
const char *dp_operand_next(const char **text, size_t *len);

/** dp_operand_parse() - take an argument apart. Context: any. Return: false: it is of no form that
 *  is known */
bool dp_operand_parse(const char *text, size_t len, struct dp_operand *o);

#endif
