// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* prototype: the tables of prototypes, read once, for the functions that specs name. */
#include "tracer/prototype.h"
#include "tracer/debuginfo.h"
#include "tracer/session.h"
#include "tracer/output.h"
#include "sym/prototypes.h"
#include "tracer/expr.h"
#include "tracer/values/code.h"
#include "sym/sym.h"
#include "sym/types.h"
#include <errno.h>
#include <stdlib.h>
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

static bool is_entry(const struct dp_spec *spec)
{
	return spec->form == DP_POINT_SYMBOL && !spec->offset && !spec->glob &&
	       !spec->bare && spec->module && spec->name;
}

const struct dp_prototype *dp_prototype_of_spec(const struct dp_spec *spec)
{
	return is_entry(spec) ? dp_prototype_of(spec->module, spec->name) :
				NULL;
}

bool dp_prototype_may_ask(const struct dp_spec *spec,
			  const struct dp_tracer_options *opt,
			  struct dp_diag *diag)
{
	if (spec->bare) {
		dp_diag_add(
			diag,
			"; it has inlined copies, and names there are not there yet");
		return false;
	}
	if (!is_entry(spec)) {
		dp_diag_add(diag,
			    "; names are those of one function, at its entry");
		return false;
	}
	if (opt->children)
		dp_diag_add(
			diag,
			"; with -f, names of debug information are not there yet");
	return !opt->children;
}

/* What stands for something else is told by its name alone. */
static void tell_parameter(FILE *out, const struct dp_prototype_parameter *p)
{
	struct dp_value_type type = dp_code_known(p->type);
	struct dp_printer view;
	char members[400];

	dp_output_print(out, "%s", p->name);
	if (type.kind != DP_VALUE_STRUCT || type.stars != 1 || !type.known->n ||
	    type.known->lens == DP_PROTOTYPE_VARIANTS ||
	    dp_printer_of(type.known, &view))
		return;
	dp_code_members(type.known, members, sizeof(members));
	dp_output_print(out,
			p->type->lens == DP_PROTOTYPE_REFERENCE ? ".{%s}" :
								  "->{%s}",
			members);
}

void dp_prototype_tell(struct dp_session *s, size_t i)
{
	struct dp_spec *spec = &s->specs[s->points.v[i].spec - s->specs];
	const struct dp_prototype *f = dp_prototype_of_spec(spec);
	u32 k, n = 0;

	if (!is_entry(spec))
		return;
	if (!f && !dp_prototype_ask(s, spec, i))
		f = spec->own_prototype;
	for (k = 0; f && k < f->n; k++) {
		if (!f->parameters[k].name)
			continue;
		dp_output_print(s->opt->out, n++ ? ", " : "    values: ");
		tell_parameter(s->opt->out, &f->parameters[k]);
	}
	if (n)
		putc('\n', s->opt->out);
}

bool dp_prototype_is_changed(const char *symbol)
{
	return strstr(symbol, ".isra.") || strstr(symbol, ".part.");
}

int dp_prototype_ask(struct dp_session *s, struct dp_spec *spec, size_t first)
{
	const struct dp_point *p = &s->points.v[first];
	const struct dp_module *m;

	if (s->points.n == first || p->refused)
		return -ENOENT;
	if (s->points.n > first + 1 && p[1].spec == spec)
		return -E2BIG;
	if (dp_prototype_is_changed(p->symbol) ||
	    strstr(p->symbol, ".constprop."))
		return -EINVAL;
	m = dp_module_at(s->source->mods, p->addr);
	if (!m)
		return -ENOENT;
	free(spec->own_prototype);
	spec->own_prototype = NULL;
	return dp_types_prototype(s->source->mods, m, p->addr,
				  &spec->own_prototype);
}

int dp_prototype_refuse(struct dp_session *s, struct dp_spec *spec, int err,
			struct dp_diag *diag)
{
	struct dp_trace_program program;
	bool loaded = s->points.n && s->points.v[s->points.n - 1].spec == spec;
	int bad = dp_expr_trace(spec, &program, diag);

	if (!bad)
		dp_expr_free(&program);
	if (!err)
		return bad == -ENOMEM ? bad : -EINVAL;
	if (err == -E2BIG)
		dp_diag_add(diag, "; there are several such functions");
	else if (err == -EINVAL)
		dp_diag_add(
			diag,
			"; the compiler has given this one other parameters");
	else if (err == -ENOENT && !loaded)
		dp_diag_add(diag, "; it is not loaded yet");
	else
		dp_diag_add(diag, "; its debug information %s",
			    dp_debuginfo_failure(err));
	return bad == -ENOMEM ? bad : -EINVAL;
}
