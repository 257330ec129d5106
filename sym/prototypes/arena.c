// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arena: memory for tables, freed at once, and names that lead into it. */
#include <stdlib.h>
#include <string.h>
#include "sym/prototypes/parse.h"

#define CHUNK (64u << 10)

struct dp_proto_chunk {
	struct dp_proto_chunk *next;
	_Alignas(16) char bytes[];
};

/* What does not fit into a chunk gets one of its own. */
static bool grow(struct dp_proto_arena *a, size_t n)
{
	size_t size = n > CHUNK ? n : CHUNK;
	struct dp_proto_chunk *c;

	if (size > DP_PROTO_MEMORY - a->used)
		return false;
	c = calloc(1, sizeof(*c) + size);
	if (!c)
		return false;
	c->next = a->chunk;
	a->chunk = c;
	a->used += size;
	a->at = size;
	return true;
}

/* From the end of a chunk to its beginning. */
void *dp_proto_alloc(struct dp_proto_arena *a, size_t n)
{
	if (n > DP_PROTO_MEMORY)
		return NULL;
	n = (n + 15) & ~(size_t)15;
	if (n > a->at && !grow(a, n))
		return NULL;
	a->at -= n;
	return a->chunk->bytes + a->at;
}

void *dp_proto_copy(struct dp_proto_arena *a, const void *from, size_t n)
{
	void *to = dp_proto_alloc(a, n + 1);

	if (to && n)
		memcpy(to, from, n);
	return to;
}

void dp_proto_free(struct dp_proto_arena *a)
{
	struct dp_proto_chunk *next;

	for (; a->chunk; a->chunk = next) {
		next = a->chunk->next;
		free(a->chunk);
	}
	a->at = a->used = 0;
}

/* FNV-1a */
static size_t bucket(const struct dp_proto_names *t, const char *name,
		     size_t len)
{
	u32 hash = 2166136261u;

	while (len--)
		hash = (hash ^ (u8)*name++) * 16777619u;
	return hash % (sizeof(t->bucket) / sizeof(*t->bucket));
}

void *dp_proto_names_get(const struct dp_proto_names *t, const char *name,
			 size_t len)
{
	const struct dp_proto_named *e = t->bucket[bucket(t, name, len)];

	for (; e; e = e->next)
		if (!strncmp(e->name, name, len) && !e->name[len])
			return e->thing;
	return NULL;
}

int dp_proto_names_put(struct dp_proto_names *t, struct dp_proto_arena *a,
		       const char *name, void *thing)
{
	struct dp_proto_named **b = &t->bucket[bucket(t, name, strlen(name))];
	struct dp_proto_named *e = dp_proto_alloc(a, sizeof(*e));

	if (!e || t->n == DP_PROTO_NAMES)
		return -ENOMEM;
	*e = (struct dp_proto_named){ *b, name, thing };
	*b = e;
	t->n++;
	return 0;
}

void dp_proto_names_each(const struct dp_proto_names *t,
			 void (*see)(void *arg, const void *thing), void *arg)
{
	const struct dp_proto_named *e;
	size_t i;

	for (i = 0; i < sizeof(t->bucket) / sizeof(*t->bucket); i++)
		for (e = t->bucket[i]; e; e = e->next)
			see(arg, e->thing);
}
