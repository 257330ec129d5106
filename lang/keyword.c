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
	VALUE_ALLOW,
	VALUE_TEXT,
	VALUE_BUILD,
	VALUE_PID,
	VALUE_HEAP,
	VALUE_OFFSET,
	VALUE_ADDRESS,
	VALUE_WATCH,
	VALUE_LEN,
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
	{ "ex_logmax", VALUE_NUMBER, HEADER(ex_logmax), 0, DP_EX_LOG_MAX },
	{ "heapmax", VALUE_NUMBER, HEADER(heapmax), 0, DP_HEAP_MAX },
	{ "autostacktrace", VALUE_YESNO, HEADER(autostacktrace), 0, 0 },
	{ "vars", VALUE_NUMBER, HEADER(vars), 0, DP_VARS_MAX },
	{ "gvars", VALUE_NUMBER, HEADER(gvars), 0, DP_VARS_MAX },
	{ "stack", VALUE_STACK, 0, 0, 0, 0 },
	{ "allow", VALUE_ALLOW, 0, 0, 0, 0 },
	{ "pid", VALUE_PID, 0, 0, 0, 0 },
	{ "comm", VALUE_TEXT, HEADER(filter.comm), 0, 0 },
	{ "uid", VALUE_TEXT, HEADER(filter.user), 0, 0 },
	{ "cgroup", VALUE_TEXT, HEADER(filter.cgroup), 0, 0 },
	{ "build_id", VALUE_BUILD, 0, 0, 0, 0 },
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
	{ "logonfault", VALUE_YESNO, POINT(logonfault), 0, 0 },
	{ "retprobe", VALUE_YESNO, POINT(retprobe), 0, 0 },
	{ "ex_mask", VALUE_NUMBER, POINT(ex_mask), 0, 65535 },
	{ "heap", VALUE_HEAP, POINT(heap), 0, DP_HEAP_MAX },
	{ "watch", VALUE_WATCH, 0, 0, 0, 0 },
	{ "len", VALUE_LEN, 0, 0, 0, 0 },
	{ NULL, 0, 0, 0, 0, 0 },
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

/* Underscores of a keyword are optional. */
static bool is_named(const char *keyword, const char *name)
{
	for (; *keyword; keyword++) {
		if (*keyword == '_')
			continue;
		if (*keyword != *name++)
			return false;
	}
	return !*name;
}

static const struct keyword *find(const struct keyword *keys, const char *name)
{
	for (; keys->name; keys++)
		if (is_named(keys->name, name))
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

static int store_yesno(struct dp_lang_reader *r, const struct keyword *k,
		       void *to)
{
	bool yes = r->tok.kind == DP_TOKEN_WORD && dp_lex_is(&r->tok, "yes");

	if (!yes && (r->tok.kind != DP_TOKEN_WORD || !dp_lex_is(&r->tok, "no")))
		return dp_lang_bad(r, r->tok.at, "%s is yes or no", k->name);
	memcpy((char *)to + k->offset, &yes, sizeof(yes));
	return dp_lex_next(r);
}

static u32 allowed(const struct dp_token *tok)
{
	static const struct {
		const char *word;
		u32 bit;
	} words[] = { { "write", DP_ALLOW_WRITE },
		      { "reg", DP_ALLOW_REG },
		      { "io", DP_ALLOW_IO },
		      { "call", DP_ALLOW_CALL } };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (tok->kind == DP_TOKEN_WORD && dp_lex_is(tok, words[i].word))
			return words[i].bit;
	return 0;
}

static int store_allow(struct dp_lang_reader *r)
{
	struct dp_lang_program *p = r->program;
	int err = 0;
	u32 bit;

	p->allow_at = r->tok.at;
	for (;;) {
		bit = allowed(&r->tok);
		if (!bit)
			return dp_lang_bad(r, r->tok.at,
					   "allow is a list of write, reg, io "
					   "and call");
		p->allow |= bit;
		p->allow_at = dp_lang_join(p->allow_at, r->tok.at);
		err = dp_lex_next(r);
		if (err || r->tok.kind != ',')
			return err;
		err = dp_lex_next(r);
		if (err)
			return err;
	}
}

static int store_text(struct dp_lang_reader *r, const struct keyword *k,
		      void *to)
{
	char *text;

	if (r->tok.kind != DP_TOKEN_NAME || !r->tok.len)
		return dp_lang_bad(r, r->tok.at, "%s is empty here", k->name);
	text = strndup(r->tok.s, r->tok.len);
	memcpy((char *)to + k->offset, &text, sizeof(text));
	return text ? dp_lex_next(r) : dp_lang_nomem(r->diag);
}

static int hex_digit(char c)
{
	return isdigit((u8)c)  ? c - '0' :
	       isxdigit((u8)c) ? tolower((u8)c) - 'a' + 10 :
				 -1;
}

static int store_build(struct dp_lang_reader *r)
{
	struct dp_lang_program *p = r->program;
	const struct dp_token *t = &r->tok;
	u32 i, n = t->kind == DP_TOKEN_NAME ? t->len : 0;
	int high, low;

	p->build_at = t->at;
	for (i = 0; i + 1 < n && i / 2 < DP_LANG_ID; i += 2) {
		high = hex_digit(t->s[i]);
		low = hex_digit(t->s[i + 1]);
		if (high < 0 || low < 0)
			break;
		p->build[i / 2] = (u8)(high << 4 | low);
	}
	p->build_len = i / 2;
	if (!n || i != n)
		return dp_lang_bad(
			r, t->at,
			"build_id is what readelf -n says of the module: an even number of hexadecimal digits, %u at most",
			2 * DP_LANG_ID);
	return dp_lex_next(r);
}

static int store_pid(struct dp_lang_reader *r)
{
	struct dp_lang_number number;
	int err = dp_lang_number(r, "pid", &number);

	if (!err)
		err = dp_lang_range(r, &number, "pid", 1, INT32_MAX);
	if (!err)
		r->program->filter.pid = (s64)number.value;
	return err;
}

static int store_heap(struct dp_lang_reader *r)
{
	struct dp_lang_number number;
	int err = dp_lang_number(r, "heap", &number);

	if (!err)
		err = dp_lang_range(r, &number, "heap", 0, r->program->heapmax);
	if (!err)
		last_point(r)->heap = number.value;
	return err;
}

/* The line of FILE:LINE; the tokens of that lie side by side in the text. */
static int store_line(struct dp_lang_reader *r, struct dp_lang_point *point,
		      const struct dp_token *file)
{
	struct dp_lang_number number;
	int err = dp_lex_next(r);

	if (!err)
		err = dp_lang_number(r, "a line", &number);
	if (!err)
		err = dp_lang_range(r, &number, "a line", 1, INT32_MAX);
	if (err)
		return err;
	free(point->symbol);
	point->symbol = NULL;
	if (asprintf(&point->symbol, "%.*s:%llu", (int)file->len, file->s,
		     (unsigned long long)number.value) < 0)
		return dp_lang_nomem(r->diag);
	point->line = true;
	point->at = dp_lang_join(point->at, number.at);
	return 0;
}

/* A name behind a colon, as in usdt:PROVIDER:NAME. @form: what is said of others */
static int take_name(struct dp_lang_reader *r, const char *form,
		     struct dp_token *name)
{
	int err = 0;

	if (r->tok.kind != ':')
		return dp_lang_bad(r, r->tok.at, "%s", form);
	err = dp_lex_next(r);
	*name = r->tok;
	if (err)
		return err;
	if (name->kind != DP_TOKEN_WORD && name->kind != DP_TOKEN_NAME)
		return dp_lang_bad(r, name->at, "%s", form);
	return dp_lex_next(r);
}

static int store_tracepoint(struct dp_lang_reader *r,
			    struct dp_lang_point *point)
{
	static const char form[] = "a tracepoint is usdt:PROVIDER:NAME";
	struct dp_token provider, name;
	int err = take_name(r, form, &provider) ?: take_name(r, form, &name);

	if (err)
		return err;
	free(point->symbol);
	point->symbol = NULL;
	if (asprintf(&point->symbol, "%.*s:%.*s", (int)provider.len, provider.s,
		     (int)name.len, name.s) < 0)
		return dp_lang_nomem(r->diag);
	point->usdt = true;
	point->at = dp_lang_join(point->at, name.at);
	return 0;
}

static int store_hook(struct dp_lang_reader *r, struct dp_lang_point *point)
{
	struct dp_token name;
	int err = take_name(r, "a hook is hook:NAME", &name);

	if (err)
		return err;
	free(point->symbol);
	point->symbol = strndup(name.s, name.len);
	if (!point->symbol)
		return dp_lang_nomem(r->diag);
	point->hook = true;
	point->at = dp_lang_join(point->at, name.at);
	return 0;
}

/* SYMBOL [(+|-) NUMBER], FILE:LINE, usdt:PROVIDER:NAME, or hook:NAME */
static int store_symbol(struct dp_lang_reader *r, struct dp_lang_point *point)
{
	struct dp_lang_number number = { 0 };
	struct dp_token name = r->tok;
	bool negative;
	int err;

	point->symbol = strndup(r->tok.s, r->tok.len);
	if (!point->symbol)
		return dp_lang_nomem(r->diag);
	point->line = name.kind == DP_TOKEN_NAME &&
		      dp_lang_is_line(name.s, name.len);
	err = dp_lex_next(r);
	if (!err && r->tok.kind == ':' && dp_lex_is(&name, "usdt"))
		return store_tracepoint(r, point);
	if (!err && r->tok.kind == ':' && dp_lex_is(&name, "hook"))
		return store_hook(r, point);
	if (!err && r->tok.kind == ':' && name.kind == DP_TOKEN_WORD)
		return store_line(r, point, &name);
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

static int store_watch(struct dp_lang_reader *r)
{
	static const char *const words[] = {
		[DP_LANG_WATCH_WRITE] = "w",
		[DP_LANG_WATCH_ACCESS] = "rw",
		[DP_LANG_WATCH_EXECUTE] = "x",
	};
	struct dp_lang_point *point = last_point(r);
	bool word = r->tok.kind == DP_TOKEN_WORD;
	u8 i;

	if (word && dp_lex_is(&r->tok, "io"))
		return dp_lang_later(
			r, r->tok.at,
			"Linux sets no watchpoints on ports; "
			"probe the function that reads or writes the port");
	point->watch_at = r->tok.at;
	for (i = DP_LANG_WATCH_WRITE; i <= DP_LANG_WATCH_EXECUTE; i++)
		if (word && dp_lex_is(&r->tok, words[i]))
			point->watch = i;
	if (!point->watch)
		return dp_lang_bad(r, r->tok.at, "watch is w, rw or x");
	return dp_lex_next(r);
}

static int store_len(struct dp_lang_reader *r)
{
	struct dp_lang_point *point = last_point(r);
	struct dp_lang_number number;
	int err = dp_lang_number(r, "len", &number);

	if (err)
		return err;
	if (number.negative || !number.value || number.value > 8 ||
	    number.value & (number.value - 1))
		return dp_lang_bad(r, number.at, "len is 1, 2, 4 or 8");
	point->len = number.value;
	point->len_at = number.at;
	return 0;
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
static int new_point(struct dp_lang_reader *r, const struct dp_token *key)
{
	struct dp_lang_program *p = r->program;
	void *points;
	int err;

	err = p->nr_points ? dp_lang_point_close(r, key->at) :
			     check_header(r, key);
	if (err)
		return err;
	points = dp_lang_grow(p->points, p->nr_points, sizeof(*p->points));
	if (!points)
		return dp_lang_nomem(r->diag);
	p->points = points;
	p->points[p->nr_points++] = (struct dp_lang_point){
		.opcode = -1,
		.major = p->major,
		.maxhits = DP_MAXHITS_DEFAULT,
		.heap = p->heapmax,
		.ex_mask = DP_EX_MASK_DEFAULT,
		.start = p->code_len,
	};
	r->point_seen = 0;
	r->in_code = r->placed = false;
	/* A handler without instructions gets an exit. */
	r->open_end = true;
	return 0;
}

/* A place begins a probe, but for one that "watch" has begun. */
static int open_place(struct dp_lang_reader *r, const struct dp_token *key,
		      bool absolute)
{
	struct dp_lang_program *p = r->program;
	int err = 0;

	if (p->nr_points && !r->in_code && r->placed)
		return dp_lang_bad(r, key->at,
				   "a probe has one place; instructions come "
				   "between two of them");
	if (!p->nr_points || r->in_code)
		err = new_point(r, key);
	if (err)
		return err;
	r->placed = true;
	last_point(r)->absolute = absolute;
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
		return store_yesno(r, k, to);
	case VALUE_ALLOW:
		return store_allow(r);
	case VALUE_TEXT:
		return store_text(r, k, to);
	case VALUE_BUILD:
		return store_build(r);
	case VALUE_PID:
		return store_pid(r);
	case VALUE_HEAP:
		return store_heap(r);
	case VALUE_OFFSET:
	case VALUE_ADDRESS:
		return store_place(r, k->name);
	case VALUE_WATCH:
		return store_watch(r);
	case VALUE_LEN:
		return store_len(r);
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
	bool text = k->kind == VALUE_NAME || k->kind == VALUE_TEXT ||
		    k->kind == VALUE_BUILD;
	int err = text ? dp_lex_name(r) : dp_lex_next(r);

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
		err = open_place(r, key, k->kind == VALUE_ADDRESS);
	} else if (k->kind == VALUE_WATCH &&
		   (!r->program->nr_points || r->in_code)) {
		err = new_point(r, key);
		r->point_seen = 1u << (k - point_keys);
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

	normalise(key, name);
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
