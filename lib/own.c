// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * own: functions of this process that programs call, by number.
 *
 * Hits look at a table of entries. An entry is filled in before its function is, and emptied before
 * the library waits for handlers. A thread reads the entry when it is busy already, so one that has
 * seen the function is waited for.
 *
 * Lock: the library's.
 */
#include "lib/own.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_name(const char *name)
{
	const char *p;

	if (!name || !*name || strlen(name) >= DP_OWN_NAME)
		return false;
	for (p = name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	return true;
}

static bool is_number(const struct dp_own_table *t, unsigned int number)
{
	return number >= t->first && number - t->first < t->n;
}

/* A parent's are not this process's; its copies are lost with the parent's engine. */
static void begin_anew(struct dp_own_table *t)
{
	if (t->owner == getpid())
		return;
	t->owner = getpid();
	memset(t->owns, 0, t->n * sizeof(*t->owns));
	memset(t->entries, 0, t->n * sizeof(*t->entries));
}

static void put(struct dp_own_table *t, u32 i, struct dp_own *own)
{
	u64 *table = (void *)((char *)&dp_self.arena->control + t->arena);

	t->owns[i] = own;
	t->entries[i].user = (u64)own;
	t->entries[i].what = own->what;
	__atomic_store_n(&t->entries[i].function, t->call, __ATOMIC_RELEASE);
	__atomic_store_n(table, (u64)t->entries, __ATOMIC_RELEASE);
}

static int add(struct dp_own_table *t, unsigned int number,
	       const struct dp_own *own, const char *name)
{
	u32 i = number - t->first;
	struct dp_own *copy;

	begin_anew(t);
	if (t->owns[i])
		return dp_fail(-EBUSY, "%s %u is taken: %s", t->noun, number,
			       t->owns[i]->name);
	copy = malloc(sizeof(*copy));
	if (!copy)
		return dp_fail(-ENOMEM, "out of memory");
	*copy = *own;
	strcpy(copy->name, name);
	put(t, i, copy);
	return 0;
}

static int check(const struct dp_own_table *t, unsigned int number,
		 const struct dp_own *own, const char *name)
{
	if (!is_number(t, number))
		return dp_fail(-EINVAL, "%s %u: numbers are %u to %u", t->noun,
			       number, t->first, t->first + t->n - 1);
	if (!own->fn || !is_name(name))
		return dp_fail(-EINVAL, "%s %u has no %s", t->noun, number,
			       own->fn ? "name, of 31 bytes at most" :
					 "function");
	return 0;
}

int dp_own_register(struct dp_own_table *t, unsigned int number,
		    const struct dp_own *own, const char *name)
{
	int err = check(t, number, own, name);

	if (!err)
		err = dp_self_begin(true);
	if (err)
		return err;
	err = add(t, number, own, name);
	dp_self_end();
	return err;
}

static int unknown(const struct dp_own_table *t, unsigned int number)
{
	return dp_fail(-ENOENT, "%s %u is not registered", t->noun, number);
}

static int drop(struct dp_own_table *t, unsigned int number)
{
	u32 i = number - t->first;
	struct dp_own *own;

	begin_anew(t);
	own = is_number(t, number) ? t->owns[i] : NULL;
	if (!own)
		return unknown(t, number);
	t->owns[i] = NULL;
	__atomic_store_n(&t->entries[i].function, 0, __ATOMIC_RELEASE);
	dp_self_settle();
	free(own);
	return 0;
}

int dp_own_unregister(struct dp_own_table *t, unsigned int number)
{
	int err = dp_self_begin(false);

	if (err == -ESRCH)
		return unknown(t, number);
	if (err)
		return err;
	err = drop(t, number);
	dp_self_end();
	return err;
}
