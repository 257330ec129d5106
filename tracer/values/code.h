/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code: instructions that compute a value of a spec (lang/value.h).
 *
 * A value is left on the stack as 64 bits, extended from its type's. What a pointer of the
 * program leads to may be no memory: the instructions raise an exception then.
 */
#ifndef DP_TRACER_VALUES_CODE_H
#define DP_TRACER_VALUES_CODE_H

#include "lang/value.h"
#include "tracer/expr.h"

struct dp_prototype;
struct dp_prototype_field;

/**
 * struct dp_coder - code is appended to @out
 * @values: what is compiled; its text begins at @column of the spec
 * @at_entry: the probe is at the entry of a function, where arguments are on the stack
 * @at_return: what is computed is computed when the function returns
 * @prototype: of the function, or NULL
 */
struct dp_coder {
	const struct dp_values *values;
	struct dp_trace_program *out;
	struct dp_diag *diag;
	int column, err;
	bool at_entry, at_return;
	const struct dp_prototype *prototype;
};

/** dp_code_bad() - note an error at node @v, if it is the first */
void dp_code_bad(struct dp_coder *c, const struct dp_value *v, int err,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

void dp_code_op(struct dp_coder *c, u8 op);
/** dp_code_op8(), dp_code_op16() - with an operand of 8 or 16 bits */
void dp_code_op8(struct dp_coder *c, u8 op, u8 operand);
void dp_code_op16(struct dp_coder *c, u8 op, u16 operand);
void dp_code_push(struct dp_coder *c, u64 value);
/** dp_code_jump() - a jump, or DP_OPCODE_SX. Return: for dp_code_land(), where it leads */
u32 dp_code_jump(struct dp_coder *c, u8 op);
void dp_code_land(struct dp_coder *c, u32 jump);

/* 64 bits of which nothing is known */
#define DP_CODE_UNTYPED \
	((struct dp_value_type){ .kind = DP_VALUE_UNTYPED, .bits = 64 })

/** dp_code_extend() - make of the number on the stack 64 bits, with the sign that @type has */
void dp_code_extend(struct dp_coder *c, struct dp_value_type type);

/** dp_code_value() - push node @n. Return: its type */
struct dp_value_type dp_code_value(struct dp_coder *c, u16 n);
/** dp_code_place() - push the address of node @n instead, which is in memory.
 *  Return: the type of what is there */
struct dp_value_type dp_code_place(struct dp_coder *c, u16 n);
/** dp_code_cut_bits() - make of the unit of bit field @f, on the stack, the bit field */
void dp_code_cut_bits(struct dp_coder *c, const struct dp_prototype_field *f);
/** dp_code_word() - push the 8 bytes at @offset of node @n, which is in memory */
void dp_code_word(struct dp_coder *c, u16 n, u32 offset);
/** dp_code_bits() - the bit field that node @n is; NULL: it is none */
const struct dp_prototype_field *dp_code_bits(const struct dp_values *values,
					      u16 n);
/** dp_code_text() - push the address of the string that node @n is, or leads to */
void dp_code_text(struct dp_coder *c, u16 n);
/** dp_code_text_length() - push how many bytes of the string that @v is are looked at, @most at most.
 *  dp_code_least() - make @most of the length on the stack, if that is more */
void dp_code_text_length(struct dp_coder *c, const struct dp_value *v,
			 u32 most);
void dp_code_least(struct dp_coder *c, u32 most);
/** dp_code_truth() - push 1 if node @n holds, 0 otherwise */
void dp_code_truth(struct dp_coder *c, u16 n);

/** dp_code_negate() - make 0 of 1 on the stack, and 1 of 0 */
void dp_code_negate(struct dp_coder *c);

/** dp_code_touches() - can computing node @n raise an exception? */
bool dp_code_touches(const struct dp_values *values, u16 n);
/** dp_code_is_place() - is node @n in memory? */
bool dp_code_is_place(const struct dp_values *values, u16 n);
/** dp_code_text_view() - the struct that stands for a text, and that node @n is, or shows as one;
 *  @view: of kind NONE, and node @n: there is none */
u16 dp_code_text_view(const struct dp_values *values, u16 n,
		      struct dp_printer *view);
/** dp_code_is_text() - is node @n to be shown, or compared, as a string? */
bool dp_code_is_text(const struct dp_values *values, u16 n);

/** dp_code_test_text() - push 1 if comparison @v of a string with a text, or a pattern, holds */
void dp_code_test_text(struct dp_coder *c, const struct dp_value *v);

/* real: floating-point numbers are compared as C compares them. */

/** dp_code_real_bits() - 32 or 64 bits of the floating-point number that node @n is; 0: it is none */
u8 dp_code_real_bits(const struct dp_values *values, u16 n);
/** dp_code_test_real() - push 1 if comparison @v holds, 0 otherwise; one side is such a number */
void dp_code_test_real(struct dp_coder *c, const struct dp_value *v);
/** dp_code_truth_of_real() - push 1 if node @n, such a number, is not 0 */
void dp_code_truth_of_real(struct dp_coder *c, u16 n);

/* typed: what is known before anything is computed. */

/** dp_code_type() - the type of node @n, if it is a pointer or in memory; zeros: it is not known */
struct dp_value_type dp_code_type(const struct dp_values *values, u16 n);
/** dp_code_known() - the type that a table or debug information has. @count is that of arrays;
 *  DP_CODE_OPEN: it is not known */
#define DP_CODE_OPEN 0xffff
struct dp_value_type dp_code_known(const struct dp_prototype_type *t);
/** dp_code_field() - the member that @v names; NULL: there is none */
const struct dp_prototype_field *dp_code_field(const struct dp_values *values,
					       const struct dp_value *v);
/** dp_code_inner() - @type, or that of what is in it if it is an array that is an element */
struct dp_value_type dp_code_inner(struct dp_value_type type);
/** dp_code_is_wide() - is one element of @type a struct, an array, or a number of more than 64
 *  bits, so that it is shown, and not computed with? */
bool dp_code_is_wide(struct dp_value_type type);
/** dp_code_view() - does a value of @type stand for another one? */
bool dp_code_view(struct dp_value_type type, struct dp_printer *view);
/** dp_code_pointer() - the type of the pointer that a struct of @type stands for; or @type */
struct dp_value_type dp_code_pointer(struct dp_value_type type);
/** dp_code_size() - bytes of one element of @type in memory; 0: it has no size */
u32 dp_code_size(struct dp_value_type type);

/* bind: names of a function's prototype. */

/** dp_code_bind() - make of names the parameters of @f, and constants that these take;
 *  @f: or NULL */
void dp_code_bind(struct dp_values *values, const struct dp_prototype *f);
/** dp_code_parameter() - make @v the @parameter-th of @f */
void dp_code_parameter(struct dp_value *v, const struct dp_prototype *f,
		       u32 parameter);
/** dp_code_refer() - make node @n the @parameter-th of @f, or what that stands for */
void dp_code_refer(struct dp_values *values, u32 n,
		   const struct dp_prototype *f, u32 parameter);
/** dp_code_length_of() - number of the argument with the length of a string that needs no 0 at
 *  its end; -1: it ends with one */
int dp_code_length_of(const struct dp_prototype *f, u32 parameter);
/** dp_code_names() - the names of the parameters, with commas */
void dp_code_names(const struct dp_prototype *f, char *buf, size_t len);

/** dp_code_tell() - the same with members, and with variables: those that are @there, or those
 *  that are optimised out */
void dp_code_tell(const struct dp_prototype *f, bool there, char *buf,
		  size_t len);

/** dp_code_members() - the names of the members of a struct, with commas */
void dp_code_members(const struct dp_prototype_type *t, char *buf, size_t len);

/* name: registers, arguments and what else has a name. */

/** dp_code_name() - push what @v names. Return: its type */
struct dp_value_type dp_code_name(struct dp_coder *c, const struct dp_value *v);
/** dp_code_find_argument() - the number of argument "arg0", or "$arg1", from 0; -1: it is none */
int dp_code_find_argument(const char *text, int len);
/** dp_code_argument_register() - the register of the @n-th of DP_TRACE_ARGS arguments */
u16 dp_code_argument_register(int n);
/** dp_code_return_register() - the register of what is returned, if that is an integer */
u16 dp_code_return_register(void);
/** dp_code_argument() - push the @n-th argument; @v: for an error */
void dp_code_argument(struct dp_coder *c, const struct dp_value *v, int n);
/** dp_code_float_argument() - push the @n-th floating-point argument, 64 bits of it; @v: for an
 *  error, where @n is not below DP_TRACE_FLOAT_ARGS */
void dp_code_float_argument(struct dp_coder *c, const struct dp_value *v,
			    int n);
/** dp_code_is_vector() - is it a vector register, or an argument in one? */
bool dp_code_is_vector(const struct dp_values *values,
		       const struct dp_value *v);
/** dp_code_touches_name() - is it in memory? */
bool dp_code_touches_name(const struct dp_values *values,
			  const struct dp_value *v);
/** dp_code_is_register() - is it a register? */
bool dp_code_is_register(const char *text, int len);
/** dp_code_is_ours() - is it a register, an argument or a fact of the hit? */
bool dp_code_is_ours(const char *text, int len);
/* return: what is returned. */

/** dp_code_is_retval() - is it "retval"? */
bool dp_code_is_retval(const struct dp_values *values,
		       const struct dp_value *v);
/** dp_code_bind_returned() - make of each such name what @f returns; @f: or NULL */
void dp_code_bind_returned(struct dp_values *values,
			   const struct dp_prototype *f);
/** dp_code_aggregate() - keep a hit in a table: the keys are the items of the values, and their
 *  types, and those of what is kept, are noted in the program
 *  dp_code_aggregate_enter() - log what its return will need of the entry. Return: is there any? */
void dp_code_aggregate(struct dp_coder *c, const struct dp_aggregates *aggs);
bool dp_code_aggregate_enter(struct dp_coder *c,
			     const struct dp_aggregates *aggs);

/** dp_code_inject() - have the call get the items of the values, as @how says */
void dp_code_inject(struct dp_coder *c, const struct dp_injection *how);

/** dp_code_is_of_return() - does node @n need what is returned? */
bool dp_code_is_of_return(const struct dp_values *values, u16 n);
/** dp_code_returned() - push it. Return: its type */
struct dp_value_type dp_code_returned(struct dp_coder *c,
				      const struct dp_value *v);

#endif
