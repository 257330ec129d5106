// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * parse: read a prototype file.
 *
 *	ITEM      := typedef NAME = TYPE [;] | typedef NAME = struct [;]
 *		   | TYPE NAME([PARAMETER{, PARAMETER}]) [FAILS] [;]
 *	PARAMETER := [+]TYPE [NAME] | ...
 *	FAILS     := errno | errno(NUMBER) | error
 *
 * A line is an item, empty, or a comment, which begins with a semicolon; one can also stand
 * behind an item. So a line that cannot be understood costs no other, except for those that
 * use a type which it was to name.
 */
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"
#include "sym/prototypes/parse.h"

/* Of a line, for the caret of its diagnostic */
#define LINE_SHOWN 4096

struct parameters {
	struct dp_prototype_parameter *v;
	size_t n, room;
};

/* As in C, an array is passed by its address. */
static const struct dp_prototype_type *
passed(struct dp_proto_table *t, struct dp_proto_line *l,
       const struct dp_prototype_type *type)
{
	if (type && type->kind == DP_PROTOTYPE_ARRAY)
		return dp_proto_pointer(t, l, type);
	return type && dp_proto_type_known(l, type) ? type : NULL;
}

static int read_parameter(struct dp_proto_table *t, struct dp_proto_line *l,
			  struct parameters *list)
{
	struct dp_prototype_parameter p = { .out = dp_proto_line_take(l, '+') };

	p.type = passed(t, l, dp_proto_type(t, l));
	if (!p.type)
		return -EINVAL;
	if (l->token == DP_PROTO_NAME && !(p.name = dp_proto_name(t, l)))
		return -EINVAL;
	if (list->n == DP_PROTOTYPE_PARAMETERS)
		return dp_proto_line_wrong(l, "there are too many parameters");
	return dp_list_push(list, &p) ? dp_proto_line_full(l) : 0;
}

/* (void) is (). */
static bool read_nothing(struct dp_proto_line *l)
{
	struct dp_proto_line ahead = *l;

	if (dp_proto_line_is(l, "void"))
		dp_proto_line_next(&ahead);
	if (!dp_proto_line_take(&ahead, ')'))
		return false;
	*l = ahead;
	return true;
}

static int read_parameters(struct dp_proto_table *t, struct dp_proto_line *l,
			   struct dp_prototype *f, struct parameters *list)
{
	if (dp_proto_line_must(l, '('))
		return -EINVAL;
	if (read_nothing(l))
		return 0;
	do {
		if (dp_proto_line_take(l, DP_PROTO_DOTS)) {
			f->variadic = true;
			break;
		}
		if (read_parameter(t, l, list))
			return -EINVAL;
		f->variadic |= list->v[list->n - 1].type->lens ==
			       DP_PROTOTYPE_FORMAT;
	} while (dp_proto_line_take(l, ','));
	return dp_proto_line_must(l, ')');
}

/* -1, or NULL, or the number that is said */
static int read_failure(struct dp_proto_line *l, struct dp_prototype *f)
{
	u8 kind = f->returns->kind;
	u64 failure = kind == DP_PROTOTYPE_POINTER ? 0 : -1ull;

	if (kind != DP_PROTOTYPE_INT && kind != DP_PROTOTYPE_POINTER)
		return dp_proto_line_wrong(
			l, "what this returns does not say that it has failed");
	dp_proto_line_next(l);
	if (dp_proto_line_take(l, '(') &&
	    (dp_proto_line_number(l, &failure) || dp_proto_line_must(l, ')')))
		return -EINVAL;
	f->fails = DP_PROTOTYPE_FAILS_ERRNO;
	f->failure = dp_proto_extend(f->returns, failure);
	return 0;
}

static int read_fails(struct dp_proto_line *l, struct dp_prototype *f)
{
	if (dp_proto_line_is(l, "errno"))
		return read_failure(l, f);
	if (!dp_proto_line_is(l, "error"))
		return 0;
	if (f->returns->kind != DP_PROTOTYPE_INT)
		return dp_proto_line_wrong(l, "this does not return a number");
	f->fails = DP_PROTOTYPE_FAILS_ERROR;
	dp_proto_line_next(l);
	return 0;
}

static int read_end(struct dp_proto_line *l)
{
	if (l->token == DP_PROTO_END || l->token == ';')
		return 0;
	return dp_proto_line_wrong(l, "this is not expected here");
}

/* The first that is said of a function counts. */
static int keep(struct dp_proto_table *t, struct dp_proto_line *l,
		const struct dp_prototype *f, const struct parameters *list)
{
	struct dp_prototype *kept;

	if (dp_proto_names_get(&t->functions, f->name, strlen(f->name)))
		return 0;
	kept = dp_proto_copy(&t->arena, f, sizeof(*f));
	if (!kept)
		return dp_proto_line_full(l);
	kept->n = (u32)list->n;
	kept->parameters =
		dp_proto_copy(&t->arena, list->v, list->n * sizeof(*list->v));
	if (!kept->parameters ||
	    dp_proto_names_put(&t->functions, &t->arena, kept->name, kept))
		return dp_proto_line_full(l);
	return 0;
}

static int read_function(struct dp_proto_table *t, struct dp_proto_line *l)
{
	struct dp_prototype f = { .returns = dp_proto_type(t, l) };
	struct parameters list = { 0 };
	int err = -EINVAL;

	if (!f.returns)
		return err;
	if (f.returns->kind == DP_PROTOTYPE_ARRAY)
		return dp_proto_line_wrong(l, "no function returns an array");
	if (f.returns->kind != DP_PROTOTYPE_VOID &&
	    !dp_proto_type_known(l, f.returns))
		return err;
	f.name = dp_proto_name(t, l);
	if (f.name && !read_parameters(t, l, &f, &list) && !read_fails(l, &f) &&
	    !read_end(l))
		err = keep(t, l, &f, &list);
	free(list.v);
	return err;
}

/* A struct that is known by its name only can get its fields later, once. */
static int give_name(struct dp_proto_table *t, struct dp_proto_line *l,
		     const char *name, const struct dp_prototype_type *type)
{
	struct dp_prototype_type *had =
		dp_proto_names_get(&t->types, name, strlen(name));

	if (!had)
		return dp_proto_names_put(&t->types, &t->arena, name,
					  (void *)type) ?
			       dp_proto_line_full(l) :
			       0;
	*had = *type;
	return 0;
}

/* Of such a struct the file has a type of its own. */
static const struct dp_prototype_type *named(struct dp_proto_table *t,
					     struct dp_proto_line *l)
{
	static const struct dp_prototype_type bare = {
		.kind = DP_PROTOTYPE_STRUCT, .levels = 1, .align = 1
	};
	struct dp_proto_line ahead = *l;

	if (!dp_proto_line_is(l, "struct"))
		return dp_proto_type(t, l);
	dp_proto_line_next(&ahead);
	if (ahead.token == '(')
		return dp_proto_type(t, l);
	*l = ahead;
	return dp_proto_type_new(t, l, &bare);
}

static bool unfinished(const struct dp_prototype_type *type)
{
	return type->kind == DP_PROTOTYPE_STRUCT && !type->size;
}

static int read_typedef(struct dp_proto_table *t, struct dp_proto_line *l)
{
	const struct dp_prototype_type *had, *type;
	const char *name;

	had = dp_proto_names_get(&t->types, l->word, l->len);
	if (had && !unfinished(had))
		return dp_proto_line_wrong(l, "this is a type already");
	name = dp_proto_name(t, l);
	if (!name || dp_proto_line_must(l, '=') || !(type = named(t, l)) ||
	    read_end(l))
		return -EINVAL;
	if (had && type->kind != DP_PROTOTYPE_STRUCT)
		return dp_proto_line_wrong(l, "before this is no struct");
	return give_name(t, l, name, type);
}

static int read_item(struct dp_proto_table *t, struct dp_proto_line *l)
{
	dp_proto_line_begin(l);
	if (l->token == DP_PROTO_END || l->token == ';')
		return 0;
	if (!dp_proto_line_is(l, "typedef"))
		return read_function(t, l);
	dp_proto_line_next(l);
	return read_typedef(t, l);
}

static void tell(const struct dp_proto_line *l, dp_prototypes_report_fn *report,
		 void *arg)
{
	char text[LINE_SHOWN];
	size_t len = (size_t)(l->end - l->text);

	if (len > sizeof(text) - 1)
		len = sizeof(text) - 1;
	memcpy(text, l->text, len);
	text[len] = '\0';
	report(arg, l->diag, text);
}

void dp_proto_parse(struct dp_proto_table *t, const char *file,
		    const char *text, size_t len,
		    dp_prototypes_report_fn *report, void *arg)
{
	const char *end = text + len;
	struct dp_diag diag;
	struct dp_proto_line l = { .file = file, .diag = &diag, .end = text };
	size_t reports = 0;

	t->types = (struct dp_proto_names){ 0 };
	for (l.text = text; l.text < end; l.text = l.end + 1) {
		dp_diag_clear(&diag);
		l.number++;
		l.end = memchr(l.text, '\n', (size_t)(end - l.text)) ?: end;
		if (read_item(t, &l) && report &&
		    reports++ < DP_PROTOTYPES_REPORTS)
			tell(&l, report, arg);
	}
}
