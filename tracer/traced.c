// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* traced: the programs that log values of hits, and what a record has of them. */
#include "tracer/traced.h"
#include "tracer/output.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct dp_traced *find(struct dp_traced *const *programs,
			      const struct dp_session *s,
			      const struct dp_point *p)
{
	struct dp_traced *t = programs[p->spec - s->specs];

	while (t && t->names != p->names)
		t = t->next;
	return t;
}

const struct dp_trace_program *dp_traced_find(struct dp_traced *const *programs,
					      const struct dp_session *s,
					      const struct dp_point *p)
{
	return &find(programs, s, p)->program;
}

const struct dp_trace_program *dp_traced_make(struct dp_traced **programs,
					      struct dp_session *s,
					      const struct dp_point *p,
					      struct dp_diag *diag)
{
	struct dp_traced *t = find(programs, s, p), **all;
	struct dp_spec *spec = &s->specs[p->spec - s->specs];

	if (t)
		return &t->program;
	t = calloc(1, sizeof(*t));
	if (!t) {
		dp_diag_set(diag, -ENOMEM, "out of memory");
		return NULL;
	}
	if (p->names)
		spec->prototype = p->names;
	spec->stack |= s->opt->stack;
	if (dp_expr_trace(spec, &t->program, diag)) {
		free(t);
		return NULL;
	}
	t->names = p->names;
	all = &programs[spec - s->specs];
	t->next = *all;
	*all = t;
	return &t->program;
}

void dp_traced_free(struct dp_traced **programs, size_t n)
{
	struct dp_traced *t;
	size_t i;

	for (i = 0; programs && i < n; i++)
		while ((t = programs[i])) {
			programs[i] = t->next;
			dp_expr_free(&t->program);
			free(t);
		}
	free(programs);
}

/* What is logged at the return comes behind what is logged at the entry. */
static void take_part(struct dp_shown *v, const struct dp_trace_program *p,
		      const struct dp_record_copy *r, u32 *at, bool at_return)
{
	size_t i;

	for (i = 0; i < p->nr_items && !v->cut; i++) {
		const struct dp_trace_item *item = &p->items[i];

		if (item->at_return != at_return)
			continue;
		v->cut = !dp_value_take(item, r, at, &v->is[item->place]);
		if (v->cut)
			continue;
		v->as[item->place] = item;
		v->n++;
	}
}

static int take_errno(const struct dp_trace_program *p,
		      const struct dp_record_copy *r, u32 *at)
{
	struct dp_item item;
	u32 err = 0;

	if (p->errno_at && dp_item_next(r, at, &item) &&
	    item.token == DP_ITEM_ELEMENTS && item.size >= sizeof(err))
		memcpy(&err, item.payload, sizeof(err));
	return (int)err;
}

static void take_stack(struct dp_shown *v, const struct dp_trace_program *p,
		       const struct dp_record_copy *r, u32 *at)
{
	struct dp_item item;

	if (!p->stack || !dp_item_next(r, at, &item) ||
	    item.token != DP_ITEM_ELEMENTS || item.size < sizeof(v->stack))
		return;
	memcpy(&v->stack, item.payload, sizeof(v->stack));
	v->has_stack = true;
}

/* A call that has not returned has no value of its return. */
void dp_shown_take(struct dp_shown *v, const struct dp_trace_program *p,
		   const struct dp_record_copy *r,
		   const struct dp_leaving *leaving)
{
	u32 at = 0;

	memset(v, 0, sizeof(*v));
	take_stack(v, p, r, &at);
	take_part(v, p, r, &at, false);
	if (!leaving || leaving->how != DP_CALL_RETURNED)
		return;
	take_part(v, p, r, &at, true);
	v->err = take_errno(p, r, &at);
}

void dp_shown_print(FILE *out, const struct dp_shown *v,
		    struct dp_modules *mods, const char *between)
{
	const char *before = "";
	size_t i;

	for (i = 0; i < DP_TRACE_ITEMS; i++) {
		if (!v->as[i])
			continue;
		dp_output_print(out, "%s", before);
		dp_output_write(out, v->as[i]->name, strlen(v->as[i]->name));
		putc_unlocked('=', out);
		dp_value_show(out, v->as[i], &v->is[i], mods, false);
		before = between;
	}
	if (v->cut)
		dp_output_print(out, "%s<cut>", before);
}

/* A name that occurs twice, with two types, becomes "arg0" and "arg0_2". */
static void json_name(FILE *out, const struct dp_shown *v, size_t i)
{
	const char *name = v->as[i]->name;
	char again[DP_TRACE_NAME + 12];
	int nr = 1;
	size_t k;

	for (k = 0; k < i; k++)
		nr += v->as[k] && !strcmp(v->as[k]->name, name);
	if (nr > 1)
		snprintf(again, sizeof(again), "%s_%d", name, nr);
	dp_json_string(out, nr > 1 ? again : name);
	putc_unlocked(':', out);
}

void dp_shown_json(FILE *out, const struct dp_shown *v, struct dp_modules *mods)
{
	bool cut = v->cut;
	size_t i, n = 0;

	fputs(",\"args\":{", out);
	for (i = 0; i < DP_TRACE_ITEMS; i++) {
		if (!v->as[i])
			continue;
		if (n++)
			putc(',', out);
		json_name(out, v, i);
		cut |= dp_value_show(out, v->as[i], &v->is[i], mods, true);
	}
	putc('}', out);
	if (cut)
		fputs(",\"truncated\":true", out);
}

const char *const dp_leaving_names[] = {
	[DP_CALL_RETURNED] = "return",
	[DP_CALL_TAIL_CALLED] = "tail",
	[DP_CALL_ABANDONED] = "abandoned",
	[DP_CALL_UNWOUND] = "unwound",
};

bool dp_leaving_take(struct dp_record_copy *r, struct dp_leaving *leaving)
{
	if (r->head.len < sizeof(*leaving))
		return false;
	memcpy(leaving, r->data, sizeof(*leaving));
	r->head.len -= sizeof(*leaving);
	memmove(r->data, r->data + sizeof(*leaving), r->head.len);
	return leaving->how <= DP_CALL_TAIL_CALLED &&
	       dp_leaving_names[leaving->how];
}
