// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* walked: different stacks, each with a place, whatever the process that has it calls it. */
#include "tracer/walked.h"
#include "sym/demangle.h"
#include "sym/list.h"
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

void dp_walked_begin(void)
{
	dp_demangle_begin();
}

void dp_walked_end(void)
{
	dp_demangle_end();
}

static int compare(const void *a, const void *b)
{
	const struct dp_walked_stack *x = a, *y = b;
	u32 i;
	int order;

	for (i = 0; i < x->n && i < y->n; i++) {
		order = strcmp(x->frames[i].text, y->frames[i].text);
		if (order)
			return order;
	}
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return (int)x->end - (int)y->end;
}

static void free_stack(struct dp_walked_stack *stack)
{
	dp_frames_free(stack->frames, stack->n);
	free(stack->frames);
	free(stack);
}

/* Takes the frames over. */
static struct dp_walked_stack *copy(const struct dp_walked_stack *of)
{
	struct dp_walked_stack *stack = malloc(sizeof(*stack));
	struct dp_named_frame *frames = calloc(of->n + 1, sizeof(*frames));

	if (!stack || !frames) {
		free(stack);
		free(frames);
		return NULL;
	}
	*stack = *of;
	stack->frames = frames;
	memcpy(frames, of->frames, of->n * sizeof(*frames));
	return stack;
}

static int add(struct dp_walked *w, const struct dp_walked_stack *want,
	       u32 *place)
{
	struct dp_walked_stack *stack = copy(want);

	if (!stack) {
		dp_frames_free(want->frames, want->n);
		return -ENOMEM;
	}
	stack->place = *place = (u32)w->n;
	if (dp_list_push(w, &stack)) {
		free_stack(stack);
		return -ENOMEM;
	}
	return tsearch(stack, &w->tree, compare) ? 0 : -ENOMEM;
}

int dp_walked_find(struct dp_walked *w, const struct dp_session *s, u32 number,
		   u32 *place)
{
	struct dp_named_frame frames[DP_BACKTRACE_FRAMES];
	struct dp_walked_stack want = { .frames = frames }, **found;

	if (dp_stacks_frames(s, number, frames, &want.n, &want.end))
		return -ENOMEM;
	found = tfind(&want, &w->tree, compare);
	if (!found)
		return add(w, &want, place);
	*place = (*found)->place;
	dp_frames_free(frames, want.n);
	return 0;
}

const struct dp_walked_stack *dp_walked_get(const struct dp_walked *w,
					    u32 place)
{
	return place < w->n ? w->v[place] : NULL;
}

int dp_walked_compare(const struct dp_walked *w, u32 a, u32 b)
{
	const struct dp_walked_stack *x = dp_walked_get(w, a),
				     *y = dp_walked_get(w, b);

	return x && y ? compare(x, y) : (a > b) - (a < b);
}

void dp_walked_print(FILE *out, const struct dp_walked *w, u32 place)
{
	const struct dp_walked_stack *stack = dp_walked_get(w, place);

	if (stack)
		dp_frames_print(out, stack->frames, stack->n, stack->end);
}

static void keep(void *node)
{
	(void)node;
}

void dp_walked_free(struct dp_walked *w)
{
	size_t i;

	tdestroy(w->tree, keep);
	for (i = 0; i < w->n; i++)
		free_stack(w->v[i]);
	free(w->v);
	*w = (struct dp_walked){ 0 };
}
