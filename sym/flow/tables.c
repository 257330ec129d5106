// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tables: jump tables of offsets.
 *
 * Position-independent code switches by
 *
 *   lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax
 *
 * with entries relative to the table. An address that code takes is a table if its first
 * entry leads into code. A table has no length: it ends with the first entry that leads
 * out of code, or where the next table begins. Entries that are never used may lead just
 * behind a function, so no more is asked of an entry.
 *
 * Entries of hand-made tables (printf's, say) are relative to a label of the function.
 * Such tables are looked for in functions that compute a jump and take an address of
 * their own inside.
 */
#include <stdlib.h>
#include "sym/flow/map.h"

#define PAIR_MAX 65536 /* entries of one table */

static int by_address(const void *pa, const void *pb)
{
	const struct dp_ref *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->fragment < b->fragment ? -1 : a->fragment > b->fragment;
}

static void pair_table(struct dp_survey *s, struct dp_fragment *fragment,
		       u64 base, u64 table)
{
	struct dp_text *t = dp_text_find(s->map, base);
	u64 i, to;
	s32 entry;

	for (i = 0; i < PAIR_MAX; i++, s->budget--) {
		if (!s->budget) {
			fragment->flags |= DP_FRAGMENT_LOST;
			return;
		}
		if (!dp_window_read(&s->window, table + 4 * i, &entry,
				    sizeof(entry)))
			return;
		to = base + entry;
		if (to - fragment->start >= fragment->len)
			return;
		if (!dp_text_is_insn(t, to))
			continue;
		dp_text_mark_jump(s->map, to);
		if (!i)
			fragment->flags |= DP_FRAGMENT_PAIR;
	}
}

void dp_tables_pair(struct dp_survey *s, struct dp_fragment *fragment, u64 base,
		    size_t ref)
{
	for (; ref < s->n_ref && s->budget; ref++)
		pair_table(s, fragment, base, s->ref[ref].addr);
}

/* Where an entry leads; false if that is neither code nor its very end. */
static bool leads(struct dp_survey *s, u64 table, u64 i, u64 *to)
{
	s32 entry;

	if (!dp_window_read(&s->window, table + 4 * i, &entry, sizeof(entry)))
		return false;
	*to = table + entry;
	return dp_text_find(s->map, *to) || dp_text_find(s->map, *to - 1);
}

/* Keep the refs to tables, sorted, and drop the others. */
static void keep_tables(struct dp_survey *s)
{
	bool is_table = false;
	u64 last = 0, to;
	size_t i, n = 0;

	if (s->n_ref)
		qsort(s->ref, s->n_ref, sizeof(*s->ref), by_address);
	for (i = 0; i < s->n_ref; i++) {
		if (!i || s->ref[i].addr != last)
			is_table = leads(s, s->ref[i].addr, 0, &to);
		last = s->ref[i].addr;
		if (is_table)
			s->ref[n++] = s->ref[i];
	}
	s->n_ref = n;
}

static void claim(struct dp_survey *s, u64 table, u64 to)
{
	struct dp_fragment *p = dp_fragments_find(s->map, to);
	struct dp_ref key = { .addr = table };

	if (!p || (p->flags & DP_FRAGMENT_TABLE) ||
	    !(p->flags & (DP_FRAGMENT_COMPUTED | DP_FRAGMENT_UNKNOWN)))
		return;
	key.fragment = p - s->map->fragment;
	if (bsearch(&key, s->ref, s->n_ref, sizeof(key), by_address))
		p->flags |= DP_FRAGMENT_TABLE;
}

/* Note @to as a target of the functions that refer to the table: refs [@from, @until). */
static int hide(struct dp_survey *s, size_t from, size_t until, u64 to)
{
	const struct dp_fragment *p;
	int err = 0;

	for (; from < until && !err; from++) {
		p = &s->map->fragment[s->ref[from].fragment];
		if (p->flags & (DP_FRAGMENT_COMPUTED | DP_FRAGMENT_UNKNOWN))
			err = dp_edges_hide(s->map, p, to);
	}
	return err;
}

static int read_table(struct dp_survey *s, size_t ref, size_t next)
{
	u64 limit = next < s->n_ref ? s->ref[next].addr : ~0ull;
	u64 table = s->ref[ref].addr, i, to;
	int err = 0;

	for (i = 0; table + 4 * i < limit && !err; i++) {
		if (!leads(s, table, i, &to))
			break;
		dp_text_mark_jump(s->map, to);
		claim(s, table, to);
		err = hide(s, ref, next, to);
	}
	return err;
}

/*
 * Are the indirect jumps of a function with these flags resolved? A computed jump needs a
 * table. If its register was set out of sight, a table tells of a switch, whose targets
 * are known. An address of the function's inside tells of a computed jump. With neither,
 * it is a tail call.
 */
static bool is_resolved(u8 flags)
{
	if (flags & DP_FRAGMENT_INSIDE)
		return flags & DP_FRAGMENT_PAIR ||
		       !(flags & (DP_FRAGMENT_COMPUTED | DP_FRAGMENT_UNKNOWN));
	if (flags & DP_FRAGMENT_COMPUTED)
		return flags & DP_FRAGMENT_TABLE;
	return true;
}

/* Fragments that jump into each other's middle are parts of one function. */
static void spread(struct dp_survey *s)
{
	struct dp_fragment *v = s->map->fragment, *from, *to;
	bool again = true;
	size_t i;

	while (again) {
		again = false;
		for (i = 0; i < s->n_edge; i++) {
			from = &v[s->edge[i].from];
			to = &v[s->edge[i].to];
			if (!((from->flags ^ to->flags) & DP_FRAGMENT_JUMP))
				continue;
			from->flags |= DP_FRAGMENT_JUMP;
			to->flags |= DP_FRAGMENT_JUMP;
			again = true;
		}
	}
}

int dp_tables_read(struct dp_survey *s)
{
	size_t i, next;
	int err = 0;

	keep_tables(s);
	for (i = 0; i < s->n_ref && !err; i = next) {
		for (next = i + 1; next < s->n_ref; next++) {
			if (s->ref[next].addr != s->ref[i].addr)
				break;
		}
		err = read_table(s, i, next);
	}
	for (i = 0; i < s->map->n_fragment; i++) {
		if (!is_resolved(s->map->fragment[i].flags))
			s->map->fragment[i].flags |= DP_FRAGMENT_JUMP;
	}
	spread(s);
	return err;
}
