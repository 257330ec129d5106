/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* private: what the files of lang/value share. */
#ifndef DP_LANG_VALUE_PRIVATE_H
#define DP_LANG_VALUE_PRIVATE_H

#include "lang/value.h"

/** struct dp_value_parser - @err: the first error; nothing more is taken then
 *  @named_at, @named_span: where the type of the program stands that was taken last */
struct dp_value_parser {
	struct dp_values *out;
	const char *text;
	int column, at, depth, err, named_at, named_span;
	struct dp_diag *diag;
};

/** dp_value_bad() - note an error, if it is the first */
void dp_value_bad(struct dp_value_parser *p, int at, int span, int err,
		  const char *why);
void dp_value_skip(struct dp_value_parser *p);
/** dp_value_accept() - skip white space and @word, if it comes next */
bool dp_value_accept(struct dp_value_parser *p, const char *word);
/** dp_value_word() - length of the identifier that comes next, 0: none */
int dp_value_word(const struct dp_value_parser *p);
bool dp_value_word_is(const struct dp_value_parser *p, int len,
		      const char *word);
/** dp_value_number() - the number that comes next */
u64 dp_value_number(struct dp_value_parser *p);

/** dp_value_time() - that number, or so many nanoseconds: 5us, 10ms, 2s */
u64 dp_value_time(struct dp_value_parser *p);
/** dp_value_is_real() - is the number that comes next a floating-point one? */
bool dp_value_is_real(const struct dp_value_parser *p);
/** dp_value_real() - that number: as C has it, a float with an "f" behind */
double dp_value_real(struct dp_value_parser *p);

/** dp_value_type() - "unsigned int *", as in a cast. Return: false: no type comes next */
bool dp_value_type(struct dp_value_parser *p, struct dp_value_type *type);
/** dp_value_program_type() - "struct node", or a name that can only be a type, without stars */
bool dp_value_program_type(struct dp_value_parser *p,
			   struct dp_value_type *type);
/** dp_value_format() - what follows a colon */
void dp_value_format(struct dp_value_parser *p, struct dp_value_type *type);

/** dp_value_begin() - take @text apart; dp_value_expect_end() - it ends here, or else @why */
void dp_value_begin(struct dp_value_parser *p, struct dp_values *values,
		    const char *text, int column, struct dp_diag *diag);
void dp_value_expect_end(struct dp_value_parser *p, const char *why);
/** dp_value_expression() - a value, or a condition. Return: its node */
u16 dp_value_expression(struct dp_value_parser *p);
/** dp_value_take_item() - the same with a name, as the next item */
void dp_value_take_item(struct dp_value_parser *p);

#endif
