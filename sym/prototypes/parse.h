/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* parse: what the files of this room need of each other. */
#ifndef DP_PROTOTYPES_PARSE_H
#define DP_PROTOTYPES_PARSE_H

#include <dprobes/diag.h>
#include "sym/prototypes.h"

/** struct dp_proto_arena - memory that is freed at once; @used: bytes, of DP_PROTO_MEMORY */
struct dp_proto_arena {
	struct dp_proto_chunk *chunk;
	size_t at, used;
};

/** Bytes for what one library's tables say, and in one of its files. */
#define DP_PROTO_MEMORY (64u << 20)
#define DP_PROTO_FILE (4u << 20)
/** Functions of one library, and types with a name. */
#define DP_PROTO_NAMES (1u << 15)

/** dp_proto_alloc() - @n bytes, zeroed, aligned for anything; NULL: there are no more */
void *dp_proto_alloc(struct dp_proto_arena *a, size_t n);
/** dp_proto_copy() - a copy of @n bytes with a zero byte behind them */
void *dp_proto_copy(struct dp_proto_arena *a, const void *from, size_t n);
void dp_proto_free(struct dp_proto_arena *a);

/** struct dp_proto_names - things by name; @n: of DP_PROTO_NAMES */
struct dp_proto_names {
	struct dp_proto_named *bucket[1024];
	size_t n;
};

struct dp_proto_named {
	struct dp_proto_named *next;
	const char *name;
	void *thing;
};

/** dp_proto_names_get() - the thing that has this name; NULL */
void *dp_proto_names_get(const struct dp_proto_names *t, const char *name,
			 size_t len);
/** dp_proto_names_put() - give @thing a name, which is in @a as is the entry. Return: 0; -ENOMEM */
int dp_proto_names_put(struct dp_proto_names *t, struct dp_proto_arena *a,
		       const char *name, void *thing);
/** dp_proto_names_each() - call @see for each thing, in no order */
void dp_proto_names_each(const struct dp_proto_names *t,
			 void (*see)(void *arg, const void *thing), void *arg);

/** enum dp_proto_token - kinds of words; those of one character are that character */
enum dp_proto_token {
	DP_PROTO_END = 0,
	DP_PROTO_NAME = 256,
	DP_PROTO_NUMBER,
	DP_PROTO_DOTS,
	DP_PROTO_WRONG,
};

/**
 * struct dp_proto_line - a line, and its next word
 * @file, @number: for diagnostics, @number from 1
 * @text, @end: the line; @next: what is behind the word
 * @word, @len, @token, @value: the word; its number
 * @depth: of the type that is read, in others
 * @diag: of the first error
 */
struct dp_proto_line {
	const char *file;
	size_t number;
	const char *text, *end, *next, *word;
	size_t len;
	int token, depth;
	u64 value;
	struct dp_diag *diag;
};

/** dp_proto_line_begin() - go to the first word of @l, whose @text, @end, @file, @number and
 *  @diag are set */
void dp_proto_line_begin(struct dp_proto_line *l);
/** dp_proto_line_next() - go to the next word */
void dp_proto_line_next(struct dp_proto_line *l);
/** dp_proto_line_is() - whether the word is the name @name */
bool dp_proto_line_is(const struct dp_proto_line *l, const char *name);
/** dp_proto_line_take() - if the word is the character @token, go past it. Return: it was */
bool dp_proto_line_take(struct dp_proto_line *l, int token);
/** dp_proto_line_must() - as dp_proto_line_take(), and report it otherwise. Return: 0; -EINVAL */
int dp_proto_line_must(struct dp_proto_line *l, int token);
/** dp_proto_line_number() - a number, which may have a sign, into *@value. Return: 0; -EINVAL */
int dp_proto_line_number(struct dp_proto_line *l, u64 *value);
/** dp_proto_line_wrong() - report what is wrong at the word. Return: -EINVAL */
int dp_proto_line_wrong(struct dp_proto_line *l, const char *what);
/** dp_proto_line_full() - report that there is no more memory. Return: -ENOMEM */
int dp_proto_line_full(struct dp_proto_line *l);

/** struct dp_proto_table - what the files of one library say, and types of the file at hand */
struct dp_proto_table {
	struct dp_proto_arena arena;
	struct dp_proto_names functions, types;
};

/** dp_proto_type() - a type from the words of a line. Return: NULL, and it is reported */
const struct dp_prototype_type *dp_proto_type(struct dp_proto_table *t,
					      struct dp_proto_line *l);
/** dp_proto_type_new() - a copy of @type. Return: NULL, as dp_proto_type() */
struct dp_prototype_type *
dp_proto_type_new(struct dp_proto_table *t, struct dp_proto_line *l,
		  const struct dp_prototype_type *type);
/** dp_proto_type_known() - whether @type can be had by value; it is reported otherwise */
bool dp_proto_type_known(struct dp_proto_line *l,
			 const struct dp_prototype_type *type);

/** dp_proto_pointer() - a pointer to @type, shown as that is if it is a string */
const struct dp_prototype_type *
dp_proto_pointer(struct dp_proto_table *t, struct dp_proto_line *l,
		 const struct dp_prototype_type *type);
/** dp_proto_name() - take a name. Return: a copy; NULL, and it is reported */
const char *dp_proto_name(struct dp_proto_table *t, struct dp_proto_line *l);

extern const struct dp_prototype_type dp_proto_void, dp_proto_char,
	dp_proto_int;
/** dp_proto_builtin() - the type that has the name of @l's word in every file; NULL */
const struct dp_prototype_type *dp_proto_builtin(const struct dp_proto_line *l);

/**
 * dp_proto_parse() - add the functions of a file to @t, but for those that it has
 * @file: for diagnostics
 */
void dp_proto_parse(struct dp_proto_table *t, const char *file,
		    const char *text, size_t len,
		    dp_prototypes_report_fn *report, void *arg);

/** dp_proto_search() - call @see for each file that there is for @soname, in order
 *  @text: @len bytes of it */
void dp_proto_search(const char *soname,
		     void (*see)(void *arg, const char *file, const char *text,
				 size_t len),
		     void *arg);

/** dp_proto_extend() - of INT: @value without what is above its size */
u64 dp_proto_extend(const struct dp_prototype_type *type, u64 value);

#endif
