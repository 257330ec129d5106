// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * insert: a program that comes to a hold, beside those that are there, or in their places.
 *
 *   source ─► file, specs ─► points ─► which points go ─► exchange: all hits see all of it, or nothing
 *
 * --merge: a point at the same place goes, and the new program uses the local variables of the one
 * that is there. --replace: all points of that name go, and variables begin anew.
 */
#include "tracer/held.h"
#include "tracer/order.h"
#include "tracer/output.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** struct coming - @file: the new one; @specs, @points: how many there were before; @retire: of each
 *  of these points: it goes */
struct coming {
	struct dp_session *s;
	struct dp_hold *h;
	const struct dp_held_source *source;
	size_t file, specs, points;
	bool *retire;
};

static const char *name_of(const struct coming *c)
{
	return c->h->run.files[c->file].program->name;
}

/* Is it the same module's? */
static bool is_same(const struct coming *c, size_t file)
{
	const char *name = c->h->run.files[file].program->name;

	return file != c->file && !c->h->gone[file] &&
	       (dp_held_named(name, name_of(c)) ||
		dp_held_named(name_of(c), name));
}

static int check_name(const struct coming *c, struct dp_diag *diag)
{
	size_t i;

	for (i = 0; i < c->file; i++)
		if (is_same(c, i) &&
		    !(c->source->how & (DP_HELD_MERGE | DP_HELD_REPLACE)))
			return dp_diag_set(
				diag, -EEXIST,
				"%s has a program for %s; --merge adds to it, --replace puts this one in its place",
				dp_order_place(dp_order_target(c->s)).s,
				name_of(c));
	return 0;
}

/* A program that shares variables has the number of the one that has them. */
static void share(const struct coming *c)
{
	struct file *f = &c->h->run.files[c->file];
	size_t i;

	for (i = 0; i < c->file; i++)
		if (is_same(c, i)) {
			f->shares = c->h->run.files[i].shares ?:
					    c->h->run.files[i].number + 1;
			f->room_lv = 0;
			return;
		}
}

/* In the kernel, a point whose module was not loaded when it was added has no address. */
static bool is_same_place(const struct dp_point *a, const struct dp_point *b)
{
	if (a->spec->kind != b->spec->kind)
		return false;
	return a->addr && b->addr ? a->addr == b->addr :
				    !strcmp(a->name, b->name);
}

/* Where the new program has a point, those of the same kind go. */
static void displace(const struct coming *c, size_t file)
{
	const struct dp_points *points = &c->s->points;
	bool *old = calloc(points->n + 1, sizeof(*old));
	size_t i, k;

	if (!old)
		return;
	dp_hold_mark(c->s, file, old);
	for (i = 0; i < c->points; i++)
		for (k = c->points; old[i] && k < points->n; k++)
			c->retire[i] |=
				!points->v[k].refused &&
				is_same_place(&points->v[k], &points->v[i]);
	free(old);
}

static void choose(const struct coming *c)
{
	size_t i;

	for (i = 0; i < c->file; i++) {
		if (!is_same(c, i))
			continue;
		if (c->source->how & DP_HELD_REPLACE)
			dp_hold_mark(c->s, i, c->retire);
		else
			displace(c, i);
	}
	if (c->source->how & DP_HELD_MERGE)
		share(c);
}

/* All points of a program that goes, those that were refused, too */
static void note_replaced(const struct coming *c)
{
	size_t i, k;

	for (i = 0; i < c->file; i++)
		if (is_same(c, i))
			for (k = c->h->run.files[i].first;
			     k < c->h->run.files[i + 1].first; k++)
				c->h->points[k].retired = true;
}

/* The points are the source's by now, and stay in the lists. */
static void note_failed(const struct coming *c)
{
	size_t i;

	for (i = c->points; i < c->s->points.n; i++)
		c->s->points.v[i].retired = true;
	for (i = c->specs; i < c->s->nr_specs; i++) {
		c->h->points[i].retired = true;
		c->s->pending[i] = false;
	}
	c->h->gone[c->file] = true;
}

static int exchange(struct coming *c, struct dp_modules *mods,
		    struct dp_diag *diag)
{
	struct dp_session *s = c->s;
	struct dp_source_request want;
	int err;

	c->retire = calloc(s->points.n + 1, sizeof(*c->retire));
	if (!c->retire) {
		dp_modules_close(mods);
		note_failed(c);
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	}
	choose(c);
	want = dp_session_request(s);
	err = s->ops->exchange(s->source, mods, &want, c->retire, diag);
	if (err) {
		note_failed(c);
		return err;
	}
	if (c->source->how & DP_HELD_REPLACE)
		note_replaced(c);
	dp_hold_note_retired(s, c->retire);
	return 0;
}

static bool any_armable(const struct coming *c)
{
	size_t i;

	for (i = c->specs; i < c->s->nr_specs; i++)
		if (c->s->pending[i])
			return true;
	for (i = c->points; i < c->s->points.n; i++)
		if (!c->s->points.v[i].refused)
			return true;
	return false;
}

/* @result: what has come of it. Where no point can be armed nothing changes. */
static int add_points(struct coming *c, struct dp_held_result *result,
		      struct dp_diag *diag)
{
	struct run *run = &c->h->run;
	size_t n = run->nr_specs - c->specs;
	struct dp_modules *mods;
	int err = c->s->ops->modules(c->s->source, &mods, diag);

	if (err)
		return err;
	c->h->coming = mods;
	err = dp_session_add_specs(c->s,
				   (const char *const *)&run->specs[c->specs],
				   n, mods, diag);
	c->h->coming = NULL;
	*result = (struct dp_held_result){ (u32)n, (u32)n, 0 };
	if (!err && any_armable(c)) {
		err = exchange(c, mods, diag);
		if (!err)
			result->refused = dp_hold_note_refused(c->s, c->specs);
		return err;
	}
	dp_modules_close(mods);
	if (!err)
		dp_session_drop_specs(c->s, c->specs);
	return err;
}

static int refuse_second(const struct dp_session *s, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"process %d probes itself; one program is held there at a time",
		s->source->pid);
}

/* Add the file, and say where it is wrong if it is. */
static int insert(struct coming *c, struct dp_held_result *result,
		  struct dp_diag *diag)
{
	int err = dp_hold_add(c->h, c->source, diag);

	if (err)
		return err;
	err = check_name(c, diag);
	if (!err && !c->s->ops->exchange)
		err = refuse_second(c->s, diag);
	if (!err)
		err = add_points(c, result, diag);
	/* What the source has seen stays. */
	if (c->s->nr_specs == c->specs)
		dp_hold_drop(c->h);
	return err;
}

static void answer(FILE *reply, int err, const char *words, const char *line,
		   const struct dp_held_result *result)
{
	size_t n;

	if (err && line)
		dp_output_print(reply, "%s", line);
	if (err)
		return;
	for (; *words; words += n + (words[n] == '\n')) {
		n = strcspn(words, "\n");
		dp_output_print(reply, "%.*s\n", (int)n, words);
	}
	dp_output_print(reply, "%u %u %u", result->points, result->refused,
			result->waiting);
}

int dp_hold_insert(struct dp_session *s, const struct dp_held_source *source,
		   FILE *reply, struct dp_diag *diag)
{
	struct dp_hold *h = s->own;
	struct coming c = { .s = s,
			    .h = h,
			    .source = source,
			    .file = h->run.nr_files,
			    .specs = s->nr_specs,
			    .points = s->points.n };
	char **bad_line = h->run.bad_line, *line = NULL, *words = NULL;
	struct dp_held_result result = { 0 };
	size_t len = 0;
	FILE *talk = open_memstream(&words, &len);
	int err;

	if (!talk)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	h->talk = talk;
	h->run.bad_line = &line;
	err = insert(&c, &result, diag);
	h->run.bad_line = bad_line;
	h->talk = stderr;
	if (fclose(talk) && !err)
		err = dp_diag_set(diag, -ENOMEM, "out of memory");
	answer(reply, err, words ?: "", line, &result);
	free(c.retire);
	free(words);
	free(line);
	return err;
}
