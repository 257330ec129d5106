// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * flame: trees of frames, and what is printed of them.
 *
 * Oracle: a plain list of stacks and their sums.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/escape.h"
#include "tracer/flame.h"

#define MOST 8
#define ADDED 3000

static const char *const names[] = { "main",
				     "a;b",
				     "<&\">'",
				     "\x01\xff\x80x\xef\xbf\xbe",
				     "std::vector<int>",
				     "" };
static char *text;
static size_t size;

/** struct stack - so often was @path added, in names separated by newlines */
struct stack {
	char path[MOST * 20];
	u64 count;
};

static struct stack stacks[ADDED];
static u32 nr;

static void note(const char *path, u64 count)
{
	u32 i;

	for (i = 0; i < nr && strcmp(stacks[i].path, path); i++)
		continue;
	if (i == nr)
		strcpy(stacks[nr++].path, path);
	stacks[i].count += count;
}

/* How the folded form writes it: what separates names is no part of one. */
static void write_path(char *to, size_t room, const char *const *v, u32 n)
{
	char name[64], *c;
	u32 i;

	*to = 0;
	for (i = 0; i < n; i++) {
		dp_escape(name, sizeof(name), v[i], strlen(v[i]));
		for (c = name; *c; c++)
			*c = *c == ';' ? '_' : *c;
		strncat(to, i ? ";" : "", room - strlen(to) - 1);
		strncat(to, name, room - strlen(to) - 1);
	}
}

static u64 fill(struct dp_flame *top)
{
	const char *v[MOST];
	char path[MOST * 20];
	u64 sum = 0, count;
	u32 i, k, n;

	srandom(7);
	nr = 0;
	memset(stacks, 0, sizeof(stacks));
	for (i = 0; i < ADDED; i++) {
		n = 1 + (u32)random() % MOST;
		for (k = 0; k < n; k++)
			v[k] = names[random() % 3 ? (k + i / 100) % 6 :
						    random() % 6];
		count = (u64)random() % 1000;
		sum += count;
		assert_int_equal(dp_flame_add(top, v, n, count), 0);
		write_path(path, sizeof(path), v, n);
		note(path, count);
	}
	return sum;
}

static FILE *begin_text(void)
{
	FILE *f;

	text = NULL;
	f = open_memstream(&text, &size);
	assert_non_null(f);
	return f;
}

static void sums_of_paths(void **state)
{
	struct dp_flame top = { 0 };
	u64 sum = fill(&top), found = 0, told = 0;
	char *line, *count;
	FILE *f = begin_text();
	u32 i, want = 0;

	assert_int_equal(dp_flame_sort(&top, true), 0);
	dp_flame_folded(f, &top);
	fclose(f);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		count = strrchr(line, ' ');
		assert_non_null(count);
		*count++ = 0;
		for (i = 0; i < nr && strcmp(stacks[i].path, line); i++)
			continue;
		assert_true(i < nr);
		assert_int_equal(stacks[i].count, strtoull(count, NULL, 10));
		told += stacks[i].count;
		found++;
	}
	for (i = 0; i < nr; i++)
		want += stacks[i].count > 0;
	assert_int_equal(found, want);
	assert_true(want > 500);
	assert_int_equal(told, sum);
	assert_int_equal(top.count, sum);
	dp_flame_free(&top);
	free(text);
}

static void check_order(const struct dp_flame *f, bool by_name)
{
	for (; f && f->next; f = f->next)
		assert_true(by_name ? strcmp(f->name, f->next->name) < 0 :
				      f->count >= f->next->count);
}

static void in_order(void **state)
{
	struct dp_flame top = { 0 };
	u32 by_name;

	fill(&top);
	for (by_name = 0; by_name < 2; by_name++) {
		assert_int_equal(dp_flame_sort(&top, by_name), 0);
		check_order(top.first, by_name);
		check_order(top.first->first, by_name);
	}
	dp_flame_free(&top);
	assert_null(top.first);
}

/* A frame's only callee continues it; others are one level further in. */
static void lines(void **state)
{
	const char *const left[] = { "m", "x", "y" };
	const char *const right[] = { "m", "x", "z" };
	struct dp_flame top = { 0 };
	FILE *f = begin_text();

	assert_int_equal(dp_flame_add(&top, left, 3, 3), 0);
	assert_int_equal(dp_flame_add(&top, right, 3, 1), 0);
	assert_int_equal(dp_flame_sort(&top, false), 0);
	dp_flame_text(f, &top);
	fclose(f);
	assert_string_equal(text, "           4 100.0%  m\n"
				  "           4 100.0%    x\n"
				  "           3  75.0%    + y\n"
				  "           1  25.0%    + z\n");
	free(text);
	/* Not one in which there were hits, too; the outermost are not indented. */
	assert_int_equal(dp_flame_add(&top, &left[1], 1, 4), 0);
	assert_int_equal(dp_flame_add(&top, &left[1], 2, 2), 0);
	assert_int_equal(dp_flame_sort(&top, false), 0);
	f = begin_text();
	dp_flame_text(f, &top);
	fclose(f);
	assert_non_null(strstr(text, "%  m\n"));
	assert_non_null(strstr(text, "           6  60.0%  x\n"
				     "           2  20.0%    + y\n"));
	dp_flame_free(&top);
	free(text);
}

/** struct place - of a frame in the picture */
struct place {
	double x, w;
	u32 depth;
};

static u32 places_in(struct place *v, u32 most)
{
	static const char begin[] = "<g class=\"f\" ";
	const char *at = text;
	u32 n = 0;

	while ((at = strstr(at, begin)) && n < most) {
		assert_int_equal(
			sscanf(at + strlen(begin),
			       "data-x=\"%lf\" data-w=\"%lf\" data-d=\"%u\"",
			       &v[n].x, &v[n].w, &v[n].depth),
			3);
		at++;
		n++;
	}
	return n;
}

static bool lies_in(const struct place *a, const struct place *b)
{
	return a->x > b->x - 0.001 && a->x + a->w < b->x + b->w + 0.001;
}

/* A frame is on the last one before it that is a level lower, and beside the last of its own level. */
static void frames_have_their_places(void **state)
{
	static struct place v[20000];
	struct place *last[MOST + 2] = { 0 }, *p;
	struct dp_flame top = { 0 };
	u64 sum = fill(&top);
	double widest = 0;
	u32 n, i, d;
	FILE *f = begin_text();

	assert_int_equal(dp_flame_sort(&top, true), 0);
	assert_int_equal(dp_flame_svg(f, &top, "a title & <more>"), 0);
	fclose(f);
	n = places_in(v, 20000);
	assert_true(n > 500);
	for (i = 0; i < n; i++) {
		p = &v[i];
		assert_true(p->depth <= MOST && p->w > 0);
		if (p->depth && last[p->depth - 1])
			assert_true(lies_in(p, last[p->depth - 1]));
		if (last[p->depth])
			assert_true(p->x >= last[p->depth]->x +
						    last[p->depth]->w - 0.001);
		last[p->depth] = p;
		for (d = p->depth + 1; d < MOST + 2; d++)
			last[d] = NULL;
		if (p->depth == 1)
			widest += p->w;
	}
	assert_true(widest > 1179 && widest < 1180.01);
	assert_non_null(strstr(text, "a title &#38; &#60;more&#62;"));
	assert_null(strpbrk(text, "\x01\xff\x80"));
	assert_null(strstr(text, "\xef\xbf\xbe"));
	assert_null(strstr(text, "<&"));
	assert_non_null(strstr(text, ">main</text>"));
	assert_non_null(strstr(text, "..</text>"));
	assert_true(sum > 0);
	dp_flame_free(&top);
	free(text);
}

/* Counts are the target's, and may be any. */
static void sums_stop(void **state)
{
	const char *const one[] = { "m", "x" }, *const other[] = { "m", "y" };
	struct dp_flame top = { 0 };
	struct place v[8];
	FILE *f;
	u32 n, i;

	assert_int_equal(dp_flame_add(&top, one, 2, UINT64_MAX - 1), 0);
	assert_int_equal(dp_flame_add(&top, other, 2, UINT64_MAX), 0);
	assert_int_equal(dp_flame_add(&top, other, 2, 7), 0);
	assert_true(top.count == UINT64_MAX && top.first->count == UINT64_MAX);
	assert_int_equal(dp_flame_sort(&top, true), 0);
	f = begin_text();
	dp_flame_folded(f, &top);
	fclose(f);
	assert_non_null(strstr(text, "m;y 18446744073709551615\n"));
	free(text);
	f = begin_text();
	assert_int_equal(dp_flame_svg(f, &top, ""), 0);
	fclose(f);
	n = places_in(v, 8);
	assert_true(n > 1);
	for (i = 0; i < n; i++)
		assert_true(v[i].x >= 10 && v[i].x + v[i].w <= 1190.001);
	dp_flame_free(&top);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_paths),
		cmocka_unit_test(in_order),
		cmocka_unit_test(lines),
		cmocka_unit_test(frames_have_their_places),
		cmocka_unit_test(sums_stop),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
