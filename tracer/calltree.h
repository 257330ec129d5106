/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* calltree: calls of a thread, and which of them has made which. */
#ifndef DP_CALLTREE_H
#define DP_CALLTREE_H

#include "port_types.h"
#include <stddef.h>

struct dp_point;

/**
 * struct dp_call - a call that has ended
 * @caller, @first, @last, @next: in its tree, in the order of entries
 * @entered, @left: ticks; @slot: address of its return address
 * @ns: how long it took, by the record; @seconds: when it was entered
 * @text: its values, and behind their NUL what it returned; or NULL
 * @own: it is on another stack than what ran when it was entered: that has ended earlier, or made others meanwhile
 * @tree: the number of its tree, in the order of entries
 * @track: a number that those have which are on their own stacks, and what they have made; or 0
 * @resumed, @base, @top, @by, @kin, @rank, @place, @above, @live: while trees are made
 */
struct dp_call {
	struct dp_call *caller, *first, *last, *next;
	const struct dp_point *point;
	u64 entered, left, slot, ns;
	double seconds;
	char *text;
	struct dp_call *resumed, *base, *top, *by, *kin;
	u32 rank, place, above, how, tree, track;
	bool own, live;
};

/** struct dp_calltree - @v: calls that have been added, @n of them; @top: pretends to have made those of no caller;
 *  @tracks: numbers that have been given */
struct dp_calltree {
	struct dp_call **v;
	size_t n, room;
	struct dp_call top;
	u32 tracks;
};

/* Where stacks can be told apart by distance alone: what is farther below a call than a frame is large is not on its
 * stack; what is nearer than a stack is large may be. */
#define DP_CALLTREE_FRAME 8192
#define DP_CALLTREE_STACK (8 << 20)

/** dp_calltree_add() - a call that has ended is the tree's from now on. Return: 0; -ENOMEM */
int dp_calltree_add(struct dp_calltree *tree, struct dp_call *call);
/**
 * dp_calltree_make() - link the calls that have been added, by when they were entered and left, and where
 *
 * A call has made another one if it was the nearest one above on the same stack, or at the same place (a tail call), or, where that begins a stack, if it
 * ran at this time and ends later. The numbers may be any: the program has written them.
 * If that ends earlier, it has no caller. Of a call that was left @left becomes the time at which that could be known.
 * Return: how many have no caller; -ENOMEM
 */
long dp_calltree_make(struct dp_calltree *tree);
/** dp_calltree_drop() - free the first @trees that have been made; -1: all calls. Return: how many calls these were. */
size_t dp_calltree_drop(struct dp_calltree *tree, size_t trees);

#endif
