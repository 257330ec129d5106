// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* keyword: KEY = VALUE, of the header and of probes. */
#include "lang/private.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define WORD_MAX 64

enum key_kind {
	KEY_NUMBER,
	KEY_EITHER, /* one of two numbers */
	KEY_NAME,
	KEY_MODTYPE,
	KEY_OFFSET, /* opens a probe, as KEY_ADDRESS does */
	KEY_ADDRESS,
	KEY_YES_NO,
	KEY_LATER,
};

enum key_owner { OF_HEADER = 1, OF_POINT = 2 };

#define IN(f) offsetof(struct dp_lang_program, f)
#define AT(f) offsetof(struct dp_lang_point, f)

/**
 * struct key - one keyword
 * @size: bytes of the field it sets
 * @in_header, @in_point: where that field is
 */
static const struct key {
	const char *name;
	u8 kind, owner, size;
	u32 min, max;
	size_t in_header, in_point;
} keys[] = {
	{ .name = "name", .kind = KEY_NAME, .owner = OF_HEADER },
	{ .name = "modtype", .kind = KEY_MODTYPE, .owner = OF_HEADER },
	{ "major", KEY_NUMBER, OF_HEADER | OF_POINT, 2, 1, 65535, IN(major),
	  AT(major) },
	{ "id", KEY_NUMBER, OF_HEADER, 2, 0, 65535, IN(id), 0 },
	{ "jmpmax", KEY_NUMBER, OF_HEADER, 4, 0, DP_JMP_MAX, IN(jmpmax), 0 },
	{ "logmax", KEY_NUMBER, OF_HEADER, 4, 0, DP_LOG_MAX, IN(logmax), 0 },
	{ "vars", KEY_NUMBER, OF_HEADER, 4, 0, DP_VARS_MAX, IN(vars), 0 },
	{ "gvars", KEY_NUMBER, OF_HEADER, 4, 0, DP_VARS_MAX, IN(gvars), 0 },
	{ "stack", KEY_EITHER, OF_HEADER, 4, DP_STACK_SMALL, DP_STACK_DEFAULT,
	  IN(stack), 0 },
	{ .name = "offset", .kind = KEY_OFFSET, .owner = OF_POINT },
	{ .name = "address", .kind = KEY_ADDRESS, .owner = OF_POINT },
	{ "opcode", KEY_NUMBER, OF_POINT, 4, 0, 255, 0, AT(opcode) },
	{ "minor", KEY_NUMBER, OF_POINT, 2, 0, 65535, 0, AT(minor) },
	{ "passcount", KEY_NUMBER, OF_POINT, 4, 0, DP_MAXHITS_DEFAULT, 0,
	  AT(passcount) },
	{ "maxhits", KEY_NUMBER, OF_POINT, 4, 0, DP_MAXHITS_DEFAULT, 0,
	  AT(maxhits) },
	{ "group", KEY_NUMBER, OF_POINT, 2, 0, 65535, 0, AT(group) },
	{ "type", KEY_NUMBER, OF_POINT, 2, 0, 65535, 0, AT(type) },
	{ "logonfault", KEY_YES_NO, OF_POINT, 1, 0, 1, 0, AT(logonfault) },
	{ .name = "exlogmax", .kind = KEY_LATER },
	{ .name = "heapmax", .kind = KEY_LATER },
	{ .name = "autostacktrace", .kind = KEY_LATER },
	{ .name = "exmask", .kind = KEY_LATER },
	{ .name = "heap", .kind = KEY_LATER },
	{ .name = "watch", .kind = KEY_LATER },
	{ .name = "len", .kind = KEY_LATER },
};

#define NR_KEYS (sizeof(keys) / sizeof(keys[0]))

/* Underscores are optional. */
static const struct key *find(const char *word)
{
	char plain[WORD_MAX];
	size_t n = 0, i;

	for (; *word; word++)
		if (*word != '_')
			plain[n++] = *word;
	plain[n] = '\0';
	for (i = 0; i < NR_KEYS; i++)
		if (!strcmp(keys[i].name, plain))
			return &keys[i];
	return NULL;
}

static struct dp_lang_point *point(struct dp_assembler *a)
{
	return &a->program->points[a->program->nr_points - 1];
}

static void store(struct dp_assembler *a, const struct key *k, u64 value)
{
	char *to = a->program->nr_points ? (char *)point(a) + k->in_point :
					   (char *)a->program + k->in_header;

	memcpy(to, &value, k->size);
}

static void check_number(struct dp_assembler *a, const struct key *k, u64 value,
			 bool negative, struct dp_source_place at)
{
	bool either = k->kind == KEY_EITHER;

	if (k->in_point == AT(major) && k->min == 1 && !value)
		dp_lang_fail(a, at, -EINVAL,
			     "major 0 is reserved for stack traces");
	else if (negative || value < k->min || value > k->max ||
		 (either && value != k->min && value != k->max))
		dp_lang_fail(a, at, -EINVAL, "%s is %u %s %u", k->name, k->min,
			     either ? "or" : "to", k->max);
	else
		store(a, k, value);
}

static void take_number(struct dp_assembler *a, const struct key *k)
{
	struct dp_source_place at = dp_lex_place(a, dp_lex_peek(a, 0));
	bool negative;
	u64 value;

	if (!dp_lex_number(a, &value, &negative, &at)) {
		dp_lang_fail(a, at, -EINVAL, "%s wants a number", k->name);
		return;
	}
	check_number(a, k, value, negative, at);
	if (k->owner == OF_POINT && k->in_point == AT(opcode))
		point(a)->opcode_at = at;
	if (k->owner == OF_HEADER && k->in_header == IN(gvars))
		a->gvars_given = true;
}

static void take_name(struct dp_assembler *a)
{
	const struct dp_token *t = dp_lex_peek(a, 0), *last = t;
	u32 quote = t->kind == DP_TOKEN_QUOTED;
	struct dp_source_place *at = &a->program->name_at;

	*at = dp_lex_place(a, t);
	if ((!quote && t->kind != DP_TOKEN_WORD) || t->len <= 2 * quote) {
		dp_lang_fail(a, *at, -EINVAL,
			     "name wants a path or the name of a module");
		return;
	}
	a->next++;
	/* Without quotes it goes on to the next blank: libc-2.31.so */
	while (!quote && dp_lex_peek(a, 0)->kind != DP_TOKEN_END &&
	       dp_lex_peek(a, 0)->start == last->start + last->len) {
		last = dp_lex_peek(a, 0);
		a->next++;
	}
	at->span = last->start + last->len - t->start;
	a->program->name =
		strndup(a->line + t->start + quote, at->span - 2 * quote);
	if (!a->program->name)
		dp_lang_fail(a, *at, -ENOMEM, "out of memory");
}

static void take_modtype(struct dp_assembler *a)
{
	static const struct {
		const char *word;
		enum dp_modtype type;
	} types[] = { { "user", DP_MODTYPE_USER },
		      { "kernel", DP_MODTYPE_KERNEL },
		      { "kmod", DP_MODTYPE_KMOD } };
	const struct dp_token *t = dp_lex_peek(a, 0);
	char word[WORD_MAX];
	size_t i;

	dp_lex_copy(a, t, word, sizeof(word));
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].word, word))
			a->program->modtype = types[i].type;
	if (!a->program->modtype)
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "modtype is user, kernel or kmod");
	a->next++;
}

static void take_yes_no(struct dp_assembler *a, const struct key *k)
{
	const struct dp_token *t = dp_lex_peek(a, 0);
	char word[WORD_MAX];

	dp_lex_copy(a, t, word, sizeof(word));
	if (strcmp(word, "yes") && strcmp(word, "no"))
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL, "%s is yes or no",
			     k->name);
	else
		store(a, k, word[0] == 'y');
	a->next++;
}

/* What may be added to a symbol. */
static void take_addend(struct dp_assembler *a, struct dp_lang_point *p)
{
	struct dp_source_place at;
	bool negative;
	u64 value;

	if (dp_lex_peek(a, 0)->kind != '-' && !dp_lex_accept(a, '+'))
		return;
	at = dp_lex_place(a, dp_lex_peek(a, 0));
	if (!dp_lex_number(a, &value, &negative, &at))
		dp_lang_fail(a, at, -EINVAL, "a number is missing here");
	else
		p->value = (s64)value;
	p->at.span = at.column + at.span - p->at.column;
}

static void take_place(struct dp_assembler *a, const struct key *k)
{
	const struct dp_token *t = dp_lex_peek(a, 0);
	struct dp_lang_point *p = point(a);
	bool negative;
	u64 value;

	p->absolute = k->kind == KEY_ADDRESS;
	p->at = dp_lex_place(a, t);
	if (t->kind == DP_TOKEN_WORD) {
		p->symbol = strndup(a->line + t->start, t->len);
		if (!p->symbol)
			dp_lang_fail(a, p->at, -ENOMEM, "out of memory");
		a->next++;
		take_addend(a, p);
	} else if (dp_lex_number(a, &value, &negative, &p->at) && !negative) {
		p->value = (s64)value;
	} else {
		dp_lang_fail(a, p->at, -EINVAL, "%s wants a number or a symbol",
			     k->name);
	}
}

static bool open_point(struct dp_assembler *a, const struct dp_token *t)
{
	struct dp_lang_program *p = a->program;

	if (p->nr_points && !a->coded)
		return dp_lang_fail(
			a, dp_lex_place(a, t), -EINVAL,
			"a probe has one place, and the one before has no instructions");
	dp_point_end(a);
	if (a->err || !dp_lang_grow(a, &p->points, p->nr_points, &a->points_cap,
				    sizeof(*p->points)))
		return false;
	p->points[p->nr_points++] = (struct dp_lang_point){
		.opcode = -1, .major = p->major, .start = p->code_len
	};
	a->coded = false;
	a->seen = 0;
	return true;
}

static bool allowed(struct dp_assembler *a, const struct key *k,
		    const struct dp_token *t)
{
	struct dp_source_place at = dp_lex_place(a, t);
	bool in_point = a->program->nr_points;
	u64 bit = 1ull << (k - keys);

	if (k->kind == KEY_LATER)
		return dp_lang_fail(a, at, -EOPNOTSUPP, "%.*s is not there yet",
				    (int)t->len, a->line + t->start);
	if (k->kind == KEY_OFFSET || k->kind == KEY_ADDRESS)
		return open_point(a, t);
	if (a->coded)
		return dp_lang_fail(
			a, at, -EINVAL,
			"keywords stand before the instructions of their probe");
	if (in_point && !(k->owner & OF_POINT))
		return dp_lang_fail(
			a, at, -EINVAL,
			"%s belongs into the header, before the first probe",
			k->name);
	if (!in_point && !(k->owner & OF_HEADER))
		return dp_lang_fail(
			a, at, -EINVAL,
			"%s belongs to a probe: \"offset =\" comes first",
			k->name);
	if (a->seen & bit)
		return dp_lang_fail(a, at, -EINVAL, "%s is given twice",
				    k->name);
	a->seen |= bit;
	return true;
}

static void take_value(struct dp_assembler *a, const struct key *k)
{
	switch (k->kind) {
	case KEY_NUMBER:
	case KEY_EITHER:
		take_number(a, k);
		break;
	case KEY_NAME:
		take_name(a);
		break;
	case KEY_MODTYPE:
		take_modtype(a);
		break;
	case KEY_YES_NO:
		take_yes_no(a, k);
		break;
	default:
		take_place(a, k);
		break;
	}
}

void dp_keyword_line(struct dp_assembler *a)
{
	const struct dp_token *t = dp_lex_peek(a, 0);
	char word[WORD_MAX];
	const struct key *k;

	dp_lex_copy(a, t, word, sizeof(word));
	k = find(word);
	if (!k) {
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "there is no keyword \"%s\"", word);
		return;
	}
	if (!allowed(a, k, t))
		return;
	a->next += 2;
	take_value(a, k);
	if (!a->err)
		dp_lex_end(a);
}
