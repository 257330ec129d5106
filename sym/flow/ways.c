// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ways: how control gets from one piece of code into another. */
#include <stdlib.h>
#include "sym/flow/map.h"
#include "sym/list.h"

int dp_ways_add(struct dp_ways *ways, u64 from, u64 to)
{
	return dp_list_add(&ways->v, &ways->n, &ways->room,
			   &(struct dp_way){ from, to }, sizeof(*ways->v));
}

/* What looks like a table may lead anywhere: only a piece that is known by
 * nothing else can be meant. */
int dp_ways_hide(struct dp_code_map *map, const struct dp_piece *from, u64 to)
{
	const struct dp_piece *p = dp_pieces_find(map, to);

	if (!p || p == from || dp_text_is_named(map, p->start))
		return 0;
	return dp_ways_add(&map->hidden, from->start, to);
}

static int by_to(const void *pa, const void *pb)
{
	const struct dp_way *a = pa, *b = pb;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static int by_from(const void *pa, const void *pb)
{
	const struct dp_way *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

void dp_ways_sort(struct dp_code_map *map)
{
	if (map->jump.n)
		qsort(map->jump.v, map->jump.n, sizeof(*map->jump.v), by_to);
	if (map->hidden.n)
		qsort(map->hidden.v, map->hidden.n, sizeof(*map->hidden.v),
		      by_from);
}

/* The first that has @addr or more, @at bytes from its beginning. */
static size_t first(const struct dp_ways *ways, size_t at, u64 addr)
{
	return addr ? dp_list_upto(ways->v, ways->n, sizeof(*ways->v), at,
				   addr - 1) :
		      0;
}

size_t dp_ways_to(const struct dp_ways *ways, u64 addr)
{
	return first(ways, offsetof(struct dp_way, to), addr);
}

size_t dp_ways_from(const struct dp_ways *ways, u64 addr)
{
	return first(ways, offsetof(struct dp_way, from), addr);
}
