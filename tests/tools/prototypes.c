// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the prototype files say of a library: prototypes SONAME. A line a function: its name,
 * what it returns and its parameters, each as a letter and a size: i(nteger), f(loat),
 * c(omplex), p(ointer, and the size of what it points at, 0: unknown), s(truct), v(oid);
 * "+" at the end: others may follow.
 */
#include <dprobes/diag.h>
#include <stdio.h>
#include "sym/prototypes.h"

static void say(void *arg, const struct dp_diag *diag, const char *line)
{
	fprintf(stderr, "%s\n", diag->text);
}

static void show_type(const struct dp_prototype_type *type)
{
	static const char letter[] = "vifcpas";
	unsigned int size = type->size;

	if (type->kind == DP_PROTOTYPE_POINTER)
		size = type->of->kind == DP_PROTOTYPE_STRUCT ? type->of->size :
							       0;
	printf(" %c%u", letter[type->kind], size);
}

static void show(void *arg, const struct dp_prototype *f)
{
	unsigned int i;

	printf("%s", f->name);
	show_type(f->returns);
	for (i = 0; i < f->n; i++)
		show_type(f->parameters[i].type);
	puts(f->variadic ? " +" : "");
}

int main(int argc, char **argv)
{
	struct dp_prototypes *p;

	if (argc != 2 || dp_prototypes_open(&p, say, NULL))
		return 2;
	dp_prototypes_each(p, argv[1], show, NULL);
	dp_prototypes_close(p);
	return 0;
}
