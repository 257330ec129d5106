// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * own: functions of this process that programs call, by number.
 *
 * Hits look at a table of entries. An entry is filled in before its function is, and emptied before
 * the library waits for handlers. A thread reads the entry when it is busy already, so one that has
 * seen the function is waited for.
 *
 *   hit ─► entry ─► the kind's hook ─► exits of others, the exit of the function with that number
 *
 * Exits come before entries, and go behind them.
 *
 * Lock: the library's, but for what has to do with the hook, which takes it itself.
 */
#include "lib/own.h"
#include <errno.h>
#include <stddef.h>
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

/* Those whose exits are still to be taken from their hooks */
static struct dp_own *leaving;

static void leave(struct dp_own *own)
{
	__atomic_store_n(&own->gone, 1, __ATOMIC_RELEASE);
	own->next = __atomic_load_n(&leaving, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&leaving, &own->next, own, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		continue;
}

/* In an exit of any hook nobody is waited for: a later call takes them. */
static void sweep(void)
{
	struct dp_own *own = __atomic_exchange_n(&leaving, NULL,
						 __ATOMIC_ACQ_REL),
		      *next;

	for (; own; own = next) {
		next = own->next;
		if (own->rec.hook && gkh_deregister(&own->rec))
			leave(own);
		else
			free(own);
	}
}

/* A parent's are not this process's. */
static void begin_anew(struct dp_own_table *t)
{
	u32 i;

	if (t->owner == getpid())
		return;
	t->owner = getpid();
	for (i = 0; i < t->n; i++)
		if (t->owns[i])
			leave(t->owns[i]);
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

static int call(struct gkh_hook *h, struct gkh_args *a)
{
	const struct dp_own_table *t = a->rec->data;
	const struct dp_own *own =
		(const void *)((char *)a->rec - offsetof(struct dp_own, rec));

	if (*(unsigned int *)a->p[0] != own->number ||
	    __atomic_load_n(&own->gone, __ATOMIC_ACQUIRE))
		return GKH_CONTINUE;
	return t->exit(own, a);
}

void dp_own_run(struct gkh_hook *h, struct gkh_args *a)
{
	if (__atomic_load_n(&h->active, __ATOMIC_ACQUIRE))
		h->dispatch(h, a);
}

/* The hook is there from the first function of its kind on. Somebody may have deleted it. */
static int arm(struct dp_own_table *t, struct dp_own *own)
{
	int err = gkh_identify(t->hook);

	if (err && err != -EEXIST)
		return err;
	err = gkh_register(&own->rec);
	if (!err)
		return gkh_arm(&own->rec);
	own->rec.hook = NULL;
	return err;
}

static struct dp_own *make(struct dp_own_table *t, unsigned int number,
			   const struct dp_own *as, const char *name)
{
	struct dp_own *own = malloc(sizeof(*own));

	if (!own)
		return NULL;
	*own = *as;
	strcpy(own->name, name);
	own->number = number;
	own->rec = (struct gkh_rec){
		.hook = t->hook, .exit = call, .exit_name = own->name, .data = t
	};
	return own;
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

static int taken(const struct dp_own_table *t, unsigned int number)
{
	return dp_fail(-EBUSY, "%s %u is taken: %s", t->noun, number,
		       t->owns[number - t->first]->name);
}

/* Two threads may want the same number. */
static int add(struct dp_own_table *t, struct dp_own *own)
{
	int err = dp_self_begin(true);

	if (err)
		return err;
	if (t->owns[own->number - t->first])
		err = taken(t, own->number);
	else
		put(t, own->number - t->first, own);
	dp_self_end();
	return err;
}

static int prepare(struct dp_own_table *t, unsigned int number)
{
	int err = dp_self_begin(true);

	if (err)
		return err;
	begin_anew(t);
	if (t->owns[number - t->first])
		err = taken(t, number);
	dp_self_end();
	return err;
}

int dp_own_register(struct dp_own_table *t, unsigned int number,
		    const struct dp_own *as, const char *name)
{
	struct dp_own *own;
	int err = check(t, number, as, name);

	if (!err)
		err = prepare(t, number);
	if (err)
		return err;
	sweep();
	own = make(t, number, as, name);
	if (!own)
		return dp_fail(-ENOMEM, "out of memory");
	err = arm(t, own);
	if (!err)
		err = add(t, own);
	/* It is swept by the next call: dp_last_diag() is to say why this one failed. */
	if (err)
		leave(own);
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
	leave(own);
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
	sweep();
	return err;
}
