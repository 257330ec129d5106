/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flame: counts by stacks as a tree, from the outermost frames on.
 *
 * Counts and numbers of stacks are what the target has written: any number is taken, sums stop at
 * the largest one, and names are escaped for what they are printed to.
 */
#ifndef DP_TRACER_FLAME_H
#define DP_TRACER_FLAME_H

#include <stdio.h>
#include "port_types.h"

struct dp_session;

/* Names of a stack, at most */
#define DP_FLAME_LEVELS 256

/**
 * struct dp_flame - a frame, below which are those that it has called
 * @name: of the caller's; @count: hits in it and below; @own: of these, those with no frame below
 * @first, @next: frames below it, and beside it
 */
struct dp_flame {
	const char *name;
	u64 count, own;
	struct dp_flame *first, *next, *parent;
};

/**
 * dp_flame_add() - add a stack
 * @top: of all; zeros at first
 * @names: of @n frames, the outermost first; they live on
 *
 * Return: 0; -ENOMEM.
 */
int dp_flame_add(struct dp_flame *top, const char *const *names, u32 n,
		 u64 count);
/** dp_flame_sort() - have frames beside each other in order: of their counts, the most first, or of
 *  their names */
int dp_flame_sort(struct dp_flame *top, bool by_name);
/** dp_flame_free() - free all below @top */
void dp_flame_free(struct dp_flame *top);

/** dp_flame_text() - print a line a frame; a frame's only callee is not indented */
void dp_flame_text(FILE *out, const struct dp_flame *top);
/** dp_flame_folded() - print "outermost;…;innermost COUNT" for each stack */
void dp_flame_folded(FILE *out, const struct dp_flame *top);
/** dp_flame_svg() - print a picture: each frame is as wide as its count, on top of its caller
 *  Return: 0; -ENOMEM: nothing is printed. */
int dp_flame_svg(FILE *out, const struct dp_flame *top, const char *title);

/** dp_flame_report() - print what a run of dp_tracer_stacks() has counted, as its options say */
void dp_flame_report(struct dp_session *s);

#endif
