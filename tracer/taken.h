/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* taken: numbers that stand for what a program has taken, and what is known of each. */
#ifndef DP_TRACER_TAKEN_H
#define DP_TRACER_TAKEN_H

#include <stddef.h>
#include "port_types.h"

/** struct dp_taken_entry - @amount: how much it is; @count: how many they are, from 1 on; 0: a free place
 *  @stack, @spec: who has taken it */
struct dp_taken_entry {
	u64 key, amount, count;
	u32 stack, spec;
};

/**
 * struct dp_taken - @n entries at places in @v, which are a power of two; begins as zeros
 *
 * A program chooses the numbers. @salt, drawn at random, is part of their places, so that it cannot
 * have them all at one.
 */
struct dp_taken {
	struct dp_taken_entry *v;
	size_t n, size;
	u64 salt;
};

/** dp_taken_find() - the entry of a number. Return: NULL: there is none; valid until the table changes. */
struct dp_taken_entry *dp_taken_find(const struct dp_taken *t, u64 key);
/**
 * dp_taken_add() - the same; it is added if there is none, with a @count of 0, which the caller sets at once
 * @most: how many there may be
 * Return: NULL: there is no room.
 */
struct dp_taken_entry *dp_taken_add(struct dp_taken *t, u64 key, size_t most);
/** dp_taken_drop() - take an entry out, which others move for */
void dp_taken_drop(struct dp_taken *t, struct dp_taken_entry *entry);
void dp_taken_free(struct dp_taken *t);

#endif
