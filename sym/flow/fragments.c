// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fragments: which bytes of a module belong to which function.
 *
 * Frame descriptions come first; symbols with a size fill the rest.
 */
#include <stdlib.h>
#include "sym/elf/symtab.h"
#include "sym/flow/map.h"
#include "sym/list.h"
#include "sym/sym.h"
#include "sym/unwind/fdes.h"

#define LEN_MAX 0xffffffffull

static int add(struct dp_code_map *map, u64 start, u64 end, u8 flags)
{
	struct dp_text *t = dp_text_find(map, start);
	struct dp_fragment p = { .start = start, .flags = flags };

	if (!t || start >= end)
		return 0;
	if (end > t->end)
		end = t->end;
	if (end - start > LEN_MAX)
		return 0;
	p.len = end - start;
	return dp_list_add(&map->fragment, &map->n_fragment,
			   &map->room_fragment, &p, sizeof(p));
}

/* Descriptions ascend by start; an overlap is cut off the later one. */
static int add_fdes(struct dp_survey *s)
{
	const struct dp_fde *fde;
	u64 done = 0, start;
	size_t i;
	int err;

	for (i = 0; i < s->fdes->n; i++) {
		fde = &s->fdes->v[i];
		start = fde->start + fde->signal;
		dp_text_mark_jump(s->map, start);
		if (fde->end <= done)
			continue;
		err = add(s->map, start > done ? start : done, fde->end,
			  DP_FRAGMENT_FDE);
		if (err)
			return err;
		done = fde->end;
	}
	return 0;
}

/* The first of @n sorted fragments that ends behind @addr. */
static size_t first_behind(const struct dp_fragment *v, size_t n, u64 addr)
{
	size_t i = dp_list_upto(v, n, sizeof(*v),
				offsetof(struct dp_fragment, start), addr);

	return i && dp_fragment_end(&v[i - 1]) > addr ? i - 1 : i;
}

/* Add the parts of [start, end) that the first @n fragments lack. */
static int add_rest(struct dp_code_map *map, size_t n, u64 start, u64 end)
{
	size_t i = first_behind(map->fragment, n, start);
	int err = 0;
	u64 stop;

	while (start < end && !err) {
		stop = i < n && map->fragment[i].start < end ?
			       map->fragment[i].start :
			       end;
		if (start < stop)
			err = add(map, start, stop, 0);
		if (i >= n)
			break;
		start = dp_fragment_end(&map->fragment[i++]);
	}
	return err;
}

static int by_value(const void *pa, const void *pb)
{
	const struct dp_range *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

static int add_ranges(struct dp_code_map *map, const struct dp_range *v,
		      size_t n)
{
	size_t n_fde = map->n_fragment, i;
	u64 done = 0, start;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		start = v[i].start > done ? v[i].start : done;
		if (v[i].end <= start)
			continue;
		err = add_rest(map, n_fde, start, v[i].end);
		done = v[i].end;
	}
	return err;
}

static int add_symbols(struct dp_survey *s)
{
	const struct dp_symtab *tab = s->symtab;
	struct dp_range *v = malloc((tab->n + 1) * sizeof(*v));
	size_t i, n = 0;
	u64 start, end;
	int err;

	if (!v)
		return -ENOMEM;
	for (i = 0; i < tab->n; i++) {
		start = tab->v[i].value;
		end = start + tab->v[i].size;
		if (dp_symbol_is_fragment(tab->v[i].name))
			dp_text_mark_jump(s->map, start);
		else
			dp_text_mark(s->map, start);
		if (end > start)
			v[n++] = (struct dp_range){ start, end };
	}
	if (n)
		qsort(v, n, sizeof(*v), by_value);
	err = add_ranges(s->map, v, n);
	free(v);
	return err;
}

/*
 * A compiler that describes frames describes all of them. Where most of a module is
 * described, code without a description has another origin. It may have ways in that no
 * table here shows: the handlers of a JavaScript engine's builtins are at offsets which
 * only the engine's own data lists.
 */
static void find_foreign(struct dp_code_map *map)
{
	u64 described = 0, all = 0;
	size_t i;

	for (i = 0; i < map->n_fragment; i++) {
		all += map->fragment[i].len;
		if (map->fragment[i].flags & DP_FRAGMENT_FDE)
			described += map->fragment[i].len;
	}
	for (i = 0; described > all / 2 && i < map->n_fragment; i++) {
		if (!(map->fragment[i].flags & DP_FRAGMENT_FDE))
			map->fragment[i].flags |= DP_FRAGMENT_LOST;
	}
}

int dp_fragments_load(struct dp_survey *s)
{
	struct dp_code_map *map = s->map;
	int err = add_fdes(s) ?: add_symbols(s);
	size_t i;

	if (err)
		return err;
	if (map->n_fragment)
		qsort(map->fragment, map->n_fragment, sizeof(*map->fragment),
		      dp_list_order);
	for (i = 0; i < map->n_fragment; i++)
		dp_text_mark_jump(map, map->fragment[i].start);
	find_foreign(map);
	return 0;
}

struct dp_fragment *dp_fragments_find(const struct dp_code_map *map, u64 addr)
{
	size_t i = first_behind(map->fragment, map->n_fragment, addr);

	if (i == map->n_fragment || addr < map->fragment[i].start)
		return NULL;
	return &map->fragment[i];
}
