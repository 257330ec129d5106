// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* flame: a tree of frames, and its lines. */
#include "tracer/flame.h"
#include "tracer/output.h"
#include "tracer/screen.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INDENT_MOST 40 /* levels */

static u64 sum(u64 a, u64 b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static struct dp_flame *below(struct dp_flame *f, const char *name)
{
	struct dp_flame *c;

	for (c = f->first; c; c = c->next)
		if (!strcmp(c->name, name))
			return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->name = name;
	c->parent = f;
	c->next = f->first;
	f->first = c;
	return c;
}

int dp_flame_add(struct dp_flame *top, const char *const *names, u32 n,
		 u64 count)
{
	struct dp_flame *f = top;
	u32 i;

	top->count = sum(top->count, count);
	for (i = 0; i < n; i++) {
		f = below(f, names[i]);
		if (!f)
			return -ENOMEM;
		f->count = sum(f->count, count);
	}
	f->own = sum(f->own, count);
	return 0;
}

/* The tree is walked without recursion. Return: what comes behind @f and all below it */
static struct dp_flame *behind(const struct dp_flame *top,
			       const struct dp_flame *f)
{
	while (f != top && !f->next)
		f = f->parent;
	return f == top ? NULL : f->next;
}

static struct dp_flame *next_of(const struct dp_flame *top,
				const struct dp_flame *f)
{
	return f->first ?: behind(top, f);
}

static int by_count(const void *a, const void *b)
{
	const struct dp_flame *const *x = a, *const *y = b;

	if ((*x)->count != (*y)->count)
		return (*x)->count < (*y)->count ? 1 : -1;
	return strcmp((*x)->name, (*y)->name);
}

static int by_name(const void *a, const void *b)
{
	const struct dp_flame *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int sort_below(struct dp_flame *f, bool name)
{
	struct dp_flame *c, **v;
	size_t n = 0, i;

	for (c = f->first; c; c = c->next)
		n++;
	if (n < 2)
		return 0;
	v = malloc(n * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (i = 0, c = f->first; c; c = c->next)
		v[i++] = c;
	qsort(v, n, sizeof(*v), name ? by_name : by_count);
	for (i = 0; i < n; i++)
		v[i]->next = i + 1 < n ? v[i + 1] : NULL;
	f->first = v[0];
	free(v);
	return 0;
}

int dp_flame_sort(struct dp_flame *top, bool name)
{
	struct dp_flame *f;
	int err = 0;

	for (f = top; f && !err; f = next_of(top, f))
		err = sort_below(f, name);
	return err;
}

void dp_flame_free(struct dp_flame *top)
{
	struct dp_flame *f = top, *up;

	while (f != top || f->first) {
		while (f->first)
			f = f->first;
		up = f->parent;
		up->first = f->next;
		free(f);
		f = up;
	}
}

/* Lines */

/* Is it the only one below its caller, in which nothing else has hit? */
static bool goes_on(const struct dp_flame *f)
{
	return f->parent->first == f && !f->next && !f->parent->own;
}

static u32 level(const struct dp_flame *top, const struct dp_flame *f)
{
	u32 n = 0;

	for (; f->parent && f != top; f = f->parent)
		n += f->parent != top && !goes_on(f);
	return n;
}

static double share(const struct dp_flame *top, u64 count)
{
	return top->count ? 100.0 * (double)count / (double)top->count : 0;
}

void dp_flame_text(FILE *out, const struct dp_flame *top)
{
	bool grouped = dp_screen_columns(out);
	char number[DP_SCREEN_NUMBER];
	const struct dp_flame *f;
	u32 in;

	for (f = top->first; f; f = next_of(top, f)) {
		in = level(top, f);
		dp_screen_number(number, f->count, grouped);
		dp_output_print(
			out, "%12s %5.1f%%  %*s%s%s\n", number,
			share(top, f->count),
			(int)(2 * (in < INDENT_MOST ? in : INDENT_MOST)), "",
			f->parent == top ? "" :
			goes_on(f)	 ? "  " :
					   "+ ",
			f->name);
	}
}

static void put_folded(FILE *out, const char *name)
{
	size_t n;

	for (; *name; name += n) {
		n = strcspn(name, ";");
		if (n)
			dp_output_write(out, name, n);
		else
			putc('_', out);
		n += !n;
	}
}

static void put_path(FILE *out, const struct dp_flame *top,
		     const struct dp_flame *f)
{
	const struct dp_flame *path[DP_FLAME_LEVELS];
	u32 n = 0;

	for (; f != top && n < DP_FLAME_LEVELS; f = f->parent)
		path[n++] = f;
	while (n--) {
		put_folded(out, path[n]->name);
		if (n)
			putc(';', out);
	}
}

/* What reads that takes a line apart at semicolons, and at its last space. */
void dp_flame_folded(FILE *out, const struct dp_flame *top)
{
	const struct dp_flame *f;

	for (f = top->first; f; f = next_of(top, f)) {
		if (!f->own)
			continue;
		put_path(out, top, f);
		dp_output_print(out, " %lu\n", f->own);
	}
}
