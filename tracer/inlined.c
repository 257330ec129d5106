// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* inlined: specs whose function may have been inlined; no register there is an argument. */
#include "tracer/inlined.h"
#include "tracer/tracer.h"
#include <ctype.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <string.h>
#include "resolve/points.h"

static int bad(struct dp_diag *diag, int column, int span, const char *why)
{
	dp_diag_set(diag, -EINVAL, "%s", why);
	dp_diag_caret(diag, column, span);
	return -EINVAL;
}

static int bad_point(const struct dp_spec *spec, struct dp_diag *diag,
		     const char *why)
{
	return bad(diag, spec->point_col,
		   (int)strcspn(spec->text + spec->point_col, " ("), why);
}

static int check_form(const struct dp_spec *spec, struct dp_diag *diag)
{
	if (spec->form == DP_POINT_LINE)
		return 0;
	if (spec->form != DP_POINT_SYMBOL)
		return bad_point(
			spec, diag,
			"--inlined goes with functions, by their names");
	if (dp_spec_is_glob(spec))
		return bad(
			diag, 0, (int)strcspn(spec->text, " ("),
			"--inlined goes with functions that are named one by one, not with globs");
	if (spec->kind == DP_SPEC_RETURN)
		return bad_point(
			spec, diag,
			"an inlined copy does not return: with --inlined, name the function without r: or %return");
	return spec->offset ?
		       bad_point(
			       spec, diag,
			       "an inlined copy has no offsets: with --inlined, name the function alone") :
		       0;
}

/* Return: bytes of a name of an argument, as arg0, farg0 or $arg1; 0: it is none */
static size_t argument_at(const char *s)
{
	size_t n = strspn(s, "$f");

	if (n > 1 || strncmp(s + n, "arg", 3) ||
	    !isdigit((unsigned char)s[n + 3]))
		return 0;
	n += 3;
	n += strspn(s + n, "0123456789");
	return isalnum((unsigned char)s[n]) || s[n] == '_' ? 0 : n;
}

static size_t word_at(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n ? n : 1;
}

/* Return: where @text names an argument, outside of quotes; -1: it does not */
static int find_argument(const char *text, size_t *span)
{
	bool quoted = false;
	size_t i;

	for (i = 0; text && text[i]; i += quoted ? 1 : word_at(text + i)) {
		if (quoted && text[i] == '\\' && text[i + 1])
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (*span = argument_at(text + i)))
			return (int)i;
	}
	return -1;
}

int dp_inlined_check(const struct dp_spec *spec, struct dp_diag *diag)
{
	static const char why[] =
		"an inlined copy has no arguments in registers of their own, and a clone may have other ones: name registers (rdi), or leave this away";
	size_t span;
	int at = find_argument(spec->args, &span);

	if (at >= 0)
		return bad(diag, spec->args_col + 1 + at, (int)span, why);
	at = find_argument(spec->aggs, &span);
	if (at >= 0)
		return bad(diag, spec->aggs_col + 1 + at, (int)span, why);
	at = find_argument(spec->cond, &span);
	return at < 0 ? 0 : bad(diag, spec->cond_col + at, (int)span, why);
}

int dp_inlined_ask(struct dp_spec *spec, const struct dp_tracer_options *opt,
		   struct dp_diag *diag)
{
	int err;

	if (!opt->inlined) {
		spec->inlines = opt->children ? DP_INLINES_NEVER :
						DP_INLINES_ALONE;
		return 0;
	}
	err = check_form(spec, diag);
	if (err || spec->form != DP_POINT_SYMBOL)
		return err;
	spec->inlines = DP_INLINES_TOO;
	spec->bare = true;
	return dp_inlined_check(spec, diag);
}

bool dp_inlined_found(struct dp_spec *spec, const struct dp_points *points,
		      size_t first)
{
	if (spec->bare)
		return false;
	for (; first < points->n; first++)
		spec->bare |= points->v[first].bare;
	if (spec->bare) {
		spec->prototype = NULL;
		spec->asks = false;
	}
	return spec->bare;
}
