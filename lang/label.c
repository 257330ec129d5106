// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* label: places in the code that have a name, and the jumps to them. */
#include "lang/private.h"
#include <stdlib.h>
#include <string.h>

static int add(struct dp_lang_reader *r, struct dp_lang_labels *labels,
	       const struct dp_token *name, u32 offset)
{
	void *v = dp_lang_grow(labels->v, labels->n, sizeof(*labels->v));

	if (!v)
		return dp_lang_nomem(r->diag);
	labels->v = v;
	labels->v[labels->n++] = (struct dp_lang_label){
		.s = name->s,
		.len = name->len,
		.offset = offset,
		.at = name->at,
	};
	return 0;
}

int dp_lang_label_add(struct dp_lang_reader *r, const struct dp_token *name)
{
	return add(r, &r->labels, name, r->program->code_len);
}

/* The operand follows the opcode, which is the next byte to be emitted. */
int dp_lang_label_use(struct dp_lang_reader *r, const struct dp_token *name)
{
	return add(r, &r->uses, name, r->program->code_len + 1);
}

void dp_lang_label_free(struct dp_lang_reader *r)
{
	free(r->labels.v);
	free(r->uses.v);
}

static int compare_names(const void *a, const void *b)
{
	const struct dp_lang_label *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->s, y->s, x->len);
}

/* Names point into the text, so the earlier of two has the smaller address. */
static int compare(const void *a, const void *b)
{
	const struct dp_lang_label *x = a, *y = b;
	int by_name = compare_names(a, b);

	return by_name ? by_name : (x->s > y->s) - (x->s < y->s);
}

static int check_twice(struct dp_lang_reader *r)
{
	const struct dp_lang_label *v = r->labels.v, *twice = NULL;
	size_t i, at = 0;

	for (i = 1; i < r->labels.n; i++)
		if (!compare_names(&v[i - 1], &v[i]) &&
		    (!twice || v[i].s < twice->s)) {
			twice = &v[i];
			at = i;
		}
	if (!twice)
		return 0;
	return dp_lang_bad(r, twice->at,
			   "the label %.*s is in line %u already; "
			   "rename one of them",
			   DP_TOKEN_SHOWN(twice), v[at - 1].at.line);
}

static const struct dp_lang_label *find(const struct dp_lang_reader *r,
					const struct dp_lang_label *use)
{
	if (!r->labels.n)
		return NULL;
	return bsearch(use, r->labels.v, r->labels.n, sizeof(*use),
		       compare_names);
}

static void put_jump(struct dp_lang_program *p, u32 at, u32 target)
{
	s64 distance = (s64)target - at - p->word;
	u32 i;

	for (i = 0; i < p->word; i++)
		p->code[at + i] = (u64)distance >> (8 * i);
}

int dp_lang_label_resolve(struct dp_lang_reader *r)
{
	const struct dp_lang_label *use, *label;
	size_t i;
	int err;

	if (r->labels.n)
		qsort(r->labels.v, r->labels.n, sizeof(*r->labels.v), compare);
	err = check_twice(r);
	if (err)
		return err;
	for (i = 0; i < r->uses.n; i++) {
		use = &r->uses.v[i];
		label = find(r, use);
		if (!label)
			return dp_lang_bad(r, use->at,
					   "there is no label \"%.*s\" in this "
					   "file; add \"%.*s:\"",
					   DP_TOKEN_SHOWN(use),
					   DP_TOKEN_SHOWN(use));
		put_jump(r->program, use->offset, label->offset);
	}
	return 0;
}
