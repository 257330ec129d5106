// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * taken: numbers that stand for what a program has taken.
 *
 * An entry is at the place of its number, or at the first free one behind that. So one that goes
 * leaves no gap: those behind it, which would not be found any more, move up.
 */
#include "tracer/taken.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define LEAST 256

static size_t home(const struct dp_taken *t, u64 key)
{
	u64 h = (key ^ t->salt) * 0x9e3779b97f4a7c15ull;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ull;
	return (h ^ h >> 32) & (t->size - 1);
}

/* The place of a number, or the free one where it belongs */
static struct dp_taken_entry *place(const struct dp_taken *t, u64 key)
{
	size_t at = home(t, key);

	while (t->v[at].count && t->v[at].key != key)
		at = (at + 1) & (t->size - 1);
	return &t->v[at];
}

struct dp_taken_entry *dp_taken_find(const struct dp_taken *t, u64 key)
{
	struct dp_taken_entry *e = t->size ? place(t, key) : NULL;

	return e && e->count ? e : NULL;
}

static bool grow(struct dp_taken *t)
{
	struct dp_taken more = { .size = t->size ? 2 * t->size : LEAST,
				 .n = t->n,
				 .salt = t->salt };
	size_t i;

	/* Without random numbers it works, too. */
	if (!t->size && getrandom(&more.salt, sizeof(more.salt), 0) < 0)
		more.salt = (u64)t;
	more.v = calloc(more.size, sizeof(*more.v));
	if (!more.v)
		return false;
	for (i = 0; i < t->size; i++)
		if (t->v[i].count)
			*place(&more, t->v[i].key) = t->v[i];
	free(t->v);
	*t = more;
	return true;
}

struct dp_taken_entry *dp_taken_add(struct dp_taken *t, u64 key, size_t most)
{
	struct dp_taken_entry *e = dp_taken_find(t, key);

	if (e)
		return e;
	if (t->n >= most || (4 * (t->n + 1) > 3 * t->size && !grow(t)))
		return NULL;
	t->n++;
	e = place(t, key);
	*e = (struct dp_taken_entry){ .key = key };
	return e;
}

void dp_taken_drop(struct dp_taken *t, struct dp_taken_entry *entry)
{
	size_t gap = (size_t)(entry - t->v), at, mask = t->size - 1;

	for (at = (gap + 1) & mask; t->v[at].count; at = (at + 1) & mask) {
		/* Would it be found at the gap? */
		if (((at - home(t, t->v[at].key)) & mask) < ((at - gap) & mask))
			continue;
		t->v[gap] = t->v[at];
		gap = at;
	}
	memset(&t->v[gap], 0, sizeof(t->v[gap]));
	t->n--;
}

void dp_taken_free(struct dp_taken *t)
{
	free(t->v);
	*t = (struct dp_taken){ 0 };
}
