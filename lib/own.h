/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* own: functions of this process that programs call, by number. */
#ifndef DP_OWN_H
#define DP_OWN_H

#include "lib/self.h"
#include "engine/layout/own.h"

#define DP_OWN_NAME 32

/** struct dp_own - a registered function; freed when no thread can be in it */
struct dp_own {
	void (*fn)(void);
	void *ctx;
	u64 what;
	char name[DP_OWN_NAME];
};

/**
 * struct dp_own_table - the functions of a kind
 * @noun: what they are, for messages
 * @first, @n: their numbers
 * @arena: offset of the word of struct dp_arena_control that leads to @entries
 * @call: what hits call, with the struct dp_own of an entry
 * @owner: the process that has registered them; a fork child begins anew
 */
struct dp_own_table {
	const char *noun;
	u32 first, n;
	size_t arena;
	u64 call;
	struct dp_own_function *entries;
	struct dp_own **owns;
	pid_t owner;
};

/** dp_own_register() - @own: its name is checked. It is copied.
 *  Return: 0; -EINVAL; -EBUSY; -ENOMEM; as dp_self_begin(). With words. */
int dp_own_register(struct dp_own_table *t, unsigned int number,
		    const struct dp_own *own, const char *name);
/** dp_own_unregister() - returns when no other thread is in it. Return: 0; -ENOENT; with words */
int dp_own_unregister(struct dp_own_table *t, unsigned int number);

#endif
