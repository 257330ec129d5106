// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* keyword: read the KEY = VALUE lines of the header and of each probe. */
#include "lang/private.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 24

enum value_kind {
	VALUE_NUMBER,
	VALUE_NAME,
	VALUE_MODTYPE,
	VALUE_STACK,
	VALUE_YESNO,
	VALUE_OFFSET,
	VALUE_ADDRESS,
};

/* @offset, @size: the field of struct dp_lang_program or dp_lang_point */
struct keyword {
	const char *name;
	enum value_kind kind;
	u16 offset;
	u8 size;
	u32 min, max;
};

#define FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)
#define HEADER(field) FIELD(struct dp_lang_program, field)
#define POINT(field) FIELD(struct dp_lang_point, field)

static const struct keyword header_keys[] = {
	{ "name", VALUE_NAME, 0, 0, 0, 0 },
	{ "modtype", VALUE_MODTYPE, 0, 0, 0, 0 },
	{ "major", VALUE_NUMBER, HEADER(major), 1, 65535 },
	{ "id", VALUE_NUMBER, HEADER(id), 0, 65535 },
	{ "jmpmax", VALUE_NUMBER, HEADER(jmpmax), 0, DP_JMP_MAX },
	{ "logmax", VALUE_NUMBER, HEADER(logmax), 0, DP_LOG_MAX },
	{ "vars", VALUE_NUMBER, HEADER(vars), 0, DP_VARS_MAX },
	{ "gvars", VALUE_NUMBER, HEADER(gvars), 0, DP_VARS_MAX },
	{ "stack", VALUE_STACK, 0, 0, 0, 0 },
	{ NULL, 0, 0, 0, 0, 0 },
};

static const struct keyword point_keys[] = {
	{ "offset", VALUE_OFFSET, 0, 0, 0, 0 },
	{ "address", VALUE_ADDRESS, 0, 0, 0, 0 },
	{ "opcode", VALUE_NUMBER, POINT(opcode), 0, 255 },
	{ "minor", VALUE_NUMBER, POINT(minor), 0, 65535 },
	{ "major", VALUE_NUMBER, POINT(major), 1, 65535 },
	{ "passcount", VALUE_NUMBER, POINT(passcount), 0, DP_MAXHITS_DEFAULT },
	{ "maxhits", VALUE_NUMBER, POINT(maxhits), 0, DP_MAXHITS_DEFAULT },
	{ "group", VALUE_NUMBER, POINT(group), 0, 65535 },
	{ "type", VALUE_NUMBER, POINT(type), 0, 65535 },
	{ "logonfault", VALUE_YESNO, 0, 0, 0, 0 },
	{ NULL, 0, 0, 0, 0, 0 },
};

static const struct later {
	const char *name, *what;
} later_keys[] = {
	{ "exlogmax", "stack traces (ex_logmax)" },
	{ "heapmax", "byte heaps (heapmax)" },
	{ "heap", "byte heaps (heap)" },
	{ "autostacktrace", "stack traces (autostacktrace)" },
	{ "exmask", "exception masks (ex_mask)" },
	{ "watch", "watchpoints (watch)" },
	{ "len", "watchpoints (len)" },
	{ NULL, NULL },
};

/* Lower case, no underscores; a name that is too long becomes empty. */
static void normalise(const struct dp_token *key, char name[NAME_MAX_LEN])
{
	u32 i, n = 0;

	for (i = 0; i < key->len && n < NAME_MAX_LEN - 1; i++)
		if (key->s[i] != '_')
			name[n++] = tolower((u8)key->s[i]);
	name[i < key->len ? 0 : n] = '\0';
}

static const struct keyword *find(const struct keyword *keys, const char *name)
{
	for (; keys->name; keys++)
		if (!strcmp(keys->name, name))
			return keys;
	return NULL;
}

static const char *find_near(const struct keyword *keys, const char *name)
{
	for (; keys->name; keys++)
		if (dp_lang_near(name, keys->name))
			return keys->name;
	return NULL;
}

static struct dp_lang_point *last_point(const struct dp_lang_reader *r)
{
	return &r->program->points[r->program->nr_points - 1];
}

static int store_number(struct dp_lang_reader *r, const struct keyword *k,
			void *to)
{
	struct dp_lang_number number;
	u32 value;
	u16 half;
	int err = dp_lang_number(r, k->name, &number);

	if (err)
		return err;
	if (!number.value && k->min)
		return dp_lang_bad(r, number.at,
				   "major 0 is reserved for stack traces; "
				   "take one from 1 to %u",
				   k->max);
	err = dp_lang_range(r, &number, k->name, k->min, k->max);
	if (err)
		return err;
	value = number.value;
	half = value;
	if (k->size == sizeof(half))
		memcpy((char *)to + k->offset, &half, sizeof(half));
	else
		memcpy((char *)to + k->offset, &value, sizeof(value));
	return 0;
}

static int store_name(struct dp_lang_reader *r)
{
	struct dp_lang_program *p = r->program;

	if (r->tok.kind != DP_TOKEN_NAME || !r->tok.len)
		return dp_lang_bad(r, r->tok.at,
				   "name is the path of a file or the name of "
				   "a module, and is empty here");
	p->name = strndup(r->tok.s, r->tok.len);
	p->name_at = r->tok.at;
	return p->name ? dp_lex_next(r) : dp_lang_nomem(r->diag);
}

static int store_modtype(struct dp_lang_reader *r)
{
	if (r->tok.kind == DP_TOKEN_WORD && dp_lex_is(&r->tok, "user"))
		r->program->modtype = DP_MODTYPE_USER;
	else if (r->tok.kind == DP_TOKEN_WORD && dp_lex_is(&r->tok, "kernel"))
		r->program->modtype = DP_MODTYPE_KERNEL;
	else if (r->tok.kind == DP_TOKEN_WORD && dp_lex_is(&r->tok, "kmod"))
		r->program->modtype = DP_MODTYPE_KMOD;
	else
		return dp_lang_bad(r, r->tok.at,
				   "modtype is user, kernel or kmod");
	return dp_lex_next(r);
}

static int store_stack(struct dp_lang_reader *r)
{
	struct dp_lang_number number;
	int err = dp_lang_number(r, "stack", &number);

	if (err)
		return err;
	if (number.negative || (number.value != DP_STACK_SMALL &&
				number.value != DP_STACK_DEFAULT))
		return dp_lang_bad(r, number.at, "stack is %u or %u",
				   DP_STACK_SMALL, DP_STACK_DEFAULT);
	r->program->stack = number.value;
	return 0;
}

static int store_yesno(struct dp_lang_reader *r)
{
	bool yes = r->tok.kind == DP_TOKEN_WORD && dp_lex_is(&r->tok, "yes");

	if (!yes && (r->tok.kind != DP_TOKEN_WORD || !dp_lex_is(&r->tok, "no")))
		return dp_lang_bad(r, r->tok.at, "logonfault is yes or no");
	last_point(r)->logonfault = yes;
	return dp_lex_next(r);
}

/* SYMBOL [(+|-) NUMBER] */
static int store_symbol(struct dp_lang_reader *r, struct dp_lang_point *point)
{
	struct dp_lang_number number = { 0 };
	bool negative;
	int err;

	point->symbol = strndup(r->tok.s, r->tok.len);
	if (!point->symbol)
		return dp_lang_nomem(r->diag);
	err = dp_lex_next(r);
	if (err || (r->tok.kind != '+' && r->tok.kind != '-'))
		return err;
	negative = r->tok.kind == '-';
	err = dp_lex_next(r);
	if (!err)
		err = dp_lang_number(r, "what is added to a symbol", &number);
	if (!err)
		err = dp_lang_range(r, &number, "what is added to a symbol", 0,
				    INT64_MAX);
	point->value = negative ? -(s64)number.value : (s64)number.value;
	point->at = dp_lang_join(point->at, number.at);
	return err;
}

static int store_place(struct dp_lang_reader *r, const char *what)
{
	struct dp_lang_point *point = last_point(r);
	struct dp_lang_number number = { 0 };
	int err;

	point->at = r->tok.at;
	if (r->tok.kind == DP_TOKEN_WORD || r->tok.kind == DP_TOKEN_NAME)
		return store_symbol(r, point);
	if (r->tok.kind != DP_TOKEN_NUMBER && r->tok.kind != '-')
		return dp_lang_bad(r, r->tok.at,
				   "%s is a number, SYMBOL or SYMBOL + NUMBER",
				   what);
	err = dp_lang_number(r, what, &number);
	if (!err)
		err = dp_lang_range(r, &number, what, 0, UINT64_MAX);
	point->value = number.value;
	return err;
}

static int check_header(struct dp_lang_reader *r, const struct dp_token *key)
{
	if (!r->program->name)
		return dp_lang_bad(
			r, key->at,
			"the header has no name; add \"name = FILE\" "
			"before this line");
	if (!r->program->modtype)
		return dp_lang_bad(r, key->at,
				   "the header has no modtype; add \"modtype = "
				   "user\" before this line");
	return 0;
}

/* Begin a probe; its place is read later. */
static int open_point(struct dp_lang_reader *r, const struct dp_token *key,
		      bool absolute)
{
	struct dp_lang_program *p = r->program;
	void *points;
	int err;

	if (p->nr_points && !r->in_code)
		return dp_lang_bad(r, key->at,
				   "a probe has one place; instructions come "
				   "between two of them");
	err = p->nr_points ? dp_lang_point_close(r, key->at) :
			     check_header(r, key);
	if (err)
		return err;
	points = dp_lang_grow(p->points, p->nr_points, sizeof(*p->points));
	if (!points)
		return dp_lang_nomem(r->diag);
	p->points = points;
	p->points[p->nr_points++] = (struct dp_lang_point){
		.absolute = absolute,
		.opcode = -1,
		.major = p->major,
		.maxhits = DP_MAXHITS_DEFAULT,
		.start = p->code_len,
	};
	r->point_seen = 0;
	r->in_code = false;
	/* A handler without instructions gets an exit. */
	r->open_end = true;
	return 0;
}

static int store(struct dp_lang_reader *r, const struct keyword *k, void *to)
{
	struct dp_source_place at = r->tok.at;

	switch (k->kind) {
	case VALUE_NAME:
		return store_name(r);
	case VALUE_MODTYPE:
		return store_modtype(r);
	case VALUE_STACK:
		return store_stack(r);
	case VALUE_YESNO:
		return store_yesno(r);
	case VALUE_OFFSET:
	case VALUE_ADDRESS:
		return store_place(r, k->name);
	default:
		break;
	}
	if (!strcmp(k->name, "opcode"))
		last_point(r)->opcode_at = at;
	return store_number(r, k, to);
}

static int read_value(struct dp_lang_reader *r, const struct keyword *k,
		      void *to)
{
	int err = k->kind == VALUE_NAME ? dp_lex_name(r) : dp_lex_next(r);

	if (!err)
		err = store(r, k, to);
	if (!err && r->tok.kind != DP_TOKEN_END)
		return dp_lang_bad(r, r->tok.at,
				   "nothing follows the value of %s; "
				   "remove this",
				   k->name);
	return err;
}

static int check_once(struct dp_lang_reader *r, const struct dp_token *key,
		      u32 *seen, u32 bit)
{
	if (*seen & (1u << bit))
		return dp_lang_bad(r, key->at,
				   "%.*s is given twice; remove one of them",
				   DP_TOKEN_SHOWN(key));
	*seen |= 1u << bit;
	return 0;
}

static int header_key(struct dp_lang_reader *r, const struct dp_token *key,
		      const struct keyword *k)
{
	int err = check_once(r, key, &r->header_seen, k - header_keys);

	if (!strcmp(k->name, "gvars"))
		r->gvars_given = true;
	return err ? err : read_value(r, k, r->program);
}

static int point_key(struct dp_lang_reader *r, const struct dp_token *key,
		     const struct keyword *k)
{
	int err;

	if (k->kind == VALUE_OFFSET || k->kind == VALUE_ADDRESS) {
		err = open_point(r, key, k->kind == VALUE_ADDRESS);
	} else if (!r->program->nr_points) {
		return dp_lang_bad(r, key->at,
				   "%s belongs to a probe; \"offset = SYMBOL\" "
				   "comes before it",
				   k->name);
	} else if (r->in_code) {
		return dp_lang_bad(r, key->at,
				   "%s comes before the instructions of its "
				   "probe; move it up",
				   k->name);
	} else {
		err = check_once(r, key, &r->point_seen, k - point_keys);
	}
	return err ? err : read_value(r, k, last_point(r));
}

static int unknown(struct dp_lang_reader *r, const struct dp_token *key,
		   const char *name)
{
	const struct keyword *k;
	const char *near = find_near(header_keys, name);
	int err = dp_lang_bad(r, key->at, "there is no keyword \"%.*s\"",
			      DP_TOKEN_SHOWN(key));

	if (!near)
		near = find_near(point_keys, name);
	if (near) {
		dp_diag_add(r->diag, "; did you mean \"%s\"?", near);
		return err;
	}
	dp_diag_add(r->diag, "; the header has");
	for (k = header_keys; k->name; k++)
		dp_diag_add(r->diag, " %s", k->name);
	dp_diag_add(r->diag, ", and a probe");
	for (k = point_keys; k->name; k++)
		dp_diag_add(r->diag, " %s", k->name);
	return err;
}

int dp_lang_keyword(struct dp_lang_reader *r, const struct dp_token *key)
{
	char name[NAME_MAX_LEN];
	const struct keyword *header, *point;
	const struct later *later;

	normalise(key, name);
	for (later = later_keys; later->name; later++)
		if (!strcmp(later->name, name))
			return dp_lang_later(r, key->at, "%s are not there yet",
					     later->what);
	header = find(header_keys, name);
	point = find(point_keys, name);
	if (header && !r->program->nr_points)
		return header_key(r, key, header);
	if (point)
		return point_key(r, key, point);
	if (!header)
		return unknown(r, key, name);
	return dp_lang_bad(r, key->at,
			   "%s belongs in the header, before the first probe",
			   header->name);
}
