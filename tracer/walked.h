/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* walked: different stacks, by the names of their frames, of all processes of a run. */
#ifndef DP_TRACER_WALKED_H
#define DP_TRACER_WALKED_H

#include <stdio.h>
#include "tracer/stacks.h"

struct dp_walked_stack {
	struct dp_named_frame *frames;
	u32 n, place;
	enum dp_backtrace_end end;
};

/** struct dp_walked - @n stacks; begins as zeros. @tree: of tsearch(3) */
struct dp_walked {
	struct dp_walked_stack **v;
	size_t n, room;
	void *tree;
};

/** dp_walked_begin() - many stacks follow, until dp_walked_end() */
void dp_walked_begin(void);
void dp_walked_end(void);
/**
 * dp_walked_find() - find the stack with such names, or add it
 * @number: of a stack in the process of session @s
 * @place: of the stack, the same for the same names
 *
 * Return: 0; -ENOMEM.
 */
int dp_walked_find(struct dp_walked *w, const struct dp_session *s, u32 number,
		   u32 *place);
/** dp_walked_get() - a stack; NULL: there is none at that place */
const struct dp_walked_stack *dp_walked_get(const struct dp_walked *w,
					    u32 place);
/** dp_walked_compare() - less than 0, 0, or more: the order of two stacks, from the innermost frame on */
int dp_walked_compare(const struct dp_walked *w, u32 a, u32 b);
/** dp_walked_print() - as dp_frames_print() */
void dp_walked_print(FILE *out, const struct dp_walked *w, u32 place);
void dp_walked_free(struct dp_walked *w);

#endif
