// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* value: take values and conditions apart. */
#include "lang/value/private.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>

#define DEEPEST 64

u16 dp_value_expression(struct dp_value_parser *p);
static u16 parse_unary(struct dp_value_parser *p);

/* Return: index of a new node that ends here; of node 0 if there is no room */
static u16 node(struct dp_value_parser *p, u8 op, u16 left, u16 right, int at)
{
	struct dp_values *o = p->out;

	if (o->nr == DP_VALUE_NODES) {
		dp_value_bad(p, at, 1, -EINVAL, "this is too long");
		return 0;
	}
	o->v[o->nr] = (struct dp_value){ .op = op,
					 .left = left,
					 .right = right,
					 .at = at,
					 .span = p->at - at };
	return (u16)o->nr++;
}

static bool go_deeper(struct dp_value_parser *p)
{
	if (++p->depth > DEEPEST)
		dp_value_bad(p, p->at, 1, -EINVAL,
			     "too many parentheses in one another");
	return !p->err;
}

static u16 parse_number(struct dp_value_parser *p, int at, bool negative)
{
	u64 number = dp_value_time(p);
	u16 n = node(p, DP_VALUE_NUMBER, 0, 0, at);

	p->out->v[n].number = negative ? -number : number;
	p->out->v[n].negative = negative;
	return n;
}

static u16 parse_real(struct dp_value_parser *p, int at, bool negative)
{
	double number = dp_value_real(p);
	u16 n = node(p, DP_VALUE_REAL, 0, 0, at);

	if (negative)
		number = -number;
	memcpy(&p->out->v[n].number, &number, sizeof(number));
	return n;
}

/* A digit, or a point with a digit behind */
static bool begins_number(const char *s)
{
	return isdigit((unsigned char)s[*s == '.']);
}

static u16 parse_constant(struct dp_value_parser *p, int at, bool negative)
{
	return dp_value_is_real(p) ? parse_real(p, at, negative) :
				     parse_number(p, at, negative);
}

/* \5 and \-5 of ftrace */
static u16 parse_immediate(struct dp_value_parser *p, int at)
{
	bool negative = p->text[++p->at] == '-';

	p->at += negative;
	if (!begins_number(p->text + p->at)) {
		dp_value_bad(
			p, at, 1, -EINVAL,
			"behind this is a number; a text stands in quotes");
		return 0;
	}
	return parse_constant(p, at, negative);
}

static u16 parse_character(struct dp_value_parser *p, int at)
{
	const char *s = p->text + at;
	u16 n;

	if (!s[1] || s[2] != '\'') {
		dp_value_bad(p, at, 1, -EINVAL,
			     "a character stands between two of these");
		return 0;
	}
	p->at += 3;
	n = node(p, DP_VALUE_NUMBER, 0, 0, at);
	p->out->v[n].number = (unsigned char)s[1];
	return n;
}

static u16 parse_text(struct dp_value_parser *p, int at)
{
	const char *s = p->text;

	for (p->at++; s[p->at] && s[p->at] != '"'; p->at++)
		if (s[p->at] == '\\' && s[p->at + 1])
			p->at++;
	if (!s[p->at]) {
		dp_value_bad(p, at, 1, -EINVAL, "this quote is not closed");
		return 0;
	}
	p->at++;
	return node(p, DP_VALUE_TEXT, 0, 0, at);
}

static u16 parse_name(struct dp_value_parser *p, int at)
{
	bool marked = p->text[at] == '%' || p->text[at] == '$';
	int len;

	p->at += marked;
	len = dp_value_word(p);
	if (!len) {
		dp_value_bad(
			p, at, 1, -EINVAL,
			"a value is missing here: a register, an argument (arg0), a number …");
		return 0;
	}
	p->at += len;
	return node(p, DP_VALUE_NAME, 0, 0, at);
}

static void close_parenthesis(struct dp_value_parser *p)
{
	p->depth--;
	if (!dp_value_accept(p, ")"))
		dp_value_bad(p, p->at, 1, -EINVAL, "a ')' is missing here");
}

/* +8(%di): is there a number with a parenthesis behind it? */
static bool is_fetch(const struct dp_value_parser *p)
{
	const char *s = p->text + p->at;

	if (*s != '+' && *s != '-')
		return false;
	s += s[1] == 'u';
	if (!isdigit((unsigned char)s[1]))
		return false;
	for (s++; isalnum((unsigned char)*s); s++)
		continue;
	return *s == '(';
}

static u16 parse_fetch(struct dp_value_parser *p, int at)
{
	bool back = p->text[p->at++] == '-';
	u16 inner, n;
	u64 offset;

	/* All memory is a user's. */
	p->at += p->text[p->at] == 'u';
	offset = dp_value_number(p);

	p->at++;
	if (!go_deeper(p))
		return 0;
	inner = dp_value_expression(p);
	close_parenthesis(p);
	n = node(p, DP_VALUE_FETCH, inner, 0, at);
	p->out->v[n].number = back ? -offset : offset;
	return n;
}

static u16 parse_parenthesis(struct dp_value_parser *p, int at)
{
	struct dp_value_type type = { 0 };
	int named_at, named_span;
	u16 n;

	p->at++;
	if (!go_deeper(p))
		return 0;
	if (dp_value_type(p, &type)) {
		named_at = p->named_at;
		named_span = p->named_span;
		close_parenthesis(p);
		n = p->err ? 0 : parse_unary(p);
		n = node(p, DP_VALUE_CAST, n, 0, at);
		p->out->v[n].type = type;
		p->out->v[n].name_at = named_at;
		p->out->v[n].name_span = named_span;
		return n;
	}
	n = p->err ? 0 : dp_value_expression(p);
	close_parenthesis(p);
	return n;
}

/* +8 or -8 right behind a symbol */
static u64 take_offset(struct dp_value_parser *p)
{
	const char *s = p->text + p->at;
	bool back = *s == '-';
	u64 n;

	if ((*s != '+' && !back) || !isdigit((unsigned char)s[1]))
		return 0;
	p->at++;
	n = dp_value_number(p);
	return back ? -n : n;
}

static u16 parse_global(struct dp_value_parser *p, int at)
{
	int name_at = ++p->at, len = dp_value_word(p);
	u64 number = 0;
	u16 n;

	if (p->text[p->at] == '+')
		dp_value_bad(
			p, at, 2, -EOPNOTSUPP,
			"offsets in a file are not there yet: @NAME, or @0xADDRESS");
	p->at += len;
	if (len)
		number = take_offset(p);
	else
		number = dp_value_number(p);
	n = node(p, DP_VALUE_GLOBAL, 0, 0, at);
	p->out->v[n].number = number;
	p->out->v[n].name_at = name_at;
	p->out->v[n].name_span = len;
	return n;
}

static u16 parse_primary(struct dp_value_parser *p, int at)
{
	char c = p->text[at];

	if (begins_number(p->text + at))
		return parse_constant(p, at, false);
	if (c == '\\')
		return parse_immediate(p, at);
	if (c == '\'')
		return parse_character(p, at);
	if (c == '"')
		return parse_text(p, at);
	if (c == '(')
		return parse_parenthesis(p, at);
	if (c == '@')
		return parse_global(p, at);
	return parse_name(p, at);
}

static u16 parse_index(struct dp_value_parser *p, u16 of, int at)
{
	u16 index;

	if (!go_deeper(p))
		return 0;
	index = dp_value_expression(p);
	p->depth--;
	if (!dp_value_accept(p, "]"))
		dp_value_bad(p, p->at, 1, -EINVAL, "a ']' is missing here");
	return node(p, DP_VALUE_INDEX, of, index, at);
}

static u16 parse_member(struct dp_value_parser *p, u16 of, bool arrow, int at)
{
	int name_at, len;
	u16 n;

	dp_value_skip(p);
	name_at = p->at;
	len = dp_value_word(p);
	if (!len)
		dp_value_bad(p, name_at, 1, -EINVAL,
			     "the name of a member is missing here");
	p->at += len;
	n = node(p, DP_VALUE_MEMBER, of, 0, at);
	p->out->v[n].arrow = arrow;
	p->out->v[n].name_at = name_at;
	p->out->v[n].name_span = len;
	return n;
}

static u16 parse_postfix(struct dp_value_parser *p, int at)
{
	u16 n = parse_primary(p, at);

	while (!p->err) {
		if (dp_value_accept(p, "["))
			n = parse_index(p, n, at);
		else if (dp_value_accept(p, "->"))
			n = parse_member(p, n, true, at);
		else if (dp_value_accept(p, "."))
			n = parse_member(p, n, false, at);
		else
			break;
	}
	return n;
}

static u16 parse_unary(struct dp_value_parser *p)
{
	static const struct {
		char c;
		u8 op;
	} prefix[] = { { '-', DP_VALUE_NEGATE },
		       { '~', DP_VALUE_INVERT },
		       { '!', DP_VALUE_NOT },
		       { '*', DP_VALUE_DEREF } };
	size_t i;
	int at;
	u16 n;

	dp_value_skip(p);
	at = p->at;
	if (is_fetch(p))
		return parse_fetch(p, at);
	if (p->text[at] == '-' && begins_number(p->text + at + 1)) {
		p->at++;
		return parse_constant(p, at, true);
	}
	for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++) {
		if (p->text[at] != prefix[i].c)
			continue;
		p->at++;
		if (!go_deeper(p))
			return 0;
		n = parse_unary(p);
		p->depth--;
		return node(p, prefix[i].op, n, 0, at);
	}
	return parse_postfix(p, at);
}

/* Operators by how close they bind, the closest last. */
static const struct {
	const char *word;
	u8 op, level;
} operators[] = {
	{ "|", DP_VALUE_BIT_OR, 0 },  { "^", DP_VALUE_BIT_XOR, 1 },
	{ "&", DP_VALUE_BIT_AND, 2 }, { "<<", DP_VALUE_SHL, 3 },
	{ ">>", DP_VALUE_SHR, 3 },    { "+", DP_VALUE_ADD, 4 },
	{ "-", DP_VALUE_SUB, 4 },     { "*", DP_VALUE_MUL, 5 },
};
#define LEVELS 6

/* "||" and "&&" are other operators. */
static int find_operator(struct dp_value_parser *p, u8 level)
{
	const char *s;
	size_t i;

	dp_value_skip(p);
	s = p->text + p->at;
	if (!strncmp(s, "||", 2) || !strncmp(s, "&&", 2))
		return -1;
	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (operators[i].level == level &&
		    dp_value_accept(p, operators[i].word))
			return operators[i].op;
	return -1;
}

static u16 parse_sum(struct dp_value_parser *p, u8 level)
{
	u16 left, right;
	int at, op;

	if (level == LEVELS)
		return parse_unary(p);
	dp_value_skip(p);
	at = p->at;
	left = parse_sum(p, level + 1);
	while (!p->err && (op = find_operator(p, level)) >= 0) {
		right = parse_sum(p, level + 1);
		left = node(p, (u8)op, left, right, at);
	}
	return left;
}

static u16 parse_shown(struct dp_value_parser *p)
{
	struct dp_value_type type = { 0 };
	u16 n;
	int at;

	dp_value_skip(p);
	at = p->at;
	n = parse_sum(p, 0);
	if (p->err || !dp_value_accept(p, ":"))
		return n;
	dp_value_format(p, &type);
	n = node(p, DP_VALUE_SHOWN, n, 0, at);
	p->out->v[n].type = type;
	return n;
}

static u16 parse_test(struct dp_value_parser *p)
{
	static const struct {
		const char *word;
		u8 op;
	} tests[] = { { "==", DP_VALUE_EQ }, { "!=", DP_VALUE_NE },
		      { "<=", DP_VALUE_LE }, { ">=", DP_VALUE_GE },
		      { "<", DP_VALUE_LT },  { ">", DP_VALUE_GT },
		      { "~", DP_VALUE_LIKE } };
	u16 left = parse_shown(p), right;
	int at = p->out->v[left].at;
	size_t i;

	for (i = 0; !p->err && i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (!dp_value_accept(p, tests[i].word))
			continue;
		right = parse_shown(p);
		return node(p, tests[i].op, left, right, at);
	}
	return left;
}

static u16 parse_and(struct dp_value_parser *p)
{
	u16 left = parse_test(p), right;
	int at = p->out->v[left].at;

	while (!p->err && dp_value_accept(p, "&&")) {
		right = parse_test(p);
		left = node(p, DP_VALUE_AND, left, right, at);
	}
	return left;
}

u16 dp_value_expression(struct dp_value_parser *p)
{
	u16 left = parse_and(p), right;
	int at = p->out->v[left].at;

	while (!p->err && dp_value_accept(p, "||")) {
		right = parse_and(p);
		left = node(p, DP_VALUE_OR, left, right, at);
	}
	return left;
}

void dp_value_begin(struct dp_value_parser *p, struct dp_values *values,
		    const char *text, int column, struct dp_diag *diag)
{
	*p = (struct dp_value_parser){
		.out = values, .text = text, .column = column, .diag = diag
	};
	values->text = text;
	values->nr = values->nr_items = 0;
	values->v[0] = (struct dp_value){ 0 };
}

void dp_value_expect_end(struct dp_value_parser *p, const char *why)
{
	dp_value_skip(p);
	if (p->text[p->at] == '=' && p->text[p->at + 1] != '=')
		dp_value_bad(p, p->at, 1, -EINVAL, "equality is \"==\"");
	if (p->text[p->at])
		dp_value_bad(p, p->at, (int)strlen(p->text + p->at), -EINVAL,
			     why);
}

/* NAME "=", but not "==". Return: is there one? */
static bool take_name(struct dp_value_parser *p, struct dp_value_item *item)
{
	int at, len;

	dp_value_skip(p);
	at = p->at;
	len = dp_value_word(p);
	p->at += len;
	dp_value_skip(p);
	if (!len || p->text[p->at] != '=' || p->text[p->at + 1] == '=') {
		p->at = at;
		return false;
	}
	p->at++;
	item->at = at;
	item->span = len;
	return true;
}

void dp_value_take_item(struct dp_value_parser *p)
{
	struct dp_values *o = p->out;
	struct dp_value_item item;
	bool named = take_name(p, &item);
	const struct dp_value *v;

	item.value = dp_value_expression(p);
	if (p->err)
		return;
	v = &o->v[item.value];
	if (v->op == DP_VALUE_SHOWN)
		v = &o->v[v->left];
	if (!named) {
		item.at = v->at;
		item.span = v->span;
	}
	if (o->nr_items == DP_VALUE_ITEMS)
		dp_value_bad(p, item.at, 1, -EINVAL,
			     "a trace line shows at most 16 values");
	else
		o->items[o->nr_items++] = item;
}

int dp_value_list(struct dp_values *values, const char *text, int column,
		  struct dp_diag *diag)
{
	struct dp_value_parser p;

	dp_value_begin(&p, values, text, column, diag);
	dp_value_skip(&p);
	if (!text[p.at])
		return 0;
	do
		dp_value_take_item(&p);
	while (!p.err && dp_value_accept(&p, ","));
	dp_value_expect_end(&p, "values are separated by commas");
	return p.err;
}

int dp_value_condition(struct dp_values *values, const char *text, int column,
		       struct dp_diag *diag)
{
	struct dp_value_parser p;

	dp_value_begin(&p, values, text, column, diag);
	values->items[0].value = dp_value_expression(&p);
	values->nr_items = 1;
	dp_value_expect_end(&p, "only && and || may follow a comparison");
	return p.err;
}
