// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * type: read a type of a prototype file.
 *
 *	TYPE   := (WORD | ALIAS | LENS) {*}
 *	LENS   := (oct | hex | hide | bool | bitvec)(TYPE) | struct([TYPE [NAME]{, …}])
 *		| array(TYPE, LENGTH) | string(TYPE) | string[LENGTH] | stringN
 *		| (enum | flags)[[TYPE]](NAME[=NUMBER[/NUMBER]]{, …})
 *	LENGTH := NUMBER | argN | retval | eltN | zero[(LENGTH)]
 *
 * Each level of it is a call that calls itself; more than DEPTH are refused. What a type has
 * in it by value is complete, so that no value has itself in it.
 */
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"
#include "sym/prototypes/parse.h"

#define DEPTH 32
#define SIZE_MOST (1u << 20)

typedef struct dp_prototype_type type;

type *dp_proto_type_new(struct dp_proto_table *t, struct dp_proto_line *l,
			const type *from)
{
	type *to = dp_proto_alloc(&t->arena, sizeof(*to));

	if (to)
		*to = *from;
	else
		dp_proto_line_full(l);
	return to;
}

const type *dp_proto_pointer(struct dp_proto_table *t, struct dp_proto_line *l,
			     const type *of)
{
	const type pointer = { .kind = DP_PROTOTYPE_POINTER,
			       .size = 8,
			       .align = 8,
			       .parts = 1,
			       .of = of };
	type *p = dp_proto_type_new(t, l, &pointer);

	if (p && of->kind == DP_PROTOTYPE_ARRAY &&
	    of->lens == DP_PROTOTYPE_STRING)
		p->lens = DP_PROTOTYPE_STRING;
	return p;
}

const char *dp_proto_name(struct dp_proto_table *t, struct dp_proto_line *l)
{
	const char *name;

	if (l->token != DP_PROTO_NAME) {
		dp_proto_line_wrong(l, "a name is missing");
		return NULL;
	}
	name = dp_proto_copy(&t->arena, l->word, l->len);
	if (name)
		dp_proto_line_next(l);
	else
		dp_proto_line_full(l);
	return name;
}

bool dp_proto_type_known(struct dp_proto_line *l, const type *of)
{
	if (of->kind == DP_PROTOTYPE_ARRAY || of->size)
		return true;
	dp_proto_line_wrong(l, "before this is a value of an unknown size");
	return false;
}

/* argN, eltN: N */
static bool numbered(const struct dp_proto_line *l, const char *word, u64 *n)
{
	size_t len = strlen(word), i;

	if (l->token != DP_PROTO_NAME || l->len <= len || l->len > len + 3 ||
	    memcmp(l->word, word, len))
		return false;
	for (*n = 0, i = len; i < l->len; i++) {
		if (l->word[i] < '0' || l->word[i] > '9')
			return false;
		*n = *n * 10 + (u64)(l->word[i] - '0');
	}
	return true;
}

/* Arguments and elements are numbered from 1; argument 0 is what is returned. */
static void set_argument(struct dp_prototype_length *length, u64 n)
{
	length->count = n ? DP_PROTOTYPE_ARGUMENT : DP_PROTOTYPE_RETVAL;
	length->n = n ? n - 1 : 0;
}

static int simple_length(struct dp_proto_line *l,
			 struct dp_prototype_length *length)
{
	u64 n;

	if (l->token == DP_PROTO_NUMBER) {
		length->count = DP_PROTOTYPE_NUMBER;
		return dp_proto_line_number(l, &length->n);
	}
	if (numbered(l, "arg", &n)) {
		set_argument(length, n);
	} else if (numbered(l, "elt", &n) && n) {
		length->count = DP_PROTOTYPE_ELEMENT;
		length->n = n - 1;
	} else if (dp_proto_line_is(l, "retval")) {
		set_argument(length, 0);
	} else {
		return dp_proto_line_wrong(
			l, "this is no length: NUMBER, argN, retval, eltN, "
			   "zero or zero(LENGTH)");
	}
	dp_proto_line_next(l);
	return 0;
}

static int read_length(struct dp_proto_line *l,
		       struct dp_prototype_length *length)
{
	int err;

	*length = (struct dp_prototype_length){ 0 };
	if (!dp_proto_line_is(l, "zero"))
		return simple_length(l, length);
	length->zero = true;
	dp_proto_line_next(l);
	if (!dp_proto_line_take(l, '('))
		return 0;
	err = simple_length(l, length);
	return err ?: dp_proto_line_must(l, ')');
}

/* The size of a whole, and how much is in it, have limits. */
static bool fits(struct dp_proto_line *l, const type *whole, u64 size,
		 u64 parts)
{
	if (size <= SIZE_MOST && parts <= DP_PROTOTYPE_PARTS &&
	    whole->levels <= DP_PROTOTYPE_LEVELS)
		return true;
	dp_proto_line_wrong(l, "before this is a value that is too large, or "
			       "too deep");
	return false;
}

static bool is_character(const type *of)
{
	return of->kind == DP_PROTOTYPE_INT && of->size == 1;
}

static const type *make_array(struct dp_proto_table *t, struct dp_proto_line *l,
			      const type *of, struct dp_prototype_length length,
			      u8 lens)
{
	type array = { .kind = DP_PROTOTYPE_ARRAY,
		       .lens = lens,
		       .levels = (u8)(of->levels + 1),
		       .align = of->align,
		       .of = of,
		       .length = length };
	u64 n = length.count == DP_PROTOTYPE_NUMBER ? length.n : 0;
	u64 parts;

	if (n > SIZE_MOST)
		n = SIZE_MOST + 1;
	parts = n && !is_character(of) ? n * of->parts : of->parts;
	if (!fits(l, &array, n * of->size, parts))
		return NULL;
	array.size = (u32)(n * of->size);
	array.parts = (u32)parts;
	return dp_proto_type_new(t, l, &array);
}

static const type *read_array(struct dp_proto_table *t, struct dp_proto_line *l)
{
	struct dp_prototype_length length;
	const type *of;

	if (dp_proto_line_must(l, '(') || !(of = dp_proto_type(t, l)) ||
	    !dp_proto_type_known(l, of) || dp_proto_line_must(l, ',') ||
	    read_length(l, &length) || dp_proto_line_must(l, ')'))
		return NULL;
	return make_array(t, l, of, length, DP_PROTOTYPE_PLAIN);
}

/* Its elements: an array of characters, or, behind a pointer, a character. */
static const type *characters(const type *of,
			      struct dp_prototype_length *length)
{
	*length = (struct dp_prototype_length){ .zero = true };
	if (of->kind == DP_PROTOTYPE_POINTER) {
		of = of->of;
		if (is_character(of))
			return of;
	}
	if (of->kind != DP_PROTOTYPE_ARRAY || !is_character(of->of))
		return NULL;
	*length = of->length;
	return of->of;
}

static const type *string_of(struct dp_proto_table *t, struct dp_proto_line *l)
{
	struct dp_prototype_length length;
	const type *of = dp_proto_type(t, l), *text;

	if (!of)
		return NULL;
	text = characters(of, &length);
	if (!text) {
		dp_proto_line_wrong(l, "before this are no characters");
		return NULL;
	}
	if (dp_proto_line_must(l, ')'))
		return NULL;
	text = make_array(t, l, text, length, DP_PROTOTYPE_STRING);
	return !text || of->kind == DP_PROTOTYPE_ARRAY ?
		       text :
		       dp_proto_pointer(t, l, text);
}

static const type *make_string(struct dp_proto_table *t,
			       struct dp_proto_line *l,
			       struct dp_prototype_length length)
{
	const type *text =
		make_array(t, l, &dp_proto_char, length, DP_PROTOTYPE_STRING);

	return text ? dp_proto_pointer(t, l, text) : NULL;
}

static const type *read_string(struct dp_proto_table *t,
			       struct dp_proto_line *l)
{
	struct dp_prototype_length length = { .zero = true };

	if (dp_proto_line_take(l, '('))
		return string_of(t, l);
	if (dp_proto_line_take(l, '[') &&
	    (read_length(l, &length) || dp_proto_line_must(l, ']')))
		return NULL;
	return make_string(t, l, length);
}

/* string3 is string[arg3]. */
static const type *read_short_string(struct dp_proto_table *t,
				     struct dp_proto_line *l, u64 n)
{
	struct dp_prototype_length length = { 0 };

	set_argument(&length, n);
	dp_proto_line_next(l);
	return make_string(t, l, length);
}

static bool is_scalar(const type *of)
{
	return of->kind == DP_PROTOTYPE_INT || of->kind == DP_PROTOTYPE_FLOAT ||
	       of->kind == DP_PROTOTYPE_POINTER;
}

/* oct(TYPE) and others, that show a type in another way */
static const type *read_lens(struct dp_proto_table *t, struct dp_proto_line *l,
			     u8 lens)
{
	const type *of;
	type *to;

	if (dp_proto_line_must(l, '(') || !(of = dp_proto_type(t, l)) ||
	    !dp_proto_type_known(l, of))
		return NULL;
	if (lens != DP_PROTOTYPE_PLAIN && lens != DP_PROTOTYPE_BITVEC &&
	    !is_scalar(of)) {
		dp_proto_line_wrong(l, "before this is no number");
		return NULL;
	}
	to = dp_proto_line_must(l, ')') ? NULL : dp_proto_type_new(t, l, of);
	if (to && lens != DP_PROTOTYPE_PLAIN)
		to->lens = lens;
	else if (to)
		to->hidden = true;
	return to;
}

struct fields {
	struct dp_prototype_field *v;
	size_t n, room;
};

/* Behind an array whose length is a value nothing has a place. */
static int place(struct dp_proto_line *l, type *s, struct dp_prototype_field *f,
		 bool after)
{
	u64 at = (s->size + f->type->align - 1) / f->type->align *
		 f->type->align;

	if (after)
		return dp_proto_line_wrong(
			l, "before this is an array without a number of "
			   "elements, and something behind it");
	f->offset = (u32)at;
	if (f->type->levels >= s->levels)
		s->levels = (u8)(f->type->levels + 1);
	if (f->type->align > s->align)
		s->align = f->type->align;
	s->parts += f->type->parts;
	if (!fits(l, s, at + f->type->size, s->parts))
		return -EINVAL;
	s->size = (u32)(at + f->type->size);
	return 0;
}

static int read_field(struct dp_proto_table *t, struct dp_proto_line *l,
		      type *s, struct fields *list)
{
	struct dp_prototype_field f = { .type = dp_proto_type(t, l) };
	const type *last = list->n ? list->v[list->n - 1].type : NULL;

	if (!f.type || !dp_proto_type_known(l, f.type))
		return -EINVAL;
	if (l->token == DP_PROTO_NAME && !(f.name = dp_proto_name(t, l)))
		return -EINVAL;
	if (place(l, s, &f, last && !last->size))
		return -EINVAL;
	return dp_list_push(list, &f) ? dp_proto_line_full(l) : 0;
}

static int read_fields(struct dp_proto_table *t, struct dp_proto_line *l,
		       type *s, struct fields *list)
{
	int err;

	if (dp_proto_line_must(l, '('))
		return -EINVAL;
	if (dp_proto_line_take(l, ')'))
		return 0;
	do {
		err = read_field(t, l, s, list);
		if (err)
			return err;
	} while (dp_proto_line_take(l, ','));
	return dp_proto_line_must(l, ')');
}

static const type *read_struct(struct dp_proto_table *t,
			       struct dp_proto_line *l)
{
	type s = { .kind = DP_PROTOTYPE_STRUCT, .levels = 1, .align = 1 };
	struct fields list = { 0 };
	const type *made = NULL;

	if (!read_fields(t, l, &s, &list)) {
		s.size = (s.size + s.align - 1) / s.align * s.align;
		s.n = (u32)list.n;
		s.fields = dp_proto_copy(&t->arena, list.v,
					 list.n * sizeof(*list.v));
		if (s.fields)
			made = dp_proto_type_new(t, l, &s);
		else
			dp_proto_line_full(l);
	}
	free(list.v);
	return made;
}

struct names {
	struct dp_prototype_name *v;
	size_t n, room;
};

/* The mask of a name of an enumeration is all of the value; that of a flag is the flag. */
static int read_value(struct dp_proto_line *l, struct dp_prototype_name *name,
		      bool flags)
{
	if (dp_proto_line_take(l, '=')) {
		if (dp_proto_line_number(l, &name->value))
			return -EINVAL;
	} else if (flags) {
		return dp_proto_line_must(l, '=');
	}
	name->mask = flags ? name->value : ~0ull;
	if (!flags || !dp_proto_line_take(l, '/'))
		return 0;
	return dp_proto_line_number(l, &name->mask);
}

static int read_names(struct dp_proto_table *t, struct dp_proto_line *l,
		      struct names *list, bool flags)
{
	struct dp_prototype_name name = { .value = -1ull };

	if (dp_proto_line_must(l, '('))
		return -EINVAL;
	do {
		name.value++;
		name.text = dp_proto_name(t, l);
		if (!name.text || read_value(l, &name, flags))
			return -EINVAL;
		if (dp_list_push(list, &name))
			return dp_proto_line_full(l);
	} while (dp_proto_line_take(l, ','));
	return dp_proto_line_must(l, ')');
}

static const type *named_type(struct dp_proto_table *t, struct dp_proto_line *l)
{
	const type *of;

	if (!dp_proto_line_take(l, '['))
		return &dp_proto_int;
	of = dp_proto_type(t, l);
	if (!of || dp_proto_line_must(l, ']'))
		return NULL;
	if (of->kind == DP_PROTOTYPE_INT)
		return of;
	dp_proto_line_wrong(l, "before this is no type of integers");
	return NULL;
}

/* enum[TYPE](…), flags[TYPE](…) */
static const type *read_named(struct dp_proto_table *t, struct dp_proto_line *l,
			      u8 lens)
{
	const type *of = named_type(t, l);
	struct names list = { 0 };
	type *made = NULL;

	if (of && !read_names(t, l, &list, lens == DP_PROTOTYPE_FLAGS))
		made = dp_proto_type_new(t, l, of);
	if (made) {
		made->lens = lens;
		made->n = (u32)list.n;
		made->names = dp_proto_copy(&t->arena, list.v,
					    list.n * sizeof(*list.v));
		if (!made->names && dp_proto_line_full(l))
			made = NULL;
	}
	free(list.v);
	return made;
}

static const struct {
	const char *word;
	u8 lens;
} lenses[] = {
	{ "oct", DP_PROTOTYPE_OCT },	   { "hex", DP_PROTOTYPE_HEX },
	{ "bool", DP_PROTOTYPE_BOOL },	   { "hide", DP_PROTOTYPE_PLAIN },
	{ "bitvec", DP_PROTOTYPE_BITVEC },
};

/* A word that has something in parentheses or brackets behind it */
static const type *read_long(struct dp_proto_table *t, struct dp_proto_line *l,
			     const struct dp_proto_line *word)
{
	size_t i;

	if (dp_proto_line_is(word, "struct"))
		return read_struct(t, l);
	if (dp_proto_line_is(word, "array"))
		return read_array(t, l);
	if (dp_proto_line_is(word, "string"))
		return read_string(t, l);
	if (dp_proto_line_is(word, "enum"))
		return read_named(t, l, DP_PROTOTYPE_ENUM);
	if (dp_proto_line_is(word, "flags"))
		return read_named(t, l, DP_PROTOTYPE_FLAGS);
	for (i = 0; i < sizeof(lenses) / sizeof(*lenses); i++)
		if (dp_proto_line_is(word, lenses[i].word))
			return read_lens(t, l, lenses[i].lens);
	*l = *word;
	dp_proto_line_wrong(l, "this is no type");
	return NULL;
}

/* A file's own names go before words. */
static const type *read_base(struct dp_proto_table *t, struct dp_proto_line *l)
{
	const struct dp_proto_line word = *l;
	const type *of = NULL;
	u64 n;

	if (l->token != DP_PROTO_NAME) {
		dp_proto_line_wrong(l, "a type is missing");
		return NULL;
	}
	of = dp_proto_names_get(&t->types, l->word, l->len);
	if (!of && numbered(l, "string", &n))
		return read_short_string(t, l, n);
	dp_proto_line_next(l);
	/* bool is a type; bool(TYPE) shows one as such. */
	if (!of && (l->token != '(' || !dp_proto_line_is(&word, "bool")))
		of = dp_proto_builtin(&word);
	return of ?: read_long(t, l, &word);
}

const type *dp_proto_type(struct dp_proto_table *t, struct dp_proto_line *l)
{
	const type *of = NULL;

	if (++l->depth > DEPTH)
		dp_proto_line_wrong(l, "types are too deep in one another");
	else
		of = read_base(t, l);
	while (of && dp_proto_line_take(l, '*'))
		of = dp_proto_pointer(t, l, of);
	l->depth--;
	return of;
}
