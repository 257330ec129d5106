// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* calltree: calls of a thread, and which of them has made which. */
#include "tracer/calltree.h"
#include "engine/layout/instance.h"
#include <stdlib.h>

/* A tree is walked without recursion: it may be as deep as the program's stack. */
static struct dp_call *innermost(struct dp_call *c)
{
	while (c->first)
		c = c->first;
	return c;
}

static size_t free_calls(struct dp_call *tree)
{
	struct dp_call *c = innermost(tree), *next;
	size_t n = 0;

	for (;; c = next) {
		next = c == tree ? NULL :
		       c->next	 ? innermost(c->next) :
				   c->caller;
		free(c->text);
		free(c);
		n++;
		if (!next)
			return n;
	}
}

static bool was_left(const struct dp_call *c)
{
	return c->how == DP_CALL_ABANDONED || c->how == DP_CALL_UNWOUND;
}

/* Did @c begin within @outer, which was entered before it? That a call was left is known some time later only,
 * so its place on the stack counts, too. */
static bool contains(const struct dp_call *outer, const struct dp_call *c)
{
	if (outer->left <= c->entered)
		return false;
	return !was_left(outer) || outer->slot > c->slot;
}

/* Is what was entered behind @c its own? What is at its place, or above, on the stack is not. */
static bool owns(const struct dp_call *c, const struct dp_call *inner)
{
	return !was_left(c) || inner->slot < c->slot;
}

/* The calls from @from to @last are those of @c from now on, which is in their place. */
static void take_over(struct dp_call *c, struct dp_call *from,
		      struct dp_call *last)
{
	struct dp_call *i;

	c->first = from;
	c->last = last;
	for (i = from; i != last->next; i = i->next)
		i->caller = c;
	from->prev = last->next = NULL;
}

/* Behind @before, with those that follow it and are its own. Return: how many these are. */
static size_t link_call(struct dp_call *caller, struct dp_call *before,
			struct dp_call *c)
{
	struct dp_call *from = before ? before->next : caller->first,
		       *behind = from, *last = NULL;
	size_t n = 0;

	for (; behind && owns(c, behind); n++) {
		last = behind;
		behind = behind->next;
	}
	if (last)
		take_over(c, from, last);
	c->caller = caller;
	c->prev = before;
	c->next = behind;
	*(before ? &before->next : &caller->first) = c;
	*(behind ? &behind->prev : &caller->last) = c;
	return n;
}

static bool may_step(struct dp_calltree *t)
{
	return t->steps && t->steps--;
}

/* The last of a caller's that was entered before @c; or the last one, where there is no step left */
static struct dp_call *find_before(struct dp_calltree *t,
				   const struct dp_call *caller,
				   const struct dp_call *c)
{
	struct dp_call *before = caller->last;

	for (; before && before->entered > c->entered; before = before->prev)
		if (!may_step(t))
			return caller->last;
	return before;
}

/* The calls of a call that has returned move once, so their steps are few. Those to where a call that was left belongs
 * are as many as have come since. */
void dp_calltree_place(struct dp_calltree *t, struct dp_call *c)
{
	struct dp_call *caller = &t->top, *before;
	size_t n;

	t->steps += DP_CALLTREE_STEPS;
	for (;;) {
		before = find_before(t, caller, c);
		if (!before || !contains(before, c) || !may_step(t))
			break;
		caller = before;
	}
	n = link_call(caller, before, c);
	if (caller == &t->top)
		t->n += 1 - n;
}

size_t dp_calltree_drop(struct dp_calltree *t, struct dp_call *c)
{
	struct dp_call *caller = c->caller;

	*(c->prev ? &c->prev->next : &caller->first) = c->next;
	*(c->next ? &c->next->prev : &caller->last) = c->prev;
	t->n -= caller == &t->top;
	return free_calls(c);
}
