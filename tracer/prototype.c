// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* prototype: the tables of prototypes, read once, for the functions that specs name. */
#include "tracer/prototype.h"
#include "tracer/debuginfo.h"
#include "tracer/session.h"
#include "tracer/system.h"
#include "tracer/output.h"
#include "sym/prototypes.h"
#include "tracer/expr.h"
#include "tracer/values/code.h"
#include "tracer/values/words.h"
#include "sym/sym.h"
#include "sym/tracepoints.h"
#include "sym/types.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool dp_prototype_may_ask(const struct dp_spec *spec, struct dp_diag *diag)
{
	if (dp_spec_is_glob(spec))
		dp_diag_add(diag, "; names are those of one function");
	return !dp_spec_is_glob(spec);
}

static size_t texts_of(const struct dp_words *words, const char **text)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		text[i] = words->v[i].text;
	return words->n;
}

static int ask_file(struct dp_modules *mods, const struct dp_point *p,
		    const struct dp_words *words, struct dp_prototype **f)
{
	const struct dp_module *m = dp_module_at(mods, p->addr);
	const char *text[DP_WORDS_MAX];
	bool local[DP_WORDS_MAX];
	const struct dp_wanted wanted = {
		.words = text,
		.local = local,
		.n = words->n,
		.all = !words->n,
		.begins = p->bare || p->spec->form == DP_POINT_LINE,
		/* What has no symbol may be a clone. */
		.changed = dp_prototype_is_changed(p->symbol) ||
			   strstr(p->symbol, ".constprop.") || !*p->symbol,
	};
	size_t i;

	texts_of(words, text);
	for (i = 0; i < words->n; i++)
		local[i] = words->v[i].local;
	return m ? dp_types_scope(mods, m, p->addr, &wanted, f) : -ENOENT;
}

/* Of a function in the kernel, at its entry */
static int ask_kernel(const struct dp_point *p, const struct dp_words *words,
		      struct dp_prototype **f)
{
	const char *type[DP_WORDS_MAX], *field[DP_WORDS_MAX];
	const struct dp_spec *spec = p->spec;
	struct dp_words all = { .n = 0 };
	struct dp_kernel_wanted wanted = { .types = type,
					   .fields = field,
					   .all = !words->n };
	int err = p->offset ? -EDOM : 0;

	err = err ?: dp_words_add_all(&all, spec->args);
	err = err ?: dp_words_add_all(&all, spec->aggs);
	err = err ?: dp_words_add_all(&all, spec->cond);
	wanted.nr_types = texts_of(words, type);
	wanted.nr_fields = texts_of(&all, field);
	err = err   ?:
		      dp_types_kernel(strcmp(p->module, "kernel") ? p->module :
								    "",
				      p->symbol, &wanted, f);
	dp_words_free(&all);
	return err;
}

static int ask_about(struct dp_modules *mods, const struct dp_point *p,
		     const struct dp_words *words, struct dp_prototype **f)
{
	if (dp_system_is(p->spec))
		return ask_kernel(p, words, f);
	return ask_file(mods, p, words, f);
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
	const struct dp_point *p = &s->points.v[i];
	const struct dp_prototype *f = dp_prototype_of_spec(p->spec);
	const struct dp_words all = { .n = 0 };
	struct dp_prototype *own = NULL;

	if (dp_spec_is_glob(p->spec) || p->spec->kind == DP_SPEC_USDT)
		return;
	if (!f && !ask_about(s->source->mods, p, &all, &own))
		f = own;
	if (f)
		tell_names(s->opt->out, f);
	free(own);
}

bool dp_prototype_is_changed(const char *symbol)
{
	return strstr(symbol, ".isra.") || strstr(symbol, ".part.");
}

/* Which place of which file @p is: @key has no prototype yet. */
static int identify(struct dp_modules *mods, const struct dp_point *p,
		    struct dp_asked *key)
{
	const struct dp_module *m = dp_module_at(mods, p->addr);
	int fd = m ? dp_module_open(mods, m) : -ENOENT;
	struct stat st;
	int err;

	if (fd < 0)
		return fd == -ENOMEM || fd == -EMFILE ? fd : -ENOENT;
	err = fstat(fd, &st) ? -errno : 0;
	close(fd);
	*key = (struct dp_asked){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.time = (u64)st.st_mtim.tv_sec * 1000000000 +
			(u64)st.st_mtim.tv_nsec,
		.offset = p->addr - m->bias,
		.bias = m->bias,
		.note = p->note,
	};
	return err;
}

static const struct dp_asked *find_asked(const struct dp_spec *spec,
					 const struct dp_asked *key)
{
	const struct dp_asked *a = spec->asked;

	while (a && (a->dev != key->dev || a->ino != key->ino ||
		     a->time != key->time || a->offset != key->offset ||
		     a->bias != key->bias || a->note != key->note))
		a = a->next;
	return a;
}

static int ask_note(struct dp_modules *mods, const struct dp_point *p,
		    struct dp_prototype **f)
{
	return dp_tracepoint_arguments(mods, dp_module_at(mods, p->addr),
				       p->canonical, p->arguments, f);
}

static int ask_words(struct dp_modules *mods, const struct dp_spec *spec,
		     const struct dp_point *p, struct dp_prototype **f)
{
	struct dp_words words = { .n = 0 };
	int err = dp_words_add(&words, spec->args);

	err = err ?: dp_words_add(&words, spec->aggs);
	err = err ?: dp_words_add(&words, spec->cond);
	err = err ?: ask_about(mods, p, &words, f);
	dp_words_free(&words);
	return err;
}

static int ask_for(struct dp_modules *mods, struct dp_spec *spec,
		   struct dp_point *p, struct dp_asked *key)
{
	struct dp_asked *a;
	int err = spec->kind == DP_SPEC_USDT ?
			  ask_note(mods, p, &key->prototype) :
			  ask_words(mods, spec, p, &key->prototype);

	if (err)
		return err;
	a = malloc(sizeof(*a));
	if (!a) {
		free(key->prototype);
		return -ENOMEM;
	}
	*a = *key;
	a->next = spec->asked;
	spec->asked = a;
	p->names = a->prototype;
	return 0;
}

int dp_prototype_ask(struct dp_modules *mods, struct dp_spec *spec,
		     struct dp_point *p)
{
	const struct dp_asked *a;
	struct dp_asked key = { 0 };
	int err = dp_system_is(spec) ? 0 : identify(mods, p, &key);

	if (err)
		return err;
	a = find_asked(spec, &key);
	if (!a)
		return ask_for(mods, spec, p, &key);
	p->names = a->prototype;
	return 0;
}

int dp_prototype_refuse(const struct dp_spec *spec, int err,
			struct dp_diag *diag)
{
	struct dp_trace_program program;
	int bad = dp_expr_trace(spec, &program, diag);

	if (!bad)
		dp_expr_free(&program);
	if (err && dp_system_is(spec))
		dp_diag_add(diag, "; the kernel's description of its types %s",
			    dp_debuginfo_kernel(err));
	else if (err)
		dp_diag_add(diag, "; its debug information %s",
			    dp_debuginfo_failure(err));
	return bad == -ENOMEM ? bad : -EINVAL;
}
