// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exits-of: what is known of the exits of a file's functions: exits-of FILE
 * [NAME]. Prints how many functions are refused, and why, and those that read their
 * return address; with a name, the exits of that one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/unit/exits_file.h"

static struct dp_exits_file f;

static bool is_function(const struct dp_sym *s)
{
	return (s->type == STT_FUNC || s->type == STT_GNU_IFUNC) && s->value &&
	       !dp_symbol_is_fragment((s)->name);
}

static void show(const struct dp_sym *s)
{
	struct dp_exit_list list;
	const char *why;
	size_t i;
	u64 at = 0;
	int err = dp_exits_find(f.exits, s->value, &list, &why);

	if (err)
		printf("%s: %s: %s\n", s->name, strerror(-err), why);
	for (i = 0; i < list.n; i++)
		printf("%s 0x%llx %s%s%s\n", s->name,
		       (unsigned long long)list.v[i].addr,
		       list.v[i].kind == DP_EXIT_RET ? "ret" : "tail",
		       list.v[i].conditional ? " conditional" : "",
		       list.v[i].shared ? " shared" : "");
	if (dp_fdes_read_return_address(&f.fdes, &f.elf, s->value, &at) == 1)
		printf("%s reads its return address at 0x%llx\n", s->name,
		       (unsigned long long)at);
	dp_exits_free(&list);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t functions, refused, empty, shared, rets, tails, reads;

static void count(u64 value, const char *name)
{
	struct dp_exit_list list;
	const char *why;
	size_t i;
	u64 at = 0;

	functions++;
	if (dp_exits_find(f.exits, value, &list, &why)) {
		refused++;
		printf("refused %s: %s\n", name, why);
	} else if (!list.n) {
		empty++;
	}
	for (i = 0; i < list.n; i++) {
		rets += list.v[i].kind == DP_EXIT_RET;
		tails += list.v[i].kind == DP_EXIT_TAIL;
	}
	if (list.n && list.v[0].shared) {
		shared++;
		printf("shared %s\n", name);
	}
	if (dp_fdes_read_return_address(&f.fdes, &f.elf, value, &at) == 1) {
		reads++;
		printf("reads %s at 0x%llx\n", name, (unsigned long long)at);
	}
	dp_exits_free(&list);
}

/* What is called, or pointed to, and has no name. */
static void count_nameless(void)
{
	const struct dp_fragment *p;
	const struct dp_sym *s;
	char name[32];
	size_t i;

	for (i = 0; i < f.map->n_fragment; i++) {
		p = &f.map->fragment[i];
		s = dp_symtab_at(&f.symtab, p->start);
		if ((s && s->value == p->start) ||
		    dp_is_stub(f.exits, p->start) ||
		    !dp_is_entry(f.exits, p->start))
			continue;
		snprintf(name, sizeof(name), "0x%llx",
			 (unsigned long long)p->start);
		count(p->start, name);
	}
}

int main(int argc, char **argv)
{
	double begin = now(), middle;
	size_t i;
	int err;

	if (argc < 2)
		return 2;
	err = exits_file_open(&f, argv[1]);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-err));
		return 1;
	}
	middle = now();
	for (i = 0; i < f.symtab.n_order; i++) {
		const struct dp_sym *s = &f.symtab.v[f.symtab.order[i]];

		if (!is_function(s))
			continue;
		if (argc == 2)
			count(s->value, s->name);
		else if (!strcmp(s->name, argv[2]))
			show(s);
	}
	if (argc == 2)
		count_nameless();
	if (argc == 2)
		printf("%zu functions, %zu refused, %zu without exit, %zu shared; %zu rets, %zu tail jumps; "
		       "%zu read their return address; map %.2f s, questions %.2f s\n",
		       functions, refused, empty, shared, rets, tails, reads,
		       middle - begin, now() - middle);
	return 0;
}
