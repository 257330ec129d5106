// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* prototype: the tables of prototypes, read once, for the functions that specs name. */
#include "tracer/prototype.h"
#include "tracer/session.h"
#include "tracer/output.h"
#include "sym/prototypes.h"
#include "tracer/expr.h"
#include "tracer/values/code.h"
#include "tracer/values/words.h"
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
	       spec->module && spec->name;
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
	if (dp_spec_is_glob(spec)) {
		dp_diag_add(diag, "; names are those of one function");
		return false;
	}
	if (opt->children)
		dp_diag_add(
			diag,
			"; with -f, names of debug information are not there yet");
	return !opt->children;
}

static int ask_about(struct dp_session *s, struct dp_spec *spec, size_t first,
		     const struct dp_words *words)
{
	const struct dp_point *p = &s->points.v[first];
	const struct dp_module *m = dp_module_at(s->source->mods, p->addr);
	const char *text[DP_WORDS_MAX];
	bool local[DP_WORDS_MAX];
	const struct dp_wanted wanted = {
		.words = text,
		.local = local,
		.n = words->n,
		.all = !words->n,
		.changed = dp_prototype_is_changed(p->symbol) ||
			   strstr(p->symbol, ".constprop."),
	};
	size_t i;

	for (i = 0; i < words->n; i++) {
		text[i] = words->v[i].text;
		local[i] = words->v[i].local;
	}
	if (!m)
		return -ENOENT;
	free(spec->own_prototype);
	spec->own_prototype = NULL;
	return dp_types_scope(s->source->mods, m, p->addr, &wanted,
			      &spec->own_prototype);
}

static void tell_names(FILE *out, const struct dp_prototype *f)
{
	char text[2000];

	dp_code_tell(f, true, text, sizeof(text));
	if (*text)
		dp_output_print(out, "    values: %s\n", text);
	dp_code_tell(f, false, text, sizeof(text));
	if (*text)
		dp_output_print(out, "    without a value here: %s\n", text);
}

void dp_prototype_tell(struct dp_session *s, size_t i)
{
	struct dp_spec *spec = &s->specs[s->points.v[i].spec - s->specs];
	const struct dp_prototype *f = dp_prototype_of_spec(spec);
	const struct dp_words all = { .n = 0 };

	if (dp_spec_is_glob(spec))
		return;
	if (!f && !ask_about(s, spec, i, &all))
		f = spec->own_prototype;
	if (f)
		tell_names(s->opt->out, f);
}

bool dp_prototype_is_changed(const char *symbol)
{
	return strstr(symbol, ".isra.") || strstr(symbol, ".part.");
}

int dp_prototype_ask(struct dp_session *s, struct dp_spec *spec, size_t first)
{
	const struct dp_point *p = &s->points.v[first];
	struct dp_words words = { .n = 0 };
	int err;

	if (s->points.n == first || p->refused)
		return -ENOENT;
	if (s->points.n > first + 1 && p[1].spec == spec)
		return -E2BIG;
	err = dp_words_add(&words, spec->args);
	err = err ?: dp_words_add(&words, spec->cond);
	err = err ?: ask_about(s, spec, first, &words);
	dp_words_free(&words);
	return err;
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
		dp_diag_add(diag, "; there are several such places");
	else if (err == -ENOENT && !loaded)
		dp_diag_add(diag, "; it is not loaded yet");
	else if (err == -ENOENT)
		dp_diag_add(
			diag,
			"; its debug information is not installed (package NAME-dbgsym or NAME-dbg), or does not have it");
	else
		dp_diag_add(diag, "; its debug information cannot be read: %s",
			    strerror(-err));
	return bad == -ENOMEM ? bad : -EINVAL;
}
