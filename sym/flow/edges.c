// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* edges: how control gets from one fragment of code into another. */
#include <stdlib.h>
#include "sym/flow/map.h"
#include "sym/list.h"

int dp_edges_add(struct dp_flow_edges *edges, u64 from, u64 to)
{
	return dp_list_add(&edges->v, &edges->n, &edges->room,
			   &(struct dp_flow_edge){ from, to },
			   sizeof(*edges->v));
}

/* A false table may seem to lead anywhere: only a fragment that is known by nothing else
 * is believed. */
int dp_edges_hide(struct dp_code_map *map, const struct dp_fragment *from,
		  u64 to)
{
	const struct dp_fragment *p = dp_fragments_find(map, to);

	if (!p || p == from || dp_text_is_named(map, p->start))
		return 0;
	return dp_edges_add(&map->hidden, from->start, to);
}

static int by_to(const void *pa, const void *pb)
{
	const struct dp_flow_edge *a = pa, *b = pb;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static int by_from(const void *pa, const void *pb)
{
	const struct dp_flow_edge *a = pa, *b = pb;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

void dp_edges_sort(struct dp_code_map *map)
{
	if (map->jump.n)
		qsort(map->jump.v, map->jump.n, sizeof(*map->jump.v), by_to);
	if (map->hidden.n)
		qsort(map->hidden.v, map->hidden.n, sizeof(*map->hidden.v),
		      by_from);
}

/* The first edge whose number, @at bytes from its beginning, is at least @addr. */
static size_t first(const struct dp_flow_edges *edges, size_t at, u64 addr)
{
	return addr ? dp_list_upto(edges->v, edges->n, sizeof(*edges->v), at,
				   addr - 1) :
		      0;
}

size_t dp_edges_to(const struct dp_flow_edges *edges, u64 addr)
{
	return first(edges, offsetof(struct dp_flow_edge, to), addr);
}

size_t dp_edges_from(const struct dp_flow_edges *edges, u64 addr)
{
	return first(edges, offsetof(struct dp_flow_edge, from), addr);
}
