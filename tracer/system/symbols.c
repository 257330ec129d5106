// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* symbols: the functions of the kernel and its modules, as /proc/kallsyms has them. */
#include "tracer/system.h"
#include "tracer/system/system.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS "/proc/kallsyms"
/* A line of it; names of modules are short. */
struct line {
	u64 addr;
	const char *name;
	char module[64];
};

/* "ffffffff81000000 T name	[module]", which is written to. Return: false: its type is not one of
 * @types. */
static bool parse(char *text, const char *types, struct line *l)
{
	char *type, *at;

	l->addr = strtoull(text, &type, 16);
	if (type[0] != ' ' || !type[1] || !strchr(types, type[1]) ||
	    type[2] != ' ')
		return false;
	l->name = type + 3;
	at = type + 3 + strcspn(l->name, "\t\n");
	*l->module = '\0';
	if (at[0] == '\t' && at[1] == '[')
		snprintf(l->module, sizeof(l->module), "%.*s",
			 (int)strcspn(at + 2, "]\n"), at + 2);
	*at = '\0';
	return *l->name != '\0';
}

/* What the kernel has generated for itself has no functions. */
static bool is_real(const struct line *l)
{
	return strcmp(l->module, "bpf") && strncmp(l->module, "__builtin", 9);
}

static bool matches(const struct line *l, const char *pattern)
{
	const char *colon = strchr(pattern, ':');
	char module[64];

	if (!colon)
		return !fnmatch(pattern, l->name, 0);
	snprintf(module, sizeof(module), "%.*s", (int)(colon - pattern),
		 pattern);
	if (*l->module ? fnmatch(module, l->module, 0) :
			 strcmp(module, DP_SYSTEM_IMAGE))
		return false;
	return !fnmatch(colon + 1, l->name, 0);
}

static int add(struct dp_system_functions *f, const struct line *l)
{
	size_t cap = 2 * f->cap + 64;
	struct dp_system_function *more, *to;

	if (f->n == f->cap) {
		more = realloc(f->v, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		f->v = more;
		f->cap = cap;
	}
	to = &f->v[f->n++];
	to->addr = l->addr;
	to->name = strdup(l->name);
	to->module = strdup(l->module);
	return to->name && to->module ? 0 : -ENOMEM;
}

static int find(const char *pattern, const char *types,
		struct dp_system_functions *found, struct dp_diag *diag)
{
	FILE *f = fopen(SYMBOLS, "re");
	struct line l;
	char *text = NULL;
	size_t room = 0;
	int err = 0;

	if (!f)
		return dp_diag_set(diag, -errno, "cannot read %s: %s", SYMBOLS,
				   strerror(errno));
	while (!err && getline(&text, &room, f) >= 0)
		if (parse(text, types, &l) && matches(&l, pattern) &&
		    is_real(&l))
			err = add(found, &l);
	free(text);
	fclose(f);
	return err ? dp_diag_set(diag, err, "out of memory") : 0;
}

int dp_system_find(const char *pattern, struct dp_system_functions *found,
		   struct dp_diag *diag)
{
	return find(pattern, "tTwW", found, diag);
}

int dp_system_find_any(const char *pattern, struct dp_system_functions *found,
		       struct dp_diag *diag)
{
	return find(pattern, "tTwWdDbBrRvV", found, diag);
}

void dp_system_functions_free(struct dp_system_functions *f)
{
	while (f->n) {
		f->n--;
		free(f->v[f->n].name);
		free(f->v[f->n].module);
	}
	free(f->v);
	*f = (struct dp_system_functions){ 0 };
}
