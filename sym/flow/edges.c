// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* edges: how control gets from one fragment of code into another. */
#include <stdlib.h>
#include "sym/flow/map.h"
#include "sym/list.h"

int dp_edges_add(struct dp_flow_edges *edges, u64 at, u64 other)
{
	return dp_list_push(edges, (&(struct dp_flow_edge){ at, other }));
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

void dp_edges_sort(struct dp_flow_edges *edges)
{
	if (edges->n)
		qsort(edges->v, edges->n, sizeof(*edges->v), dp_list_order);
}

size_t dp_edges_find(const struct dp_flow_edges *edges, u64 at)
{
	return at ? dp_list_upto(edges->v, edges->n, sizeof(*edges->v), 0,
				 at - 1) :
		    0;
}
