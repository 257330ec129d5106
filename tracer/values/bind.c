// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * bind: names of a function's prototype, in the values of a spec.
 *
 * At the entry of a function its parameters are where the ABI has them (abi.c). Other names are
 * variables of its scope, where debug information has them at this address.
 */
#include "tracer/values/place.h"
#include "sym/prototypes.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define CONSTANT_DEPTH 6
#define CONSTANT_TYPES 100000
#define PREFIX_MIN 3
#define WORD 8

/* Return: number among the arguments in general registers and on the stack, from 0;
 * -1: it is somewhere else */
static int argument_of(const struct dp_prototype *f, u32 parameter)
{
	struct dp_place p;
	u32 i;

	if (!dp_abi_place(f, parameter, &p) || p.n != 1)
		return -1;
	if (p.piece[0].kind == DP_PIECE_MEMORY)
		return DP_TRACE_ARGS + (int)(p.step[1].n / WORD) - 1;
	for (i = 0; i < DP_TRACE_ARGS; i++)
		if (p.step[0].op == DP_STEP_REGISTER &&
		    p.step[0].n == dp_abi_general[i])
			return (int)i;
	return -1;
}

static bool is_passed(const struct dp_prototype_type *t)
{
	return t->kind == DP_PROTOTYPE_INT || t->kind == DP_PROTOTYPE_POINTER;
}

/* The array of characters that a parameter points to, or NULL */
static const struct dp_prototype_type *
characters_of(const struct dp_prototype_type *t)
{
	bool text = t->lens == DP_PROTOTYPE_STRING ||
		    t->lens == DP_PROTOTYPE_FORMAT;

	if (t->kind != DP_PROTOTYPE_POINTER || !t->of ||
	    t->of->kind != DP_PROTOTYPE_ARRAY)
		return NULL;
	return text || t->of->lens == DP_PROTOTYPE_STRING ? t->of : NULL;
}

/* It is a string at the function's entry, when what it writes is not there yet. */
static bool is_text(const struct dp_prototype_parameter *p)
{
	const struct dp_prototype_type *t = characters_of(p->type);

	return t && !p->out &&
	       (t->length.count == DP_PROTOTYPE_UNLIMITED ||
		t->length.count == DP_PROTOTYPE_ARGUMENT);
}

int dp_code_length_of(const struct dp_prototype *f, u32 parameter)
{
	const struct dp_prototype_type *t =
		characters_of(f->parameters[parameter].type);
	u64 n = t ? t->length.n : 0;

	if (!t || t->length.count != DP_PROTOTYPE_ARGUMENT || n >= f->n)
		return -1;
	return is_passed(f->parameters[n].type) ? argument_of(f, (u32)n) : -1;
}

/* What a function writes is not there yet at its entry. */
static struct dp_value_type type_of(const struct dp_prototype_parameter *p)
{
	if (is_text(p))
		return (struct dp_value_type){ .kind = DP_VALUE_CHAR,
					       .bits = 8,
					       .stars = 1 };
	if (characters_of(p->type))
		return (struct dp_value_type){ .kind = DP_VALUE_VOID,
					       .stars = 1 };
	return dp_code_known(p->type);
}

void dp_code_parameter(struct dp_value *v, const struct dp_prototype *f,
		       u32 parameter)
{
	const struct dp_prototype_type *t = f->parameters[parameter].type;
	int n = is_passed(t) ? argument_of(f, parameter) : -1;

	if (!is_passed(t) &&
	    dp_abi_place(f, parameter, &(struct dp_place){ 0 })) {
		dp_place_bind(v, f, parameter, true);
		return;
	}
	v->op = DP_VALUE_PARAMETER;
	v->type = type_of(&f->parameters[parameter]);
	v->number = n < 0 ? ~0ull : (u64)n;
	v->left = (u16)parameter;
}

/* Return: the parameter of that name, or the only one whose name begins so; -1: none */
static int find_parameter(const struct dp_prototype *f, const char *text,
			  int len)
{
	int found = -1, many = 0;
	u32 i;

	for (i = 0; i < f->n; i++) {
		const char *name = f->parameters[i].name;

		if (!name || strncmp(name, text, (size_t)len))
			continue;
		if (!name[len])
			return (int)i;
		found = (int)i;
		many++;
	}
	return many == 1 && len >= PREFIX_MIN ? found : -1;
}

/* The beginning of a parameter's name is no name if there is a variable of that name; and where
 * the ABI does not tell where the parameter is, debug information may. */
static bool is_certain(const struct dp_prototype *f, const char *text, int len,
		       int parameter)
{
	struct dp_value v = { 0 };

	return (!f->parameters[parameter].name[len] &&
		dp_abi_place(f, (u32)parameter, &(struct dp_place){ 0 })) ||
	       !dp_place_bind_name(&v, f, text, len);
}

/** struct search - for a constant; @left: types that may still be looked at */
struct search {
	const char *text;
	int len;
	u32 left;
};

static const struct dp_prototype_name *
find_in(struct search *s, const struct dp_prototype_type *t, int depth);

static const struct dp_prototype_name *
find_in_fields(struct search *s, const struct dp_prototype_type *t, int depth)
{
	const struct dp_prototype_name *found = NULL;
	u32 i;

	for (i = 0; i < t->n && !found; i++)
		found = find_in(s, t->fields[i].type, depth);
	return found;
}

/* A constant that values of @t have: O_CREAT. Types can lead in circles, and in many. */
static const struct dp_prototype_name *
find_in(struct search *s, const struct dp_prototype_type *t, int depth)
{
	u32 k;

	if (!depth-- || !s->left)
		return NULL;
	s->left--;
	if (t->kind == DP_PROTOTYPE_POINTER || t->kind == DP_PROTOTYPE_ARRAY)
		return t->of ? find_in(s, t->of, depth) : NULL;
	if (t->kind == DP_PROTOTYPE_STRUCT)
		return find_in_fields(s, t, depth);
	if (t->lens != DP_PROTOTYPE_ENUM && t->lens != DP_PROTOTYPE_FLAGS)
		return NULL;
	for (k = 0; k < t->n; k++)
		if (!strncmp(t->names[k].text, s->text, (size_t)s->len) &&
		    !t->names[k].text[s->len])
			return &t->names[k];
	return NULL;
}

static const struct dp_prototype_name *
find_constant(const struct dp_prototype *f, const char *text, int len)
{
	struct search s = { text, len, CONSTANT_TYPES };
	const struct dp_prototype_name *found = NULL;
	u32 i;

	for (i = 0; i < f->n && !found; i++)
		found = find_in(&s, f->parameters[i].type, CONSTANT_DEPTH);
	return found;
}

/* What stands for what it points at: its name becomes *NAME, and NAME->x is NAME.x. */
static void refer(struct dp_values *values, u32 n)
{
	struct dp_value *v = &values->v[n];
	u32 i;
	bool direct;

	if (values->nr == DP_VALUE_NODES) {
		v->number = ~0ull;
		return;
	}
	values->v[values->nr] = *v;
	v->op = DP_VALUE_DEREF;
	v->left = (u16)values->nr++;
	direct = !dp_code_pointer(dp_code_type(values, (u16)n)).stars;
	for (i = 0; direct && i < values->nr; i++)
		if (values->v[i].op == DP_VALUE_MEMBER &&
		    values->v[i].left == n)
			values->v[i].arrow = false;
}

/* Of what is only declared, there is nothing but its address. */
static void refer_to(struct dp_values *values, u32 n,
		     const struct dp_prototype_type *t)
{
	if (t->kind == DP_PROTOTYPE_POINTER &&
	    t->lens == DP_PROTOTYPE_REFERENCE && t->of->size)
		refer(values, n);
}

void dp_code_refer(struct dp_values *values, u32 n,
		   const struct dp_prototype *f, u32 parameter)
{
	dp_code_parameter(&values->v[n], f, parameter);
	refer_to(values, n, f->parameters[parameter].type);
}

/* Registers and facts that are values stay what they are. */
static bool is_value_of_ours(const char *text, int len)
{
	return (len == 3 &&
		(!memcmp(text, "pid", 3) || !memcmp(text, "tid", 3) ||
		 !memcmp(text, "cpu", 3))) ||
	       (len == 6 && !memcmp(text, "caller", 6)) ||
	       dp_code_is_register(text, len);
}

/* %di, $arg1, arg10, farg0 */
static bool is_of_ours(const char *text, int len)
{
	int at = *text == 'f';

	if (*text == '%' || *text == '$')
		return true;
	if (len < at + 4 || memcmp(text + at, "arg", 3))
		return false;
	for (at += 3; at < len; at++)
		if (!isdigit((unsigned char)text[at]))
			return false;
	return true;
}

/* "struct node", as it is written: blanks do not count, and what is before "::" neither. */
static bool is_called(const char *name, const char *text, int len)
{
	const char *end = text + len, *s;

	for (s = text; s + 1 < end; s++)
		if (s[0] == ':' && s[1] == ':') {
			/* The tag stays. */
			name = strchr(name, ' ') ? strchr(name, ' ') + 1 : name;
			text = s + 2;
		}
	for (s = text; s < end; s++) {
		if (*s == ' ' && s + 1 < end && s[1] == ' ')
			continue;
		if (*name++ != *s)
			return false;
	}
	return !*name;
}

static void bind_cast(struct dp_values *values, struct dp_value *v,
		      const struct dp_scope *scope)
{
	u8 stars = v->type.stars;
	u32 i;

	for (i = 0; scope && i < scope->nr_types; i++) {
		if (!is_called(scope->types[i].name, values->text + v->name_at,
			       v->name_span))
			continue;
		v->type = dp_code_known(scope->types[i].type);
		v->type.stars = (u8)(v->type.stars + stars);
		return;
	}
}

/* arg0, $arg1: of a tracepoint that has so many */
static bool bind_argument(struct dp_value *v, const struct dp_prototype *f,
			  const char *text)
{
	int n = dp_code_find_argument(text, v->span);

	if (!f->scope || !f->scope->of_tracepoint || n < 0 ||
	    (u32)n >= f->scope->n)
		return false;
	dp_place_bind(v, f, (u32)n, false);
	return true;
}

void dp_code_bind(struct dp_values *values, const struct dp_prototype *f)
{
	const struct dp_prototype_name *constant;
	const char *text;
	int parameter;
	u32 i;

	for (i = 0; f && i < values->nr; i++) {
		struct dp_value *v = &values->v[i];

		text = values->text + v->at;
		if (v->op == DP_VALUE_CAST && v->type.kind == DP_VALUE_NAMED)
			bind_cast(values, v, f->scope);
		if (v->op != DP_VALUE_NAME || bind_argument(v, f, text) ||
		    is_of_ours(text, v->span) ||
		    (f->scope && is_value_of_ours(text, v->span)))
			continue;
		parameter = find_parameter(f, text, v->span);
		if (parameter >= 0 && is_certain(f, text, v->span, parameter)) {
			dp_code_refer(values, i, f, (u32)parameter);
			continue;
		}
		if (dp_place_bind_name(v, f, text, v->span)) {
			refer_to(values, i, f->scope->variables[v->left].type);
			continue;
		}
		constant = find_constant(f, text, v->span);
		if (constant) {
			v->op = DP_VALUE_NUMBER;
			v->number = constant->value;
		}
	}
}

static void add_name(char *buf, size_t len, const char *name)
{
	size_t at = strlen(buf);

	if (name)
		snprintf(buf + at, len - at, "%s%s", at ? ", " : "", name);
}

static bool is_parameter(const struct dp_prototype *f, const char *name)
{
	u32 i;

	for (i = 0; i < f->n; i++)
		if (f->parameters[i].name &&
		    !strcmp(f->parameters[i].name, name))
			return true;
	return false;
}

void dp_code_names(const struct dp_prototype *f, char *buf, size_t len)
{
	u32 i;

	*buf = '\0';
	for (i = 0; i < f->n; i++)
		add_name(buf, len, f->parameters[i].name);
	for (i = 0; f->scope && i < f->scope->n; i++)
		if (!is_parameter(f, f->scope->variables[i].name))
			add_name(buf, len, f->scope->variables[i].name);
}

/* Can the variable be shown, or a part of it? */
static bool is_there(const struct dp_variable *v)
{
	u32 i;

	for (i = 0; i < v->n; i++)
		if (v->pieces[i].kind != DP_PIECE_NOWHERE)
			return true;
	return false;
}

/* A name that an inner block has, too, is that one. */
static bool is_hidden(const struct dp_scope *s, u32 n)
{
	u32 i = 0;

	while (i < n && strcmp(s->variables[i].name, s->variables[n].name))
		i++;
	return i < n;
}

/* What stands for something else is told by its name alone. */
static bool has_members(struct dp_value_type type)
{
	struct dp_printer view;

	return type.kind == DP_VALUE_STRUCT && type.stars < 2 &&
	       type.known->n && type.known->lens != DP_PROTOTYPE_VARIANTS &&
	       !dp_printer_of(type.known, &view);
}

static void add_typed(char *buf, size_t len, const char *name,
		      const struct dp_prototype_type *t)
{
	struct dp_value_type type = dp_code_known(t);
	bool direct = !type.stars || t->lens == DP_PROTOTYPE_REFERENCE;
	char members[400], text[500];

	if (!has_members(type)) {
		add_name(buf, len, name);
		return;
	}
	dp_code_members(type.known, members, sizeof(members));
	snprintf(text, sizeof(text), "%s%s{%s}", name, direct ? "." : "->",
		 members);
	add_name(buf, len, text);
}

void dp_code_tell(const struct dp_prototype *f, bool there, char *buf,
		  size_t len)
{
	const struct dp_scope *s = f->scope;
	u32 i;

	*buf = '\0';
	for (i = 0; i < f->n && there; i++)
		if (f->parameters[i].name)
			add_typed(buf, len, f->parameters[i].name,
				  f->parameters[i].type);
	for (i = 0; s && i < s->n; i++) {
		const struct dp_variable *v = &s->variables[i];

		if (is_there(v) != there || is_parameter(f, v->name) ||
		    is_hidden(s, i))
			continue;
		if (there)
			add_typed(buf, len, v->name, v->type);
		else
			add_name(buf, len, v->name);
	}
}

void dp_code_members(const struct dp_prototype_type *t, char *buf, size_t len)
{
	u32 i;

	*buf = '\0';
	for (i = 0; i < t->n; i++)
		add_name(buf, len, t->fields[i].name);
}
