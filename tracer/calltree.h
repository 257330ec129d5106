/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* calltree: calls of a thread, and which of them has made which. */
#ifndef DP_CALLTREE_H
#define DP_CALLTREE_H

#include "port_types.h"
#include <stddef.h>

struct dp_point;

/**
 * struct dp_call - a call that has ended
 * @caller, @first, @last, @prev, @next: in its tree, in the order of entries
 * @entered, @left: ticks; @slot: address of its return address
 * @ns: how long it took; @seconds: when it was entered
 * @text: its values, and behind their NUL what it returned; or NULL
 */
struct dp_call {
	struct dp_call *caller, *first, *last, *prev, *next;
	const struct dp_point *point;
	u64 entered, left, slot, ns;
	double seconds;
	u32 how;
	char *text;
};

/** struct dp_calltree - @top: pretends to have made the calls whose caller is not known; @n: how many
 *  @steps: to calls beside a new one that may be taken yet: each call brings DP_CALLTREE_STEPS */
struct dp_calltree {
	struct dp_call top;
	size_t n;
	u64 steps;
};

#define DP_CALLTREE_STEPS 256

/**
 * dp_calltree_place() - put a call where it belongs
 * @call: of calls that have returned, the last one to do so
 *
 * Those of no caller that were entered behind it are its own from now on. A call that was left comes late. So it
 * may have been made by one that is there already, and what is at its place on the stack, or above, is not its own.
 * The numbers may be any: the program has written them. Where they have used all steps up, a call comes behind
 * the others.
 */
void dp_calltree_place(struct dp_calltree *tree, struct dp_call *call);
/** dp_calltree_drop() - free a call and those that it made. Return: how many these were. */
size_t dp_calltree_drop(struct dp_calltree *tree, struct dp_call *call);

#endif
