/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* own: functions of this process that programs call, by number. */
#ifndef DP_OWN_H
#define DP_OWN_H

#include "lib/self.h"
#include "engine/layout/own.h"
#include <dprobes/gkh.h>

#define DP_OWN_NAME 32

/**
 * struct dp_own - a registered function: an exit of its kind's hook. Freed when no thread can be in it
 * @gone: it is called no more; @next: of those whose exits are to go
 */
struct dp_own {
	void (*fn)(void);
	void *ctx;
	u64 what;
	char name[DP_OWN_NAME];
	u32 number, gone;
	struct gkh_rec rec;
	struct dp_own *next;
};

/**
 * struct dp_own_table - the functions of a kind
 * @noun: what they are, for messages
 * @first, @n: their numbers
 * @arena: offset of the word of struct dp_arena_control that leads to @entries
 * @call: what hits call, with the struct dp_own of an entry: it runs through the hook
 * @hook: whose exits the functions are; its first parameter is a number
 * @exit: calls one of them
 * @owner: the process that has registered them; a fork child begins anew
 */
struct dp_own_table {
	const char *noun;
	u32 first, n;
	size_t arena;
	u64 call;
	struct gkh_hook *hook;
	int (*exit)(const struct dp_own *own, struct gkh_args *a);
	struct dp_own_function *entries;
	struct dp_own **owns;
	pid_t owner;
};

/** dp_own_register() - @own: its name is checked. It is copied.
 *  Return: 0; -EINVAL; -EBUSY; -ENOMEM; as dp_self_begin(). With words. */
int dp_own_register(struct dp_own_table *t, unsigned int number,
		    const struct dp_own *own, const char *name);
/** dp_own_run() - run through a kind's hook. Context: a handler */
void dp_own_run(struct gkh_hook *h, struct gkh_args *a);
/** dp_own_unregister() - returns when no other thread is in it. Return: 0; -ENOENT; with words */
int dp_own_unregister(struct dp_own_table *t, unsigned int number);

#endif
