// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* label: names for places in the code; known in the whole file. */
#include "lang/private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The label of that name, made if there is none. -1 without memory. */
static long find(struct dp_assembler *a, const struct dp_token *t)
{
	const char *name = a->line + t->start;
	struct dp_label *l;
	size_t i;

	for (i = 0; i < a->nr_labels; i++)
		if (strlen(a->labels[i].name) == t->len &&
		    !memcmp(a->labels[i].name, name, t->len))
			return (long)i;
	if (!dp_lang_grow(a, &a->labels, a->nr_labels, &a->labels_cap,
			  sizeof(*a->labels)))
		return -1;
	l = &a->labels[a->nr_labels];
	*l = (struct dp_label){ .name = strndup(name, t->len),
				.used = dp_lex_place(a, t) };
	if (!l->name) {
		dp_lang_fail(a, l->used, -ENOMEM, "out of memory");
		return -1;
	}
	return (long)a->nr_labels++;
}

void dp_label_define(struct dp_assembler *a, const struct dp_token *t)
{
	long i = find(a, t);

	if (i < 0)
		return;
	if (a->labels[i].known)
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "label \"%s\" is defined twice",
			     a->labels[i].name);
	a->labels[i].known = true;
	a->labels[i].offset = a->program->code_len;
	/* Somebody may jump here, behind an instruction that ends. */
	a->ended = false;
}

void dp_label_use(struct dp_assembler *a, const struct dp_token *t, u32 at)
{
	long i = find(a, t);

	if (i < 0 || !dp_lang_grow(a, &a->jumps, a->nr_jumps, &a->jumps_cap,
				   sizeof(*a->jumps)))
		return;
	a->jumps[a->nr_jumps++] = (struct dp_jump){ at, (size_t)i };
}

void dp_label_resolve(struct dp_assembler *a)
{
	u8 word = a->program->word;
	size_t i, k;

	for (i = 0; i < a->nr_jumps && !a->err; i++) {
		const struct dp_jump *j = &a->jumps[i];
		const struct dp_label *l = &a->labels[j->label];
		u64 distance = (u64)l->offset - (j->at + word);

		if (!l->known) {
			dp_lang_fail(a, l->used, -EINVAL,
				     "there is no label \"%s\" in this file",
				     l->name);
			return;
		}
		for (k = 0; k < word; k++)
			a->program->code[j->at + k] = (u8)(distance >> (8 * k));
	}
}
