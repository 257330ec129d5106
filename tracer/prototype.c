// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* prototype: the tables of prototypes, read once, for the functions that specs name. */
#include "tracer/prototype.h"
#include "tracer/session.h"
#include "tracer/output.h"
#include "sym/prototypes.h"
#include <string.h>

static struct dp_prototypes *tables;

/* A file of the user's, which he can mend. */
static void report(void *arg, const struct dp_diag *diag, const char *line)
{
	dp_output_say("%s", diag->text);
}

const struct dp_prototype *dp_prototype_of(const char *module,
					   const char *function)
{
	const char *base = strrchr(module, '/');

	base = base ? base + 1 : module;
	if (!*base || !*function ||
	    (!tables && dp_prototypes_open(&tables, report, NULL)))
		return NULL;
	return dp_prototypes_find(tables, base, function);
}

const struct dp_prototype *dp_prototype_of_spec(const struct dp_spec *spec)
{
	bool entry = spec->form == DP_POINT_SYMBOL && !spec->offset;

	return entry && !spec->glob && spec->module && spec->name ?
		       dp_prototype_of(spec->module, spec->name) :
		       NULL;
}
