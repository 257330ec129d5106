/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * place: values of variables, wherever they are (sym/places.h).
 *
 * A variable of which all is in one piece in memory is read as what a pointer leads to is. The others are
 * split: each part of them is computed from the pieces.
 */
#ifndef DP_TRACER_VALUES_PLACE_H
#define DP_TRACER_VALUES_PLACE_H

#include "sym/places.h"
#include "tracer/values/code.h"

/**
 * struct dp_place - where a bound name is
 * @pieces, @n: of the scope's variable @variable; or of a parameter, in @piece and @step
 */
struct dp_place {
	const struct dp_piece *pieces;
	u32 n;
	const struct dp_variable *variable;
	struct dp_piece piece[2];
	struct dp_step step[6];
};

/** dp_abi_general - general registers of arguments, by DWARF's numbers */
extern const u8 dp_abi_general[DP_TRACE_ARGS];

/**
 * dp_abi_place() - where a parameter is at the entry of its function
 * Source: System V AMD64 ABI 3.2.3.
 * Return: false: it cannot be told, because of it, one before it, or what the function returns
 */
bool dp_abi_place(const struct dp_prototype *f, u32 parameter,
		  struct dp_place *place);

/** dp_place_bind() - make of @v variable @i of @f's scope, or its parameter if @by_abi */
void dp_place_bind(struct dp_value *v, const struct dp_prototype *f, u32 i,
		   bool by_abi);
/** dp_place_bind_name() - … the first variable of that name. Return: false: there is none */
bool dp_place_bind_name(struct dp_value *v, const struct dp_prototype *f,
			const char *text, int len);

/** dp_place_can_show() - can all of a bound variable be read and shown? */
bool dp_place_can_show(const struct dp_value *v, const struct dp_prototype *f);

/** dp_place_push() - push a variable that is a number, or its address if it is in memory */
struct dp_value_type dp_place_push(struct dp_coder *c,
				   const struct dp_value *v);

/** dp_place_is_split() - is node @n a variable that is not in memory, or a part of one? */
bool dp_place_is_split(const struct dp_values *values, u16 n);
/** dp_place_push_part() - push such a node, which is a number */
struct dp_value_type dp_place_push_part(struct dp_coder *c, u16 n);
/** dp_place_push_word() - push 8 bytes of such a node, from @offset on */
void dp_place_push_word(struct dp_coder *c, u16 n, u32 offset);
/** dp_place_words() - 64-bit words of such a node */
u32 dp_place_words(const struct dp_values *values, u16 n);
/** dp_place_push_whole() - push its words, the first one last */
void dp_place_push_whole(struct dp_coder *c, u16 n);

#endif
