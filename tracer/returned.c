// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * returned: values that tracked functions return, printed by type.
 *
 * A register holds 64 bits. Only the low bits of a small integer are the function's, and
 * rax holds nothing of a double. So a value of an unknown type is printed as rax.
 */
#include "tracer/debuginfo.h"
#include "tracer/prototype.h"
#include "tracer/session.h"
#include "sym/prototypes.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include "tracer/values/show.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_asked_for(const struct dp_point *p)
{
	return p->spec->kind == DP_SPEC_RETURN && !p->refused && !p->gone &&
	       !p->typed;
}

static int by_address(const void *a, const void *b)
{
	const struct dp_point *x = *(struct dp_point *const *)a;
	const struct dp_point *y = *(struct dp_point *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* @some: whether the others are known */
static void tell(const struct dp_session *s, const struct dp_module *m, int err,
		 bool some)
{
	if (err == -ENOENT && s->opt->verbose)
		dp_output_say(
			"no debug information says what functions of %s return; (retval:s32) after a function does",
			m->base);
	else if (err && err != -ENOENT &&
		 (err != -EOPNOTSUPP || s->opt->verbose))
		dp_output_say(
			"what %sfunctions of %s return is shown as rax: its debug information %s",
			some ? "some " : "", m->base,
			dp_debuginfo_failure(err));
}

static struct dp_type returned_by(const struct dp_prototype *f)
{
	const struct dp_prototype_type *t = f->returns;
	struct dp_type type = { .bits = t->bits };

	switch (t->kind) {
	case DP_PROTOTYPE_VOID:
		return (struct dp_type){ DP_TYPE_VOID, 0 };
	case DP_PROTOTYPE_POINTER:
		return (struct dp_type){ DP_TYPE_POINTER, 64 };
	case DP_PROTOTYPE_INT:
		type.kind = t->is_signed ? DP_TYPE_SIGNED : DP_TYPE_UNSIGNED;
		if (t->lens == DP_PROTOTYPE_BOOL)
			type.kind = DP_TYPE_BOOL;
		return type;
	case DP_PROTOTYPE_FLOAT:
		type.kind = DP_TYPE_FLOAT;
		if (t->bits <= 64)
			return type;
		break;
	}
	return (struct dp_type){ 0 };
}

/* What no debug information tells, a table of prototypes may. */
static void ask_tables(struct dp_point *p)
{
	const struct dp_prototype *f = dp_prototype_of(p->module, p->symbol);

	p->prototype = f;
	if (f && !p->ret.kind)
		p->ret = returned_by(f);
}

/* @n points, all in one module. */
static void find_in(struct dp_session *s, struct dp_modules *mods,
		    const struct dp_module *m, struct dp_point **point,
		    size_t n)
{
	struct dp_type *type = calloc(n, sizeof(*type));
	u64 *addr = calloc(n, sizeof(*addr));
	bool some = false;
	size_t i;
	int err;

	for (i = 0; addr && i < n; i++)
		addr[i] = point[i]->addr;
	if (addr && type) {
		err = dp_types_returned(mods, m, addr, type, n);
		for (i = 0; i < n; i++)
			some |= type[i].kind != DP_TYPE_UNKNOWN;
		tell(s, m, err, some);
	}
	for (i = 0; addr && type && i < n; i++) {
		point[i]->ret = type[i];
		ask_tables(point[i]);
	}
	free(addr);
	free(type);
}

/* Return: how many points have to be asked for what they return; @list has room. */
static size_t take(struct dp_session *s, struct dp_point **list)
{
	size_t i, n = 0;

	for (i = 0; i < s->points.n; i++) {
		struct dp_point *p = &s->points.v[i];

		if (!is_asked_for(p))
			continue;
		p->typed = true;
		p->ret = p->spec->ret;
		if (!p->ret.kind && !dp_prototype_is_changed(p->symbol))
			list[n++] = p;
	}
	return n;
}

/* As the kernel describes it, if it does */
static void ask_kernel(struct dp_point *p)
{
	const struct dp_kernel_wanted nothing = { .nr_types = 0 };
	struct dp_prototype *f;

	if (dp_types_kernel(strcmp(p->module, "kernel") ? p->module : "",
			    p->symbol, &nothing, &f))
		return;
	p->ret = returned_by(f);
	free(f);
}

void dp_returned_find(struct dp_session *s, struct dp_modules *mods)
{
	struct dp_point **list = calloc(s->points.n + 1, sizeof(*list));
	const struct dp_module *m;
	size_t n, i, next;

	if (!list)
		return;
	n = take(s, list);
	for (i = 0; i < n && !mods; i++)
		ask_kernel(list[i]);
	if (!mods)
		n = 0;
	qsort(list, n, sizeof(*list), by_address);
	for (i = 0; i < n; i = next) {
		m = dp_module_at(mods, list[i]->addr);
		for (next = i + 1; next < n; next++)
			if (dp_module_at(mods, list[next]->addr) != m)
				break;
		if (m)
			find_in(s, mods, m, list + i, next - i);
	}
	free(list);
}

static s64 with_sign(u64 value, u32 bits)
{
	return (s64)(value << (64 - bits)) >> (64 - bits);
}

static u64 low(u64 value, u32 bits)
{
	return value << (64 - bits) >> (64 - bits);
}

static void put(FILE *out, struct dp_type type, u64 value, bool json)
{
	switch (type.kind) {
	case DP_TYPE_SIGNED:
		dp_output_print(out, "%ld", with_sign(value, type.bits));
		break;
	case DP_TYPE_UNSIGNED:
		dp_output_print(out, "%lu", low(value, type.bits));
		break;
	case DP_TYPE_BOOL:
		dp_output_print(out, "%s",
				low(value, type.bits) ? "true" : "false");
		break;
	case DP_TYPE_FLOAT:
		dp_show_real(out, type.bits, value, json);
		break;
	default:
		dp_output_print(out, "0x%lx", low(value, type.bits));
		break;
	}
}

/* A number of an error has a name; @err: errno, 0: not known */
static bool put_failure(FILE *out, const struct dp_prototype *f, u64 value,
			int err)
{
	char text[120];

	if (!f || (!err && f->fails != DP_PROTOTYPE_FAILS_ERROR) ||
	    dp_prototypes_show_return(text, sizeof(text), f, value, err) < 0)
		return false;
	dp_output_print(out, " = %s", text);
	return true;
}

void dp_returned_text(FILE *out, const struct dp_point *p, u64 value, int err)
{
	struct dp_type type = p->ret;

	if (put_failure(out, p->prototype, value, err))
		return;
	if (type.kind == DP_TYPE_UNKNOWN) {
		dp_output_print(out, " = rax=0x%lx", value);
	} else if (type.kind != DP_TYPE_VOID) {
		fputs(" = ", out);
		put(out, type, value, false);
	}
}

void dp_returned_json(FILE *out, struct dp_type type, u64 value)
{
	/* JSON has no numbers in hexadecimal. */
	const char *quote = type.kind == DP_TYPE_POINTER ? "\"" : "";

	if (type.kind == DP_TYPE_UNKNOWN) {
		dp_output_print(out, ",\"rax\":\"0x%lx\"", value);
	} else if (type.kind != DP_TYPE_VOID) {
		dp_output_print(out, ",\"ret\":%s", quote);
		put(out, type, value, true);
		dp_output_print(out, "%s", quote);
	}
}
