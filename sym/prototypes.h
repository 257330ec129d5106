/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prototypes: what is known of functions without debug information, from tables in files. */
#ifndef DP_PROTOTYPES_H
#define DP_PROTOTYPES_H

#include <stddef.h>
#include "port_types.h"

struct dp_diag;
struct dp_prototypes;
struct dp_prototype_type;
struct dp_scope;

/** enum dp_prototype_kind - what a value is, as far as passing and reading it goes (LP64) */
enum dp_prototype_kind {
	DP_PROTOTYPE_VOID,
	DP_PROTOTYPE_INT, /* 8, 16, 32 or 64 bits */
	DP_PROTOTYPE_FLOAT, /* 32, 64; 80: long double; 128: __float128 */
	DP_PROTOTYPE_COMPLEX, /* two of FLOAT */
	DP_PROTOTYPE_POINTER, /* @of: to what; VOID: nothing is known of it */
	DP_PROTOTYPE_ARRAY, /* @of: elements; @length: how many */
	DP_PROTOTYPE_STRUCT, /* @fields; @size 0: nothing is known of it */
};

/** enum dp_prototype_lens - how a value is shown, where its kind alone does not say it */
enum dp_prototype_lens {
	DP_PROTOTYPE_PLAIN,
	DP_PROTOTYPE_CHAR,
	DP_PROTOTYPE_OCT,
	DP_PROTOTYPE_HEX, /* a struct: it is a number of no other kind */
	DP_PROTOTYPE_BOOL,
	DP_PROTOTYPE_BITVEC, /* numbers of the bits that are set */
	DP_PROTOTYPE_ENUM, /* @names */
	DP_PROTOTYPE_FLAGS, /* @names */
	DP_PROTOTYPE_STRING, /* an array of characters, or a pointer to one */
	DP_PROTOTYPE_FORMAT, /* a string as of printf(3), which says what follows it */
	DP_PROTOTYPE_REFERENCE, /* a pointer that stands for what it points at */
	DP_PROTOTYPE_FUNCTION, /* VOID behind a pointer: it points at code */
	DP_PROTOTYPE_VARIANTS, /* a struct with one of its fields: enum dp_prototype_role */
};

/** enum dp_prototype_passed - how a struct is passed as an argument, and returned */
enum dp_prototype_passed {
	DP_PROTOTYPE_PASSED_UNKNOWN,
	DP_PROTOTYPE_PASSED_VALUE, /* by the classes of its fields, which are all there */
	DP_PROTOTYPE_PASSED_PARTLY, /* the same, but it has bit fields, too */
	DP_PROTOTYPE_PASSED_REFERENCE, /* by its address */
};

/** enum dp_prototype_count - where the length of an array stands */
enum dp_prototype_count {
	DP_PROTOTYPE_UNLIMITED,
	DP_PROTOTYPE_NUMBER, /* it is @n */
	DP_PROTOTYPE_ARGUMENT, /* of the function, @n from 0; it may have no such */
	DP_PROTOTYPE_RETVAL, /* it is what the function returns */
	DP_PROTOTYPE_ELEMENT, /* of the struct around the array, as ARGUMENT */
};

/** struct dp_prototype_length - @count: enum dp_prototype_count; @zero: the array ends before
 *  its first element that is 0, too; @n: see @count */
struct dp_prototype_length {
	u8 count;
	bool zero;
	u64 n;
};

/** struct dp_prototype_name - @value has the name @text; only the bits of @mask count */
struct dp_prototype_name {
	const char *text;
	u64 value, mask;
};

/** enum dp_prototype_role - what a field of VARIANTS is */
enum dp_prototype_role {
	DP_PROTOTYPE_MEMBER, /* it is there always; so are all fields of other structs */
	DP_PROTOTYPE_TAG, /* an INT that says which variant is there; at most one, the first */
	DP_PROTOTYPE_VARIANT, /* it is there if the tag is @value, of its bits */
	DP_PROTOTYPE_OTHERWISE, /* it is there if no other is; at most one */
};

/**
 * struct dp_prototype_field - @name: NULL, it has none; @offset: in the struct
 * @bits: of a bit field, whose @type is INT: it is in the @unit bytes, 1 to 8, at @offset,
 *        above @shift other bits of these; 0: this is none
 * @role: enum dp_prototype_role
 */
struct dp_prototype_field {
	const char *name;
	const struct dp_prototype_type *type;
	u32 offset;
	u8 bits, shift, unit, role;
	u64 value;
};

/**
 * struct dp_prototype_type - type of a value
 * @kind: enum dp_prototype_kind
 * @lens: enum dp_prototype_lens
 * @bits: of INT and FLOAT, and of each part of COMPLEX
 * @is_signed: of INT
 * @hidden: the value is not to be shown
 * @partial: of STRUCT: it has more than @fields
 * @exact: of ARRAY: a pointer to it is one to all of it; otherwise, to its first element
 * @passed: of STRUCT, enum dp_prototype_passed
 * @levels: structs and arrays in one another, at most DP_PROTOTYPE_LEVELS
 * @size: bytes in memory, 0: not known before there is a value, or not at all
 * @align: of it, at least 1
 * @parts: values in it, at most DP_PROTOTYPE_PARTS; of an array of bytes, or without a number, one
 *         element counts
 * @of: of POINTER and ARRAY; of STRUCT, what a template is of first, or NULL
 * @length: of ARRAY
 * @fields, @names, @n: of STRUCT; of ENUM and FLAGS
 * @name: of STRUCT, as its own scope has it, with what a template is of; or NULL
 *
 * Pointers can lead in a circle: a reader counts how many it has followed.
 */
struct dp_prototype_type {
	u8 kind, lens, bits;
	bool is_signed, hidden, partial, exact;
	u8 levels, passed;
	u32 size, align, parts;
	const struct dp_prototype_type *of;
	struct dp_prototype_length length;
	const struct dp_prototype_field *fields;
	const struct dp_prototype_name *names;
	u32 n;
	const char *name;
};

#define DP_PROTOTYPE_LEVELS 16
#define DP_PROTOTYPE_PARTS 4096
#define DP_PROTOTYPE_PARAMETERS 64

/** struct dp_prototype_parameter - @name: NULL, it has none; @out: the function writes what
 *  it points at, so that it is shown at the return */
struct dp_prototype_parameter {
	const char *name;
	const struct dp_prototype_type *type;
	bool out;
};

/** enum dp_prototype_fails - how a function says that it has failed */
enum dp_prototype_fails {
	DP_PROTOTYPE_FAILS_UNKNOWN,
	DP_PROTOTYPE_FAILS_ERRNO, /* it returns @failure, and errno says why */
	DP_PROTOTYPE_FAILS_ERROR, /* it returns the number of the error, 0 without one */
};

/**
 * struct dp_prototype - a function
 * @name: of its symbol
 * @returns: type; VOID
 * @parameters, @n: in order
 * @variadic: others may follow them
 * @fails: enum dp_prototype_fails; @failure: as @returns has it, extended by its sign
 * @scope: names at one address of it, by debug information; or NULL. If it is there and not
 *         by_abi, there are no @parameters
 */
struct dp_prototype {
	const char *name;
	const struct dp_prototype_type *returns;
	const struct dp_prototype_parameter *parameters;
	u32 n;
	bool variadic;
	u8 fails;
	u64 failure;
	const struct dp_scope *scope;
};

/**
 * dp_prototypes_report_fn - told of each line that was skipped
 * @diag: "FILE:LINE:COLUMN: what is wrong"; its caret is for @line
 * @line: the line without its end, "" when it is about a file
 */
typedef void dp_prototypes_report_fn(void *arg, const struct dp_diag *diag,
				     const char *line);

/**
 * dp_prototypes_open() - tables, of which none is read yet
 * @report: or NULL; called with @arg from dp_prototypes_find(), at most
 *          DP_PROTOTYPES_REPORTS times for a file
 * Return: 0, and *@p is for dp_prototypes_close(); -ENOMEM.
 * Source: ours.
 */
int dp_prototypes_open(struct dp_prototypes **p,
		       dp_prototypes_report_fn *report, void *arg);
void dp_prototypes_close(struct dp_prototypes *p);

#define DP_PROTOTYPES_REPORTS 20

/**
 * dp_prototypes_find() - what is known of a function
 * @soname: of its library; the base name of its path without a soname
 * @function: name of its symbol
 *
 * The tables of @soname are read when it is asked for first. Of "libc.so.6" these are
 * libc.so.6.conf and libc.so.conf, in that order, in each of these directories:
 *
 * - those of $DPROBES_PROTOTYPES, which stand between colons
 * - $XDG_DATA_HOME/dprobes/prototypes, or ~/.local/share/dprobes/prototypes
 * - ../share/dprobes/prototypes beside the directory of the program that runs
 * - PREFIX/share/dprobes/prototypes
 *
 * After those of libpthread.so.0 and of other parts of glibc come those of libc.so.
 * The first that knows the function has the word. A program that runs with more rights than
 * its user (AT_SECURE) looks only into the last one. A line that cannot be understood is
 * reported and skipped.
 *
 * Context: may sleep; one thread at a time.
 * Return: NULL: nothing is known of it. It lives until dp_prototypes_close().
 */
const struct dp_prototype *dp_prototypes_find(struct dp_prototypes *p,
					      const char *soname,
					      const char *function);

/** dp_prototypes_each() - call @see for all functions that dp_prototypes_find() would find in
 *  @soname, in no order */
void dp_prototypes_each(struct dp_prototypes *p, const char *soname,
			void (*see)(void *arg, const struct dp_prototype *f),
			void *arg);

/**
 * dp_prototypes_show() - a value as text
 * @buf: room for @len bytes, at least 1; a string afterwards, cut off if need be
 * @value: in its low bytes; what is above the type's size does not count
 *
 * What a pointer points at is not read: strings are shown as pointers.
 * Return: length of the whole text; -EOPNOTSUPP: a u64 does not hold such a value.
 */
int dp_prototypes_show(char *buf, size_t len,
		       const struct dp_prototype_type *type, u64 value);

/** dp_prototypes_failed() - whether @f says by returning @value that it has failed */
bool dp_prototypes_failed(const struct dp_prototype *f, u64 value);

/**
 * dp_prototypes_show_return() - what a function returned, as text
 * @buf, @len, @value: as for dp_prototypes_show()
 * @err: errno after the function; 0: it is not known
 *
 * If it has failed: "-1 ENOENT (No such file or directory)".
 * Return: as dp_prototypes_show(); void is "".
 */
int dp_prototypes_show_return(char *buf, size_t len,
			      const struct dp_prototype *f, u64 value, int err);

#endif
