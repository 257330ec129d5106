// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calltree: calls of a thread, and which of them has made which.
 *
 * What a thread did is done again, entry by entry, and end by end. A thread may have several stacks: coroutines'
 * (swapcontext, fibers), and one for signal handlers. On each, calls that are inside are below one another:
 *
 *	    its own stack        a coroutine's           live: what is inside, by slot
 *	    f ─┐                 g ─┐ base               base: the first call that is known on its stack
 *	       h ─┐ top             m ─┐ top             top: the innermost one there
 *	          ▼                    ▼
 *
 * - The caller of a call is the nearest live one above, if that is near, and ends later. So m is g's, whatever has
 *   resumed g.
 * - Else it begins a stack. Then its caller is what ran last, if that ends later: a handler's is what was
 *   interrupted, and a coroutine's what has resumed it. If that ends earlier, it has none. What ran last may be
 *   suspended by now: where the thread is back on a stack from which it had come, it is.
 * - A call that was left (longjmp, an exception) is known to have ended some time later only. It has ended when its
 *   caller has, or when another call is at its place.
 */
#include "tracer/calltree.h"
#include "engine/layout/instance.h"
#include "sym/list.h"
#include <errno.h>
#include <stdlib.h>

#define LEVELS 6 /* of 64 bits each: 2^36 calls */

/* Which ranks are live: a bit each, and one for each word of bits below that has any */
struct set {
	u64 *level[LEVELS];
};

/** struct making - the calls by their ends, and by their slots; @live, @known: by rank; @ran: what the thread was in last;
 *  @now: ticks, at which it is looked at */
struct making {
	struct dp_call **ends, **slots;
	size_t n;
	struct set live, known;
	struct dp_call *ran;
	u64 now;
};

/* Sets */

static int make_set(struct set *s, size_t n)
{
	int i;

	for (i = 0; i < LEVELS; i++) {
		n = n / 64 + 1;
		s->level[i] = calloc(n, sizeof(u64));
		if (!s->level[i])
			return -ENOMEM;
	}
	return 0;
}

static void free_set(struct set *s)
{
	int i;

	for (i = 0; i < LEVELS; i++)
		free(s->level[i]);
}

static void add_to(struct set *s, u64 k)
{
	int i;

	for (i = 0; i < LEVELS; i++, k /= 64)
		s->level[i][k / 64] |= 1ull << (k % 64);
}

static void take_from(struct set *s, u64 k)
{
	int i;

	for (i = 0; i < LEVELS; i++, k /= 64) {
		s->level[i][k / 64] &= ~(1ull << (k % 64));
		if (s->level[i][k / 64])
			return;
	}
}

/* The least element that is not less than @k, of which there are @n; @n: there is none */
static u64 next_in(const struct set *s, u64 k, u64 n)
{
	u64 word;
	int i;

	for (i = 0; i < LEVELS; i++) {
		word = s->level[i][k / 64] >> (k % 64);
		if (!word) {
			k = k / 64 + 1;
			continue;
		}
		k += (u64)__builtin_ctzll(word);
		while (i--)
			k = k * 64 + (u64)__builtin_ctzll(s->level[i][k]);
		return k;
	}
	return n;
}

/* What runs */

static bool was_left(const struct dp_call *c)
{
	return c->how == DP_CALL_ABANDONED || c->how == DP_CALL_UNWOUND;
}

/* Can what is at @low, and below @high, be on the same stack? */
static bool may_be_below(const struct dp_call *high, const struct dp_call *low)
{
	return low->slot < high->slot &&
	       high->slot - low->slot < DP_CALLTREE_STACK;
}

/* Has @c taken the place of what was left? */
static bool is_at_place(const struct dp_call *c, const struct dp_call *left)
{
	return c->slot == left->slot || may_be_below(c, left);
}

/* When a call that was left has ended is known better now. */
static void ends(struct making *m, struct dp_call *c)
{
	if (was_left(c) && c->left > m->now)
		c->left = m->now;
	c->live = false;
	take_from(&m->live, c->rank);
}

/* What is farther down on its stack has been left, if it is there. */
static void end_with_inner(struct making *m, struct dp_call *c)
{
	struct dp_call *base = c->base, *inner;

	while (base->top != c) {
		inner = base->top;
		base->top = inner->caller;
		ends(m, inner);
	}
	base->top = c == base ? NULL : c->caller;
	ends(m, c);
}

/* Calls that were left have ended with the caller of the first one there, unless that is on another stack for certain. */
static bool is_over(struct making *m, const struct dp_call *c)
{
	struct dp_call *base = c->base;
	const struct dp_call *by = base->caller;
	u64 now;

	if (!c->live)
		return true;
	if (!was_left(base) || !by || by->live || !may_be_below(by, base))
		return false;
	now = m->now;
	m->now = by->left;
	while (base->top && was_left(base->top))
		end_with_inner(m, base->top);
	m->now = now;
	return !c->live;
}

/* What ran when @c was entered, or what ran before that if it has ended; NULL: not known */
static struct dp_call *running(struct making *m, struct dp_call *c)
{
	struct dp_call *next;

	while (c && is_over(m, c)) {
		next = c->resumed;
		if (next && !next->live)
			c->resumed = next->resumed;
		c = next;
	}
	return c;
}

/* Where one function returns in the place of another one, calls end together, in no order. */
static bool lasts_longer(const struct dp_call *outer, const struct dp_call *c)
{
	return was_left(c) || outer->left >= c->left || outer->slot == c->slot;
}

/* The first live call from a rank on, or NULL */
static struct dp_call *find_live(struct making *m, u64 from)
{
	struct dp_call *c;
	u64 k;

	do {
		k = next_in(&m->live, from, m->n);
		if (k == m->n)
			return NULL;
		c = m->slots[k];
	} while (is_over(m, c));
	return c;
}

/* The nearest live call above, or the last one at its place, which has jumped to it; NULL: there is none */
static struct dp_call *find_above(struct making *m, const struct dp_call *c)
{
	struct dp_call *above = find_live(m, c->place);

	if (above && above->slot == c->slot && was_left(above))
		above = find_live(m, c->above);
	return above && above->slot - c->slot < DP_CALLTREE_FRAME ? above :
								    NULL;
}

/* Is the innermost call that is live on the stack of @above @above itself? What is at the place of @c was left, or
 * @c is not on this stack. */
static bool is_top(struct making *m, struct dp_call *above,
		   const struct dp_call *c)
{
	struct dp_call *top;

	for (top = above->base->top; top != above; top = above->base->top) {
		if (!was_left(top))
			return false;
		end_with_inner(m, top);
	}
	return true;
}

/* The first rank whose slot is @slot, or above */
static u64 rank_of(const struct making *m, u64 slot)
{
	size_t low = 0, high = m->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (m->slots[middle]->slot < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The earliest call that has begun a stack at about the same place; or @c, which is the earliest from now on */
static struct dp_call *find_kin(struct making *m, struct dp_call *c)
{
	u64 from = c->slot < DP_CALLTREE_FRAME ? 0 :
						 c->slot - DP_CALLTREE_FRAME,
	    k = next_in(&m->known, rank_of(m, from), m->n);

	if (k < m->n && m->slots[k]->slot < c->slot + DP_CALLTREE_FRAME)
		return m->slots[k];
	add_to(&m->known, c->rank);
	return c;
}

/* Is @c where the thread was before it came to the stack of @by, which is suspended? Not a handler's: a thread's
 * own stack is above the others. */
static bool is_back(const struct dp_call *c, const struct dp_call *by)
{
	const struct dp_call *here = c->kin, *there = by->base->kin;

	return here->entered < there->entered && here->slot > there->slot;
}

static bool may_make(const struct dp_call *by, const struct dp_call *c)
{
	if (was_left(by) && is_at_place(c, by))
		return false;
	return !is_back(c, by);
}

static void begin_stack(struct making *m, struct dp_call *c)
{
	struct dp_call *by = running(m, m->ran);

	c->kin = find_kin(m, c);
	while (by && !may_make(by, c))
		by = running(m, by->resumed);
	c->base = c;
	c->resumed = by;
	c->caller = by;
	c->own = by && !lasts_longer(by, c);
	if (c->own)
		c->caller = NULL;
}

/* The thread is on the stack of @base. If that has been there for longer than the one that it was on, it is back;
 * else it has resumed it. */
static void comes_to(struct making *m, struct dp_call *base)
{
	if (m->ran && m->ran->base->kin->entered < base->kin->entered)
		base->by = m->ran;
}

/* What had resumed a stack has been left when something there makes a call, or returns. */
static void outlives(struct dp_call *base)
{
	if (!base->caller || base->caller->live)
		return;
	base->caller = NULL;
	base->own = true;
}

static void enters(struct making *m, struct dp_call *c)
{
	struct dp_call *above;

	m->now = c->entered;
	above = find_above(m, c);
	if (above && lasts_longer(above, c) && is_top(m, above, c)) {
		c->base = above->base;
		c->resumed = c->caller = above;
		outlives(c->base);
		comes_to(m, c->base);
	} else {
		begin_stack(m, c);
	}
	c->base->top = c;
	c->live = true;
	add_to(&m->live, c->rank);
	m->ran = c;
}

static void leaves(struct making *m, struct dp_call *c)
{
	struct dp_call *by;

	if (!c->live)
		return;
	m->now = c->left;
	if (was_left(c)) {
		end_with_inner(m, c);
		return;
	}
	outlives(c->base);
	comes_to(m, c->base);
	end_with_inner(m, c);
	by = c == c->base ? c->by : NULL;
	m->ran = by && by->live ? by : c->resumed;
}

/* Making */

static int in_order(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

static int by_entry(const void *a, const void *b)
{
	const struct dp_call *x = *(struct dp_call *const *)a,
			     *y = *(struct dp_call *const *)b;

	return in_order(x->entered, y->entered) ?: in_order(y->left, x->left);
}

static int by_end(const void *a, const void *b)
{
	const struct dp_call *x = *(struct dp_call *const *)a,
			     *y = *(struct dp_call *const *)b;

	return in_order(x->left, y->left);
}

/* At one place, the last ones first */
static int by_slot(const void *a, const void *b)
{
	const struct dp_call *x = *(struct dp_call *const *)a,
			     *y = *(struct dp_call *const *)b;

	return in_order(x->slot, y->slot) ?: in_order(y->entered, x->entered);
}

static struct dp_call **sorted(const struct dp_calltree *t,
			       int (*order)(const void *a, const void *b))
{
	struct dp_call **v = malloc((t->n + 1) * sizeof(*v));
	size_t i;

	for (i = 0; v && i < t->n; i++)
		v[i] = t->v[i];
	if (v)
		qsort(v, t->n, sizeof(*v), order);
	return v;
}

static void rank(struct making *m)
{
	size_t i, last, place = 0;

	for (; place < m->n; place = last) {
		for (last = place; last < m->n && m->slots[last]->slot ==
							  m->slots[place]->slot;
		     last++)
			;
		for (i = place; i < last; i++) {
			m->slots[i]->rank = (u32)i;
			m->slots[i]->place = (u32)place;
			m->slots[i]->above = (u32)last;
		}
	}
}

static void run_again(struct making *m, const struct dp_calltree *t)
{
	struct dp_call *c;
	size_t i, k = 0;

	for (i = 0; i < t->n; i++) {
		c = t->v[i];
		for (; m->ends[k]->left <= c->entered && m->ends[k]->base; k++)
			leaves(m, m->ends[k]);
		enters(m, c);
	}
	for (; k < t->n; k++)
		leaves(m, m->ends[k]);
}

static void forget(struct dp_call *c)
{
	c->caller = c->first = c->last = c->next = NULL;
	c->resumed = c->base = c->top = c->by = c->kin = NULL;
	c->own = c->live = false;
}

/* A call that lasts while the next one of its caller's begins is suspended. */
static void tell_suspended(struct dp_call *caller, struct dp_call *next)
{
	struct dp_call *before = caller->top;

	if (before && before->left > next->entered && !was_left(before))
		before->own = true;
	caller->top = next;
}

/* In the order of entries, so each behind its caller */
static long link_calls(struct dp_calltree *t)
{
	u32 trees = 0;
	size_t i;

	for (i = 0; i < t->n; i++)
		t->v[i]->top = NULL;
	for (i = 0; i < t->n; i++) {
		struct dp_call *c = t->v[i], *caller = c->caller ?: &t->top;

		if (!c->own)
			tell_suspended(caller, c);
		c->caller = caller;
		c->tree = caller == &t->top ? trees++ : caller->tree;
		*(caller->last ? &caller->last->next : &caller->first) = c;
		caller->last = c;
	}
	return trees;
}

static void give_tracks(struct dp_calltree *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		struct dp_call *c = t->v[i];

		c->track = c->own ? ++t->tracks : c->caller->track;
	}
}

long dp_calltree_make(struct dp_calltree *t)
{
	struct making m = { .n = t->n };
	size_t i;
	long trees = -ENOMEM;

	t->top = (struct dp_call){ 0 };
	if (!t->n)
		return 0;
	for (i = 0; i < t->n; i++)
		forget(t->v[i]);
	qsort(t->v, t->n, sizeof(*t->v), by_entry);
	m.ends = sorted(t, by_end);
	m.slots = sorted(t, by_slot);
	if (m.ends && m.slots && !make_set(&m.live, t->n) &&
	    !make_set(&m.known, t->n)) {
		rank(&m);
		run_again(&m, t);
		trees = link_calls(t);
		give_tracks(t);
	}
	free_set(&m.live);
	free_set(&m.known);
	free(m.ends);
	free(m.slots);
	return trees;
}

int dp_calltree_add(struct dp_calltree *t, struct dp_call *c)
{
	if (c->left < c->entered)
		c->left = c->entered;
	return dp_list_push(t, &c);
}

size_t dp_calltree_drop(struct dp_calltree *t, size_t trees)
{
	size_t i, n = 0;

	for (i = 0; i < t->n; i++) {
		if (t->v[i]->tree >= trees) {
			t->v[n++] = t->v[i];
			continue;
		}
		free(t->v[i]->text);
		free(t->v[i]);
	}
	i = t->n - n;
	t->n = n;
	return i;
}
