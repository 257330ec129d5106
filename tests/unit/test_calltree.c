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
#include <unistd.h>
#include "engine/layout/instance.h"
#include "tracer/calltree.h"

#define DEPTH 12
#define STACKS 5 /* the thread's own, and coroutines' */
#define CALLS 3000
#define TOP 0x7000000ull
#define FORGED 400000

/** struct made - a call as it was made, which has it as its point: @by: its caller, or what has resumed its stack, or
 *  NULL; @first: on its stack; @over: when it was jumped over; @left: when its end was known; @last: that it has
 *  made, when they are compared */
struct made {
	struct dp_call *call, *by;
	struct dp_call *last;
	u64 over, left;
	bool first, suspended;
};

/** struct stack - @active: what is inside, @depth of them, NULL: not followed; @late: what has been left at each depth */
struct stack {
	u64 top;
	struct dp_call *active[DEPTH], *late[DEPTH];
	int depth;
};

/** struct program - @on: the stack that runs; @least: calls that stay on the thread's own, and are followed */
struct program {
	u64 seed, now;
	int least;
	struct stack stacks[STACKS], *on;
	struct made made[CALLS + DEPTH];
	size_t n;
	struct dp_calltree tree;
};

static u64 randomly(u64 *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static struct made *made_as(const struct dp_call *c)
{
	return (struct made *)c->point;
}

static void ends(struct program *p, struct dp_call *c, u32 how)
{
	c->how = how;
	c->left = made_as(c)->left = p->now++;
	assert_int_equal(dp_calltree_add(&p->tree, c), 0);
}

/* The innermost call that is followed, or NULL */
static struct dp_call *innermost(const struct stack *s)
{
	int i = s->depth;

	while (i > 0 && !s->active[i - 1])
		i--;
	return i ? s->active[i - 1] : NULL;
}

static struct dp_call *make_call(struct program *p)
{
	struct dp_call *c = calloc(1, sizeof(*c)), *by = innermost(p->on);
	struct made *made = &p->made[p->n++];

	assert_non_null(c);
	c->entered = p->now++;
	c->slot = p->on->top - 64 * (u64)p->on->depth;
	c->point = (void *)made;
	*made = (struct made){
		.call = c,
		.by = by ?: innermost(p->stacks),
		.first = !by,
	};
	return c;
}

/* Calls on the stack that runs, from the outermost, that are followed and not jumped over: the first of coroutines */
static int least(const struct program *p)
{
	return p->on == p->stacks ? p->least : 1;
}

/* What was left at its place is known now, the outer ones first. Some calls are not followed. */
static void enter(struct program *p, bool follows)
{
	struct stack *s = p->on;
	struct dp_call *late = s->late[s->depth], *c = NULL;
	bool before = randomly(&p->seed) % 2;

	s->late[s->depth] = NULL;
	if (late && before)
		ends(p, late, DP_CALL_ABANDONED);
	if (follows || s->depth < least(p))
		c = make_call(p);
	if (late && !before)
		ends(p, late, DP_CALL_ABANDONED);
	s->active[s->depth++] = c;
}

static void leave(struct program *p)
{
	struct dp_call *c = p->on->active[--p->on->depth];

	if (c)
		ends(p, c, DP_CALL_RETURNED);
}

/* @known: what is called then is at the place of what has been left. Else a coroutine that is resumed is taken for its. */
static void jump(struct program *p, bool known)
{
	struct stack *s = p->on;
	int to = (int)(randomly(&p->seed) % (u64)s->depth);

	to = to < least(p) ? least(p) : to;
	while (known && to < s->depth && !(to && s->active[to - 1]))
		to++;
	if (to == s->depth)
		return;
	while (s->depth > to) {
		struct dp_call *c = s->active[--s->depth];

		if (!c)
			continue;
		s->late[s->depth] = c;
		made_as(c)->over = p->now;
	}
	if (!known)
		return;
	enter(p, true);
	leave(p);
}

/* What a coroutine gives its turn to is known by what that calls. */
static void switch_stacks(struct program *p)
{
	if (p->on != p->stacks) {
		p->on = p->stacks;
		if (p->on->depth == DEPTH)
			leave(p);
		enter(p, true);
		leave(p);
	} else {
		p->on += 1 + randomly(&p->seed) % (STACKS - 1);
		if (!p->on->depth)
			enter(p, true);
	}
}

static void step(struct program *p, bool coroutines)
{
	u64 what = randomly(&p->seed) % 100;

	if (what < 50 && p->on->depth < DEPTH)
		enter(p, randomly(&p->seed) % 4);
	else if (what < 90 && p->on->depth > (p->on == p->stacks) * p->least)
		leave(p);
	else if (what < 93 && p->on->depth > 1)
		jump(p, coroutines);
	else if (coroutines)
		switch_stacks(p);
}

static void finish(struct program *p)
{
	int i, k;

	for (i = 0; i < STACKS; i++) {
		p->on = p->stacks + (p->seed + (u64)i) % STACKS;
		while (p->on->depth)
			leave(p);
		for (k = 0; k < DEPTH; k++)
			if (p->on->late[k])
				ends(p, p->on->late[k], DP_CALL_ABANDONED);
	}
}

/* Coroutines' stacks, above or below the thread's own, with or without memory between them */
static void begin(struct program *p, u64 seed)
{
	u64 between = seed % 3 ? 16384 : 1 << 20;
	int i;

	memset(p, 0, sizeof(*p));
	p->seed = seed;
	p->on = p->stacks;
	for (i = 0; i < STACKS; i++)
		p->stacks[i].top = TOP + between * (u64)i;
	/* Where the thread's own is above, nothing needs to be inside on it, but something has been. */
	p->least = seed % 2;
	p->stacks[0].top = p->least ? 0x1000000 : 0xf000000;
	enter(p, true);
}

static long make(struct program *p)
{
	long trees = dp_calltree_make(&p->tree);

	assert_true(trees >= 0);
	return trees;
}

static void drop_all(struct program *p)
{
	size_t n = p->tree.n;

	assert_int_equal(dp_calltree_drop(&p->tree, SIZE_MAX), n);
	assert_int_equal(p->tree.n, 0);
	free(p->tree.v);
}

static size_t check_order(const struct dp_call *caller)
{
	const struct dp_call *c, *before = NULL;
	size_t n = 0;

	for (c = caller->first; c; c = c->next) {
		assert_ptr_equal(c->caller, caller);
		assert_true(!before || before->entered <= c->entered);
		n += 1 + check_order(c);
		before = c;
	}
	assert_ptr_equal(caller->last, before);
	return n;
}

static bool outlives(const struct made *m)
{
	const struct made *by = m->by ? made_as(m->by) : NULL;

	return m->first && by && m->left > (by->over ?: by->left);
}

/* Was it suspended while its caller has made another one? */
static void mark_suspended(struct program *p)
{
	struct dp_call *none = NULL, **last;
	size_t i;

	for (i = 0; i < p->n; i++) {
		struct made *m = &p->made[i];

		m->suspended = false;
		if (outlives(m))
			continue;
		last = m->by ? &made_as(m->by)->last : &none;
		if (*last && (*last)->how == DP_CALL_RETURNED &&
		    (*last)->left > m->call->entered)
			made_as(*last)->suspended = true;
		*last = m->call;
	}
}

/* When a call that was left has ended is not known better than by its caller's end. */
static void check_end(const struct made *m, const struct dp_calltree *t)
{
	const struct dp_call *c = m->call;

	if (c->how == DP_CALL_RETURNED)
		assert_int_equal(c->left, m->left);
	else
		assert_in_range(c->left, m->over, m->left);
	if (c->caller != &t->top)
		assert_true(c->left <= c->caller->left);
}

static void as_they_were_made(bool coroutines)
{
	struct program *p = calloc(1, sizeof(*p));
	size_t i, left, apart, suspended;
	u64 seed;

	assert_non_null(p);
	for (seed = 1; seed <= 200; seed++) {
		begin(p, seed);
		while (p->n < CALLS)
			step(p, coroutines);
		finish(p);
		make(p);
		mark_suspended(p);
		for (i = left = apart = suspended = 0; i < p->n; i++) {
			const struct made *m = &p->made[i];

			assert_int_equal(m->call->own,
					 outlives(m) || m->suspended);
			assert_ptr_equal(m->call->caller,
					 m->by && !outlives(m) ? m->by :
								 &p->tree.top);
			left += m->call->how == DP_CALL_ABANDONED;
			check_end(m, &p->tree);
			apart += outlives(m);
			suspended += m->suspended;
		}
		assert_true(left > 10);
		assert_true(coroutines ? apart > 3 : !apart);
		assert_true(coroutines ? suspended > 3 : !suspended);
		assert_int_equal(check_order(&p->tree.top), p->n);
		drop_all(p);
	}
	free(p);
}

static void on_one_stack(void **state)
{
	as_they_were_made(false);
}

static void on_several_stacks(void **state)
{
	as_they_were_made(true);
}

static struct dp_call *add(struct dp_calltree *t, u64 entered, u64 left,
			   u64 slot, u32 how)
{
	struct dp_call *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	*c = (struct dp_call){
		.entered = entered, .left = left, .slot = slot, .how = how
	};
	assert_int_equal(dp_calltree_add(t, c), 0);
	return c;
}

/* A handler is made by what it interrupts, wherever its stack is: far, near, and in the frame of a caller. */
static void handlers(void **state)
{
	static const u64 places[] = { 0x1000, TOP + 0x10000, TOP - 0x400 };
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct dp_calltree t = { 0 };
		struct dp_call *outer = add(&t, 1, 100, TOP, DP_CALL_RETURNED),
			       *inner = add(&t, 10, 90, TOP - 0x800,
					    DP_CALL_RETURNED),
			       *handler = add(&t, 20, 80, places[i],
					      DP_CALL_RETURNED),
			       *leaf = add(&t, 30, 40, places[i] - 64,
					   DP_CALL_RETURNED);

		assert_int_equal(dp_calltree_make(&t), 1);
		assert_ptr_equal(inner->caller, outer);
		assert_ptr_equal(handler->caller, inner);
		assert_ptr_equal(leaf->caller, handler);
		dp_calltree_drop(&t, SIZE_MAX);
		free(t.v);
	}
}

/* A handler that came when nothing was followed does not make its stack the thread's own, which is above. */
static void handler_before_all(void **state)
{
	struct dp_calltree t = { 0 };
	struct dp_call *call, *handler;

	add(&t, 1, 2, 0x1000, DP_CALL_RETURNED);
	call = add(&t, 3, 90, TOP, DP_CALL_RETURNED);
	handler = add(&t, 20, 30, 0x1000, DP_CALL_RETURNED);
	assert_int_equal(dp_calltree_make(&t), 2);
	assert_ptr_equal(handler->caller, call);
	dp_calltree_drop(&t, SIZE_MAX);
	free(t.v);
}

/* Stacks may be as near as frames are; what outlives a call above is on another one. */
static void near_stacks(void **state)
{
	struct dp_calltree t = { 0 };
	struct dp_call *by = add(&t, 1, 10, TOP, DP_CALL_RETURNED),
		       *c = add(&t, 2, 50, TOP - 0x1000, DP_CALL_RETURNED),
		       *made = add(&t, 20, 30, TOP - 0x1040, DP_CALL_RETURNED);

	assert_int_equal(dp_calltree_make(&t), 2);
	assert_true(c->own && !by->first);
	assert_ptr_equal(made->caller, c);
	dp_calltree_drop(&t, SIZE_MAX);
	free(t.v);
}

/* It was left at 500, for the tool. That it has outlived what had resumed it is seen by what it made then, if its stack
 * is above, or far; what a jump has left may be just below, behind a large frame. */
static void left_on_its_own_stack(void **state)
{
	static const struct {
		u64 slot;
		bool apart;
	} places[] = { { TOP + 0x20000, true },
		       { TOP - 0x2000000, true },
		       { TOP - 0x20000, false } };
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct dp_calltree t = { 0 };
		struct dp_call *by = add(&t, 1, 10, TOP, DP_CALL_RETURNED),
			       *c = add(&t, 2, 500, places[i].slot,
					DP_CALL_ABANDONED),
			       *other = add(&t, 20, 40, TOP, DP_CALL_RETURNED),
			       *made = add(&t, 25, 30, places[i].slot - 64,
					   DP_CALL_RETURNED);

		assert_int_equal(dp_calltree_make(&t), 2 + places[i].apart);
		assert_int_equal(c->own, places[i].apart);
		assert_ptr_equal(c->caller, places[i].apart ? &t.top : by);
		assert_ptr_equal(made->caller, places[i].apart ? c : other);
		assert_int_equal(c->left, places[i].apart ? 500 : 10);
		dp_calltree_drop(&t, SIZE_MAX);
		free(t.v);
	}
}

/* What was left has ended with its caller, or not: something on its stack returns later. */
static void left_with_what_returns(void **state)
{
	struct dp_calltree t = { 0 };
	struct dp_call *by = add(&t, 1, 10, TOP, DP_CALL_RETURNED), *c, *inner,
		       *outer, *leaf;

	c = add(&t, 2, 500, TOP - 0x10000, DP_CALL_ABANDONED);
	inner = add(&t, 3, 400, TOP - 0x10040, DP_CALL_RETURNED);
	outer = add(&t, 20, 60, TOP, DP_CALL_RETURNED);
	leaf = add(&t, 30, 40, TOP - 0x10080, DP_CALL_RETURNED);
	assert_int_equal(dp_calltree_make(&t), 3);
	assert_ptr_equal(inner->caller, c);
	assert_ptr_equal(leaf->caller, inner);
	assert_true(c->own && !by->first && !outer->first);
	dp_calltree_drop(&t, SIZE_MAX);
	free(t.v);
}

/* What has resumed a stack was left; what is there lives, as it returns later, and so what was left in it may. */
static void resumed_by_what_was_left(void **state)
{
	struct dp_calltree t = { 0 };
	struct dp_call *outer = add(&t, 0, 900, TOP, DP_CALL_RETURNED), *by,
		       *base, *left, *other, *leaf;

	by = add(&t, 1, 500, TOP - 64, DP_CALL_ABANDONED);
	base = add(&t, 2, 300, TOP - 0x20000, DP_CALL_RETURNED);
	left = add(&t, 3, 400, TOP - 0x20040, DP_CALL_ABANDONED);
	other = add(&t, 10, 20, TOP - 64, DP_CALL_RETURNED);
	leaf = add(&t, 30, 40, TOP - 0x20080, DP_CALL_RETURNED);
	assert_int_equal(dp_calltree_make(&t), 2);
	assert_ptr_equal(by->caller, outer);
	assert_ptr_equal(other->caller, outer);
	assert_true(base->own);
	assert_ptr_equal(left->caller, base);
	assert_ptr_equal(leaf->caller, left);
	assert_int_equal(by->left, 10);
	dp_calltree_drop(&t, SIZE_MAX);
	free(t.v);
}

/* What has resumed stacks, and what had made that, all ended: it is not gone through for each call that begins a stack. */
static void long_ended(void **state)
{
	struct dp_calltree t = { 0 };
	u64 i, n = FORGED / 4, slot = TOP * 64;

	for (i = 0; i < n; i++)
		add(&t, i, 4 * n, slot - 8 * i, DP_CALL_RETURNED);
	/* Each begins while the innermost of them runs, which makes a call afterwards. */
	for (i = 0; i < n; i++) {
		add(&t, n + 2 * i, 5 * n + 2 * i, slot + 0x100000 * (i + 1),
		    DP_CALL_RETURNED);
		add(&t, n + 2 * i + 1, n + 2 * i + 1, slot - 8 * n,
		    DP_CALL_RETURNED);
	}
	for (i = 0; i < n; i++)
		add(&t, 5 * n + 2 * i + 1, 8 * n, slot - 0x100000 * (i + 1),
		    DP_CALL_RETURNED);
	alarm(30);
	assert_in_range(dp_calltree_make(&t), n, 3 * n);
	alarm(0);
	assert_int_equal(dp_calltree_drop(&t, SIZE_MAX), 4 * n);
	free(t.v);
}

/* What a call jumps to at its end is its own, and returns for all of them: they end in any order. */
static void tail_calls(void **state)
{
	static const u64 ends[][3] = { { 80, 81, 82 }, { 80, 82, 81 },
				       { 81, 80, 82 }, { 81, 82, 80 },
				       { 82, 80, 81 }, { 82, 81, 80 } };
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const u64 *left = ends[i];
		struct dp_calltree t = { 0 };
		struct dp_call *outer = add(&t, 1, 90, TOP, DP_CALL_RETURNED),
			       *first = add(&t, 10, left[0], TOP - 64,
					    DP_CALL_RETURNED),
			       *second = add(&t, 20, left[1], TOP - 64,
					     DP_CALL_RETURNED),
			       *third = add(&t, 30, left[2], TOP - 64,
					    DP_CALL_RETURNED),
			       *leaf = add(&t, 40, 50, TOP - 128,
					   DP_CALL_RETURNED),
			       *next = add(&t, 85, 86, TOP - 64,
					   DP_CALL_RETURNED);

		assert_int_equal(dp_calltree_make(&t), 1);
		assert_ptr_equal(leaf->caller, third);
		assert_ptr_equal(third->caller, second);
		assert_ptr_equal(second->caller, first);
		assert_ptr_equal(first->caller, outer);
		assert_ptr_equal(next->caller, outer);
		dp_calltree_drop(&t, SIZE_MAX);
		free(t.v);
	}
}

/* The first trees go, the others are made again, with what has come since. */
static void some_are_dropped(void **state)
{
	struct dp_calltree t = { 0 };
	struct dp_call *second, *outer;

	add(&t, 1, 10, TOP, DP_CALL_RETURNED);
	add(&t, 2, 3, TOP - 64, DP_CALL_RETURNED);
	second = add(&t, 12, 14, TOP - 64, DP_CALL_RETURNED);
	assert_int_equal(dp_calltree_make(&t), 2);
	assert_int_equal(dp_calltree_drop(&t, 1), 2);
	outer = add(&t, 0, 20, TOP, DP_CALL_RETURNED);
	assert_int_equal(dp_calltree_make(&t), 1);
	assert_ptr_equal(second->caller, outer);
	assert_int_equal(dp_calltree_drop(&t, 1), 2);
	assert_int_equal(dp_calltree_make(&t), 0);
	free(t.v);
}

/* The program writes them; trees are trees all the same. */
static void any_numbers(void **state)
{
	struct dp_calltree t;
	u64 seed, n;

	for (seed = 1; seed <= 300; seed++) {
		u64 random = seed;

		t = (struct dp_calltree){ 0 };
		for (n = 1; n <= 300; n++) {
			u64 entered = randomly(&random) % (seed * 10),
			    left = randomly(&random) % (seed * 10),
			    slot = randomly(&random) % 8
				   << (randomly(&random) % 3 * 13);

			add(&t, entered, left, slot,
			    (u32)(randomly(&random) % 5));
			if (n % 30)
				continue;
			assert_true(dp_calltree_make(&t) > 0);
			assert_int_equal(check_order(&t.top), n);
		}
		assert_int_equal(dp_calltree_drop(&t, SIZE_MAX), 300);
		free(t.v);
	}
}

/* A tree of calls that is as deep as it can be is walked without recursion. */
static void deep(void **state)
{
	struct dp_calltree t = { 0 };
	u64 i;

	for (i = 1000000; i-- > 0;)
		add(&t, i, 2000000 - i, 8 * (1000000 - i), DP_CALL_RETURNED);
	assert_int_equal(dp_calltree_make(&t), 1);
	assert_int_equal(dp_calltree_drop(&t, 1), 1000000);
	free(t.v);
}

/* Time is not the square of their number, whatever they are: all at once, all left, one behind the other, on as many stacks. */
static void forged(void **state)
{
	static const struct {
		u64 entered, left, slot;
		u32 how;
	} by[] = {
		{ 0, 0, 0, DP_CALL_RETURNED },
		{ 1, 0, 0, DP_CALL_RETURNED },
		{ 1, 0, 8, DP_CALL_RETURNED },
		{ 1, 0, 8, DP_CALL_ABANDONED },
		{ 1, 0, 0, DP_CALL_ABANDONED },
		{ 1, 1, 8, DP_CALL_RETURNED },
		{ 1, 1, 0x10000, DP_CALL_RETURNED },
		{ 1, 1, 0x10000, DP_CALL_ABANDONED },
		{ 1, 0, 0x10000, DP_CALL_ABANDONED },
		{ 0, 0, 0x10000, DP_CALL_UNWOUND },
		{ 1, 0, -8ull, DP_CALL_ABANDONED },
		{ 1, 1, -8ull, DP_CALL_RETURNED },
	};
	size_t i;
	u64 k;

	alarm(120);
	for (i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		struct dp_calltree t = { 0 };

		for (k = 1; k <= FORGED; k++)
			add(&t, k * by[i].entered, 2 * FORGED + k * by[i].left,
			    TOP * 64 + k * by[i].slot, by[i].how);
		assert_true(dp_calltree_make(&t) > 0);
		assert_int_equal(dp_calltree_drop(&t, SIZE_MAX), FORGED);
		free(t.v);
	}
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_one_stack),
		cmocka_unit_test(on_several_stacks),
		cmocka_unit_test(handlers),
		cmocka_unit_test(handler_before_all),
		cmocka_unit_test(near_stacks),
		cmocka_unit_test(left_on_its_own_stack),
		cmocka_unit_test(left_with_what_returns),
		cmocka_unit_test(resumed_by_what_was_left),
		cmocka_unit_test(tail_calls),
		cmocka_unit_test(long_ended),
		cmocka_unit_test(some_are_dropped),
		cmocka_unit_test(any_numbers),
		cmocka_unit_test(deep),
		cmocka_unit_test(forged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
