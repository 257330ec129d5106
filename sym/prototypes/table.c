// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* table: what is known of the functions of each library that was asked about. */
#include <stdlib.h>
#include <string.h>
#include "sym/prototypes/parse.h"

struct library {
	struct library *next;
	char *soname;
	struct dp_proto_table table;
};

struct dp_prototypes {
	struct library *library;
	dp_prototypes_report_fn *report;
	void *arg;
};

int dp_prototypes_open(struct dp_prototypes **p,
		       dp_prototypes_report_fn *report, void *arg)
{
	*p = calloc(1, sizeof(**p));
	if (!*p)
		return -ENOMEM;
	(*p)->report = report;
	(*p)->arg = arg;
	return 0;
}

static void drop(struct library *lib)
{
	dp_proto_free(&lib->table.arena);
	free(lib->soname);
	free(lib);
}

void dp_prototypes_close(struct dp_prototypes *p)
{
	struct library *next;

	if (!p)
		return;
	for (; p->library; p->library = next) {
		next = p->library->next;
		drop(p->library);
	}
	free(p);
}

static void see_file(void *arg, const char *file, const char *text, size_t len)
{
	struct dp_prototypes *p = arg;

	dp_proto_parse(&p->library->table, file, text, len, p->report, p->arg);
}

/* It becomes the first of the list. */
static struct library *load(struct dp_prototypes *p, const char *soname)
{
	struct library *lib = calloc(1, sizeof(*lib));

	if (!lib)
		return NULL;
	lib->soname = strdup(soname);
	if (!lib->soname) {
		free(lib);
		return NULL;
	}
	lib->next = p->library;
	p->library = lib;
	dp_proto_search(soname, see_file, p);
	return lib;
}

static struct library *get(struct dp_prototypes *p, const char *soname)
{
	struct library *lib = p->library;

	while (lib && strcmp(lib->soname, soname))
		lib = lib->next;
	return lib ?: load(p, soname);
}

const struct dp_prototype *dp_prototypes_find(struct dp_prototypes *p,
					      const char *soname,
					      const char *function)
{
	struct library *lib = get(p, soname);

	return lib ? dp_proto_names_get(&lib->table.functions, function,
					strlen(function)) :
		     NULL;
}

struct reader {
	void (*see)(void *arg, const struct dp_prototype *f);
	void *arg;
};

static void see_function(void *arg, const void *thing)
{
	const struct reader *r = arg;

	r->see(r->arg, thing);
}

void dp_prototypes_each(struct dp_prototypes *p, const char *soname,
			void (*see)(void *arg, const struct dp_prototype *f),
			void *arg)
{
	struct library *lib = get(p, soname);
	struct reader r = { see, arg };

	if (lib)
		dp_proto_names_each(&lib->table.functions, see_function, &r);
}
