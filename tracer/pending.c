// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pending: specs whose library is not loaded yet, or is unloaded.
 *
 * A thread with new libraries in place waits until the session has looked (struct
 * dp_source_libraries). If the libraries have what a spec wants, the source probes that,
 * too.
 */
#include "resolve/exits.h"
#include "sym/sym.h"
#include "tracer/inlined.h"
#include "tracer/live.h"
#include "tracer/output.h"
#include "tracer/names.h"
#include "tracer/session.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "" where the spec names none, and may mean any */
static bool names_module(const struct dp_spec *spec)
{
	return *spec->module || spec->kind == DP_SPEC_USDT;
}

static const char *module_of(const struct dp_spec *spec)
{
	if (*spec->module || spec->kind != DP_SPEC_USDT)
		return spec->module;
	return "a module that has it";
}

static bool has_module(struct dp_modules *mods, const struct dp_spec *spec)
{
	const struct dp_module **list;
	size_t n;
	int err;

	if (spec->kind == DP_SPEC_USDT && !*spec->module)
		return dp_spec_has_tracepoints(mods, spec);
	err = dp_modules_match(mods, spec->module, &list, &n, NULL);

	if (!err)
		free(list);
	return err != -ENOENT;
}

/* Why the source would miss loader events; NULL: it would not. */
static const char *unheard(const struct dp_session *s)
{
	return s->ops->libraries ?
		       s->ops->libraries->unheard(s->source) :
		       "its probes are of a kind that knows no libraries";
}

struct who {
	char s[32];
};

/* With -f a line begins with the session's process. */
static struct who who(const struct dp_session *s)
{
	struct who w = { "" };

	if (s->opt->children)
		snprintf(w.s, sizeof(w.s), "process %d: ", s->source->pid);
	return w;
}

static void say_of(const struct dp_session *s, const struct dp_spec *spec,
		   const char *what)
{
	if (!s->opt->quiet)
		dp_output_say("%s%s %s", who(s).s, spec->text, what);
}

/* No error: another process may have the library. But a process that could load it is not
 * passed over in silence. */
static void tell_unheard(const struct dp_session *s, const struct dp_spec *spec,
			 const char *why)
{
	if (!s->opt->quiet &&
	    (s->opt->verbose || dp_modules_linker(s->source->mods)))
		dp_output_say(
			"process %d: %s is not waited for: %s; have it load %s before dprobes begins",
			s->source->pid, spec->text, why, module_of(spec));
}

static bool may_come(const struct dp_session *s, const struct dp_spec *spec)
{
	return s->opt->pending ||
	       dp_loadable(s, *spec->module || !spec->provider ?
				      spec->module :
				      spec->provider);
}

/* May a spec wait with -f, where most processes never load its library? */
static bool may_wait(const struct dp_session *s, const struct dp_spec *spec)
{
	const char *why;

	if (!may_come(s, spec))
		return false;
	why = unheard(s);
	if (why)
		tell_unheard(s, spec, why);
	return !why;
}

static bool may_wait_alone(const struct dp_session *s,
			   const struct dp_spec *spec, struct dp_diag *diag)
{
	const char *why = unheard(s);

	if (why)
		dp_diag_add(
			diag,
			"; it cannot be waited for, because process %d cannot be watched: %s",
			s->source->pid, why);
	else if (may_come(s, spec))
		return true;
	else if (s->kind->waits)
		dp_diag_add(diag, "; --pending waits for it to be loaded");
	return false;
}

bool dp_pending_take(struct dp_session *s, size_t i, struct dp_diag *diag)
{
	const struct dp_spec *spec = &s->specs[i];

	if (!s->kind->report || !names_module(spec) ||
	    spec->form == DP_POINT_ADDRESS || has_module(s->source->mods, spec))
		return false;
	if (s->opt->children ? !may_wait(s, spec) :
			       !may_wait_alone(s, spec, diag))
		return false;
	s->pending[i] = true;
	s->nr_coming++;
	/* With -f specs are pending in nearly every process. */
	if (!s->opt->quiet && (!s->tree || s->opt->verbose))
		dp_output_say("%s%s is pending: %s is not loaded yet", who(s).s,
			      spec->text, module_of(spec));
	return true;
}

static bool same_points(const struct dp_point *was, const struct dp_point *is)
{
	/* A program with the program's own names has addresses in it. */
	return !strcmp(was->name, is->name) && was->refused == is->refused &&
	       was->nr_exits == is->nr_exits &&
	       (!was->names || was->addr == is->addr);
}

static void exchange(struct dp_point *a, struct dp_point *b)
{
	struct dp_point c = *a;

	*a = *b;
	*b = c;
}

/* The library is loaded again, most likely elsewhere: keep the points and their counts.
 * Return: false: it has other points. */
static bool return_points(struct dp_session *s, struct dp_modules *mods,
			  const struct dp_spec *spec, size_t first, size_t n)
{
	struct dp_points again = { 0 };
	struct dp_diag diag = { .text = "" };
	bool same;
	size_t i;

	same = !s->ops->resolve(s->source, mods, spec, &again, &diag) &&
	       again.n == n;
	for (i = 0; same && i < n; i++)
		same = same_points(&s->points.v[first + i], &again.v[i]);
	for (i = 0; same && i < n; i++) {
		again.v[i].probe = s->points.v[first + i].probe;
		again.v[i].program = s->points.v[first + i].program;
		again.v[i].names = s->points.v[first + i].names;
		exchange(&s->points.v[first + i], &again.v[i]);
	}
	dp_points_free(&again);
	return same;
}

/* The points of a spec are side by side. Return: how many. */
static size_t points_of(const struct dp_session *s, const struct dp_spec *spec,
			size_t *first)
{
	size_t n = 0;

	for (*first = 0; *first < s->points.n; ++*first)
		if (s->points.v[*first].spec == spec)
			break;
	while (*first + n < s->points.n && s->points.v[*first + n].spec == spec)
		n++;
	return n;
}

static bool has_gone(const struct dp_session *s, const struct dp_point *p)
{
	return !p->refused && s->ops->libraries->is_gone(s->source, p);
}

static bool note_gone(struct dp_session *s, size_t first, size_t n)
{
	bool any = false;
	size_t i;

	for (i = first; i < first + n; i++) {
		struct dp_point *p = &s->points.v[i];

		p->gone |= has_gone(s, p);
		any |= p->gone;
	}
	return any;
}

/* Look for a spec again whose code is gone. Return: is there something to arm? */
static bool look_again(struct dp_session *s, struct dp_modules *mods,
		       struct dp_spec *spec)
{
	size_t first, n = points_of(s, spec, &first);
	bool was = n && s->points.v[first].gone;

	if (!note_gone(s, first, n))
		return false;
	if (!has_module(mods, spec)) {
		if (!was && s->opt->verbose)
			say_of(s, spec,
			       "is gone: its library has been unloaded");
		return false;
	}
	if (return_points(s, mods, spec, first, n)) {
		if (s->opt->verbose)
			say_of(s, spec, "is there again");
		return true;
	}
	if (!was)
		say_of(s, spec,
		       "is not armed again: it is another library now");
	return false;
}

static int find_first(struct dp_session *s, struct dp_modules *mods,
		      struct dp_spec *spec, struct dp_diag *diag)
{
	size_t first = s->points.n;
	int err = s->ops->resolve(s->source, mods, spec, &s->points, diag);

	if (err || !spec->asks)
		return err;
	return dp_names_ask(s, mods, spec, first, diag);
}

static bool look_first(struct dp_session *s, struct dp_modules *mods,
		       struct dp_spec *spec, bool *pending)
{
	struct dp_diag diag = { .text = "" };
	size_t first = s->points.n;

	if (!has_module(mods, spec))
		return false;
	*pending = false;
	if (find_first(s, mods, spec, &diag)) {
		if (s->ops->ended(s->source))
			return false;
		dp_output_say("%s%s cannot be probed: %s", who(s).s, spec->text,
			      diag.text);
		return false;
	}
	spec->found = true;
	if (!dp_session_note(s, spec, first, &diag))
		return true;
	dp_output_say("%s%s cannot be probed: %s", who(s).s, spec->text,
		      diag.text);
	for (; first < s->points.n; first++) {
		s->points.v[first].several = true;
		dp_point_refuse(&s->points.v[first], -EINVAL, "%s", diag.text);
	}
	return false;
}

/* Find points of newly loaded libraries. Return: is there something to arm? */
static bool find_points(struct dp_session *s, struct dp_modules *mods)
{
	bool any = false;
	size_t i;

	s->ops->libraries->look(s->source);
	for (i = 0; i < s->nr_specs; i++) {
		struct dp_spec *spec = &s->specs[i];

		if (s->pending[i])
			any |= look_first(s, mods, spec, &s->pending[i]);
		else
			any |= look_again(s, mods, spec);
	}
	return any;
}

/**
 * struct find - what a session would have with the libraries now loaded
 * @draft: a copy of the session, of which only @points and @pending count
 * @any: is there something to arm?
 */
struct find {
	struct dp_session draft;
	struct dp_modules *mods;
	bool any;
};

static void drop_find(struct find *f)
{
	dp_points_free(&f->draft.points);
	dp_modules_close(f->mods);
	free(f->draft.pending);
}

/* Return: 0; -ESRCH: the process ends; a negative errno. */
static int look(struct dp_session *s, struct find *f, struct dp_diag *diag)
{
	size_t bytes = s->nr_specs * sizeof(*s->pending);
	int err;

	*f = (struct find){ .draft = *s };
	f->draft.points = (struct dp_points){ 0 };
	f->draft.pending = malloc(bytes);
	err = s->ops->modules(s->source, &f->mods, diag);
	if (!err &&
	    (!f->draft.pending || dp_points_copy(&f->draft.points, &s->points)))
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	if (err) {
		drop_find(f);
		return err;
	}
	memcpy(f->draft.pending, s->pending, bytes);
	f->any = find_points(&f->draft, f->mods);
	return 0;
}

static void tell_armed(const struct dp_session *s, const bool *was)
{
	size_t i, first;

	for (i = 0; i < s->nr_specs; i++)
		if (was[i] && !s->pending[i] &&
		    points_of(s, &s->specs[i], &first))
			say_of(s, &s->specs[i], "is not pending any more");
}

/* The process lost its library again, or has no room: what is probed stays so. */
static void tell_failed(const struct dp_session *s, const struct dp_diag *diag)
{
	if (!s->ops->ended(s->source))
		dp_output_say("%s%s", who(s).s, diag->text);
}

static void probe(struct dp_session *s, struct dp_modules *mods,
		  const bool *was_pending)
{
	struct dp_source_request want;
	struct dp_diag diag = { .text = "" };

	if (s->kind->arguments)
		dp_returned_find(s, mods);
	want = dp_session_request(s);
	if (s->ops->libraries->extend(s->source, mods, &want, &diag)) {
		tell_failed(s, &diag);
		return;
	}
	tell_armed(s, was_pending);
	dp_live_more(s);
}

/* Where nothing is to be armed, some points may be gone. */
static void take_find(struct dp_session *s, struct find *f)
{
	struct dp_points was = s->points;
	bool *pending = s->pending;

	if (f->any)
		dp_follow_births(s);
	s->points = f->draft.points;
	s->pending = f->draft.pending;
	if (f->any) {
		probe(s, f->mods, pending);
	} else {
		dp_tail_targets_free(&s->points);
		dp_modules_close(f->mods);
	}
	dp_points_free(&was);
	free(pending);
}

/* No spec is pending, and the code of no point is gone. */
static bool is_settled(const struct dp_session *s)
{
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		if (s->pending[i])
			return false;
	s->ops->libraries->look(s->source);
	for (i = 0; i < s->points.n; i++)
		if (s->points.v[i].gone || has_gone(s, &s->points.v[i]))
			return false;
	return true;
}

int dp_pending_look(struct dp_session *s, struct dp_diag *diag)
{
	const struct dp_source_libraries *l = s->ops->libraries;
	u32 heard = l->hear(s->source);
	struct find f;
	int err = 0;

	if (!is_settled(s)) {
		err = look(s, &f, diag);
		if (!err)
			take_find(s, &f);
	}
	l->answer(s->source, heard);
	return !err || err == -ESRCH || s->ops->ended(s->source) ? 0 : err;
}

void dp_pending_tell(const struct dp_session *s)
{
	size_t i;

	for (i = 0; i < s->nr_specs && !s->opt->quiet; i++)
		if (s->pending[i])
			dp_output_say("%s%s was never armed: %s was not loaded",
				      who(s).s, s->specs[i].text,
				      module_of(&s->specs[i]));
}
