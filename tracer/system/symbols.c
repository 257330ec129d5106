// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* symbols: functions and variables of the kernel and its modules, as /proc/kallsyms has them. */
#include "tracer/system.h"
#include "tracer/system/system.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYMBOLS "/proc/kallsyms"
/* Bytes that are read at a time, at most */
#define PIECE (1u << 20)

/* Bytes of a function: what is farther behind its begin is in none, or in one that has gone */
#define LONGEST 0x10000

#define FUNCTIONS "tTwW"
#define VARIABLES "dDbBrRvV"

/** struct dp_system_symbol - in the text that has been read
 *  @module: "": it is the kernel's own; @type: as nm(1) has it, one of the above */
struct dp_system_symbol {
	u64 addr;
	const char *name, *module;
	char type;
};

/* "ffffffff81000000 T name	[module]", which is written to. Return: false: it is neither. */
static bool parse(char *text, struct dp_system_symbol *l)
{
	char *type, *at;

	l->addr = strtoull(text, &type, 16);
	if (type[0] != ' ' || !type[1] ||
	    !strchr(FUNCTIONS VARIABLES, type[1]) || type[2] != ' ')
		return false;
	l->type = type[1];
	l->name = type + 3;
	l->module = "";
	at = type + 3 + strcspn(l->name, "\t");
	if (at[0] == '\t' && at[1] == '[') {
		l->module = at + 2;
		at[2 + strcspn(l->module, "]")] = '\0';
	}
	*at = '\0';
	return *l->name != '\0';
}

/* What the kernel has generated for itself is none of its source's. */
static bool is_real(const struct dp_system_symbol *l)
{
	return strcmp(l->module, "bpf") && strncmp(l->module, "__builtin", 9);
}

/* The kernel makes it while it is read, so once. Return: the text, ended by 0; NULL: errno */
static char *read_text(void)
{
	int fd = open(SYMBOLS, O_RDONLY | O_CLOEXEC);
	char *text = NULL, *more;
	size_t size = 0;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		more = realloc(text, size + PIECE + 1);
		n = more ? read(fd, more + size, PIECE) : -1;
		text = more ? more : text;
		size += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	if (n) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

static int by_name(const void *a, const void *b, void *symbols)
{
	const struct dp_system_symbol *v = symbols;
	u32 i = *(const u32 *)a, j = *(const u32 *)b;
	int order = strcmp(v[i].name, v[j].name);

	return order ? order : i < j ? -1 : i > j;
}

static int enter(struct dp_system_symbols *s)
{
	size_t lines = 1;
	char *at, *end;
	u32 i;

	for (at = s->text; (at = strchr(at, '\n')); at++)
		lines++;
	s->v = calloc(lines, sizeof(*s->v));
	s->sorted = calloc(lines, sizeof(*s->sorted));
	if (!s->v || !s->sorted)
		return -ENOMEM;
	for (at = s->text; *at; at = end) {
		end = at + strcspn(at, "\n");
		if (*end)
			*end++ = '\0';
		s->n += parse(at, &s->v[s->n]) && is_real(&s->v[s->n]);
	}
	for (i = 0; i < s->n; i++)
		s->sorted[i] = i;
	qsort_r(s->sorted, s->n, sizeof(*s->sorted), by_name, s->v);
	return 0;
}

/** struct wanted - symbols that are looked for; @module: a glob, or "": of any */
struct wanted {
	const char *types, *module, *name;
};

static bool is_wanted(const struct dp_system_symbol *l, const struct wanted *w)
{
	if (!strchr(w->types, l->type))
		return false;
	return !*w->module ||
	       !(*l->module ? fnmatch(w->module, l->module, 0) :
			      strcmp(w->module, DP_SYSTEM_IMAGE));
}

static int add(struct dp_system_functions *f, const struct dp_system_symbol *l)
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

/* Return: the first place in @sorted whose name is not before @name */
static u32 seek(const struct dp_system_symbols *s, const char *name)
{
	u32 from = 0, to = s->n, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (strcmp(s->v[s->sorted[mid]].name, name) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* In the order of the kernel's text */
static int find_all(const struct dp_system_symbols *s, const struct wanted *w,
		    struct dp_system_functions *found)
{
	int err = 0;
	u32 i;

	for (i = 0; i < s->n && !err; i++)
		if (is_wanted(&s->v[i], w) &&
		    !fnmatch(w->name, s->v[i].name, 0))
			err = add(found, &s->v[i]);
	return err;
}

static int find(const struct dp_system_symbols *s, const struct wanted *w,
		struct dp_system_functions *found)
{
	const struct dp_system_symbol *l;
	int err = 0;
	u32 i;

	if (strpbrk(w->name, "*?[\\"))
		return find_all(s, w, found);
	for (i = seek(s, w->name); i < s->n && !err; i++) {
		l = &s->v[s->sorted[i]];
		if (strcmp(l->name, w->name))
			break;
		if (is_wanted(l, w))
			err = add(found, l);
	}
	return err;
}

static int load(struct dp_system_symbols *s, struct dp_diag *diag)
{
	if (s->text)
		return 0;
	s->text = read_text();
	if (!s->text)
		return dp_diag_set(diag, -errno, "cannot read %s: %s", SYMBOLS,
				   strerror(errno));
	return enter(s) ? dp_diag_set(diag, -ENOMEM, "out of memory") : 0;
}

static int find_pattern(struct dp_system_symbols *s, const char *pattern,
			const char *types, struct dp_system_functions *found,
			struct dp_diag *diag)
{
	const char *colon = strchr(pattern, ':');
	char module[64] = "";
	const struct wanted w = { types, module, colon ? colon + 1 : pattern };
	int err = load(s, diag);

	if (err)
		return err;
	if (colon)
		snprintf(module, sizeof(module), "%.*s", (int)(colon - pattern),
			 pattern);
	/* No module has no name. */
	if (colon == pattern)
		return 0;
	err = find(s, &w, found);
	return err ? dp_diag_set(diag, err, "out of memory") : 0;
}

int dp_system_find(struct dp_system_symbols *s, const char *pattern,
		   struct dp_system_functions *found, struct dp_diag *diag)
{
	return find_pattern(s, pattern, FUNCTIONS, found, diag);
}

int dp_system_find_any(struct dp_system_symbols *s, const char *pattern,
		       struct dp_system_functions *found, struct dp_diag *diag)
{
	return find_pattern(s, pattern, FUNCTIONS VARIABLES, found, diag);
}

/* Aliases stay in the order of the kernel, which calls a place by the first one. */
static int by_address(const void *a, const void *b, void *symbols)
{
	const struct dp_system_symbol *v = symbols;
	u32 i = *(const u32 *)a, j = *(const u32 *)b;

	return v[i].addr != v[j].addr ? (v[i].addr < v[j].addr ? -1 : 1) :
					(i > j) - (i < j);
}

static bool make_ascending(struct dp_system_symbols *s)
{
	u32 i;

	s->ascending = calloc(s->n + 1, sizeof(*s->ascending));
	for (i = 0; s->ascending && i < s->n; i++)
		if (s->v[i].addr && strchr(FUNCTIONS, s->v[i].type))
			s->ascending[s->nr_functions++] = i;
	if (s->ascending)
		qsort_r(s->ascending, s->nr_functions, sizeof(*s->ascending),
			by_address, s->v);
	return s->ascending;
}

/* How many functions begin at @addr or before? */
static u32 upto(const struct dp_system_symbols *s, u64 addr)
{
	u32 from = 0, to = s->nr_functions, mid;

	while (from < to) {
		mid = from + (to - from) / 2;
		if (s->v[s->ascending[mid]].addr <= addr)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

bool dp_system_symbol_at(struct dp_system_symbols *s, u64 addr,
			 struct dp_system_place *place)
{
	const struct dp_system_symbol *l;
	struct dp_diag unused;
	u32 at;

	dp_diag_clear(&unused);
	if (load(s, &unused) || (!s->ascending && !make_ascending(s)))
		return false;
	at = upto(s, addr);
	if (!at || addr - s->v[s->ascending[at - 1]].addr >= LONGEST)
		return false;
	while (at > 1 && s->v[s->ascending[at - 2]].addr ==
				 s->v[s->ascending[at - 1]].addr)
		at--;
	l = &s->v[s->ascending[at - 1]];
	*place = (struct dp_system_place){ l->name, l->module, addr - l->addr };
	return true;
}

void dp_system_symbols_free(struct dp_system_symbols *s)
{
	free(s->ascending);
	free(s->text);
	free(s->v);
	free(s->sorted);
	*s = (struct dp_system_symbols){ 0 };
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
