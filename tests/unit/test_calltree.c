// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_calltree: calls that return, and calls that are left, in the order in which their records come, against
 * the calls as they were made; and numbers of no program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "engine/layout/instance.h"
#include "tracer/calltree.h"

#define DEPTH 12
#define CALLS 3000
#define TOP 0x7000000ull
#define FORGED 20000

/** struct made - a call as it was made: @by: its caller, or NULL */
struct made {
	struct dp_call *call, *by;
};

/** struct program - @active: what is inside, @depth of them, NULL: not followed; @late: what has been left at each depth */
struct program {
	u64 seed, now;
	struct dp_call *active[DEPTH], *late[DEPTH];
	int depth;
	struct made made[CALLS];
	size_t n;
	struct dp_calltree tree;
};

static u64 randomly(u64 *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static void ends(struct program *p, struct dp_call *c, u32 how)
{
	c->how = how;
	c->left = p->now++;
	dp_calltree_place(&p->tree, c);
}

/* The innermost call that is followed, or NULL */
static struct dp_call *innermost(const struct program *p)
{
	int i = p->depth;

	while (i > 0 && !p->active[i - 1])
		i--;
	return i ? p->active[i - 1] : NULL;
}

/* What was left at its place is known now, the outer ones first. Some calls are not followed. */
static void enter(struct program *p)
{
	struct dp_call *late = p->late[p->depth], *c = NULL;
	bool follows = randomly(&p->seed) % 4, before = randomly(&p->seed) % 2;

	p->late[p->depth] = NULL;
	if (late && before)
		ends(p, late, DP_CALL_ABANDONED);
	if (follows) {
		c = calloc(1, sizeof(*c));
		assert_non_null(c);
		c->entered = p->now++;
		c->slot = TOP - 64 * (u64)p->depth;
		p->made[p->n++] = (struct made){ c, innermost(p) };
	}
	if (late && !before)
		ends(p, late, DP_CALL_ABANDONED);
	p->active[p->depth++] = c;
}

static void leave(struct program *p)
{
	struct dp_call *c = p->active[--p->depth];

	if (c)
		ends(p, c, DP_CALL_RETURNED);
}

static void step(struct program *p)
{
	u64 what = randomly(&p->seed) % 100;
	int to;

	if (what < 50 && p->depth < DEPTH) {
		enter(p);
	} else if (what < 97 && p->depth) {
		leave(p);
	} else if (p->depth > 1) {
		to = (int)(randomly(&p->seed) % (u64)p->depth);
		while (p->depth > to) {
			p->depth--;
			if (p->active[p->depth])
				p->late[p->depth] = p->active[p->depth];
		}
	}
}

static void drop_all(struct program *p)
{
	struct dp_call *c = p->tree.top.first;
	size_t n = 0, trees = p->tree.n;

	while (c && c->first)
		n += dp_calltree_drop(&p->tree, c->first);
	assert_int_equal(p->tree.n, trees);
	while (p->tree.top.first)
		n += dp_calltree_drop(&p->tree, p->tree.top.first);
	assert_int_equal(n, p->n);
	assert_int_equal(p->tree.n, 0);
	assert_null(p->tree.top.last);
}

static size_t check_order(const struct dp_call *caller)
{
	const struct dp_call *c, *before = NULL;
	size_t n = 0;

	for (c = caller->first; c; c = c->next) {
		assert_ptr_equal(c->prev, before);
		assert_ptr_equal(c->caller, caller);
		assert_true(!before || before->entered <= c->entered);
		n += 1 + check_order(c);
		before = c;
	}
	assert_ptr_equal(caller->last, before);
	return n;
}

static void as_they_were_made(void **state)
{
	struct program *p = calloc(1, sizeof(*p));
	u64 seed;
	size_t i, left;

	assert_non_null(p);
	for (seed = 1; seed <= 200; seed++) {
		memset(p, 0, sizeof(*p));
		p->seed = seed;
		while (p->n < CALLS)
			step(p);
		while (p->depth)
			leave(p);
		for (i = 0; i < DEPTH; i++)
			if (p->late[i])
				ends(p, p->late[i], DP_CALL_ABANDONED);
		for (i = left = 0; i < p->n; i++) {
			assert_ptr_equal(p->made[i].call->caller,
					 p->made[i].by ?: &p->tree.top);
			left += p->made[i].call->how == DP_CALL_ABANDONED;
		}
		assert_true(left > 30);
		assert_int_equal(check_order(&p->tree.top), p->n);
		drop_all(p);
	}
	free(p);
}

/* The program writes them; trees are trees all the same. */
static void any_numbers(void **state)
{
	struct program *p = calloc(1, sizeof(*p));
	struct dp_call *c;
	u64 seed;

	assert_non_null(p);
	for (seed = 1; seed <= 300; seed++) {
		memset(p, 0, sizeof(*p));
		p->seed = seed;
		for (p->n = 0; p->n < 300; p->n++) {
			c = calloc(1, sizeof(*c));
			assert_non_null(c);
			c->entered = randomly(&p->seed) % (seed * 10);
			c->left = randomly(&p->seed) % (seed * 10);
			c->slot = randomly(&p->seed) % 8;
			c->how = (u32)(randomly(&p->seed) % 5);
			dp_calltree_place(&p->tree, c);
			assert_int_equal(check_order(&p->tree.top), p->n + 1);
		}
		drop_all(p);
	}
	free(p);
}

/* A tree of calls that is as deep as it can be is walked without recursion. */
static void deep(void **state)
{
	struct program *p = calloc(1, sizeof(*p));
	struct dp_call *c;
	u64 i;

	assert_non_null(p);
	for (p->n = 0, i = 1000000; i-- > 0; p->n++) {
		c = calloc(1, sizeof(*c));
		assert_non_null(c);
		c->entered = i;
		c->left = 2000000 - i;
		dp_calltree_place(&p->tree, c);
	}
	assert_int_equal(p->tree.n, 1);
	drop_all(p);
	free(p);
}

/* Calls that were left, each entered before all others: in order as long as there are steps, then behind. */
static void steps_are_bounded(void **state)
{
	struct dp_calltree t = { .n = 0 };
	const struct dp_call *c;
	struct dp_call *made;
	size_t i, ordered = 0;

	for (i = 0; i < FORGED; i++) {
		made = calloc(1, sizeof(*made));
		assert_non_null(made);
		made->entered = FORGED - i;
		made->left = 2 * FORGED;
		made->how = DP_CALL_ABANDONED;
		dp_calltree_place(&t, made);
		assert_true(t.steps <= (i + 1) * DP_CALLTREE_STEPS);
		if (i < DP_CALLTREE_STEPS)
			assert_ptr_equal(t.top.first, made);
	}
	assert_int_equal(t.n, FORGED);
	assert_ptr_equal(t.top.last, made);
	for (c = t.top.first; c->next && c->entered < c->next->entered;
	     c = c->next)
		ordered++;
	assert_in_range(ordered, DP_CALLTREE_STEPS, FORGED / 2);
	for (i = 0; t.top.first; i++)
		dp_calltree_drop(&t, t.top.first);
	assert_int_equal(i, FORGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_they_were_made),
		cmocka_unit_test(any_numbers),
		cmocka_unit_test(deep),
		cmocka_unit_test(steps_are_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
