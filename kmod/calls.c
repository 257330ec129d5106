// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calls: pools of instances, of calls that are followed to their return.
 *
 * Instances are made with the pool, each with its stub. Those of tasks that have ended inside are found by the
 * sweep, as is the last return to an orphan.
 *
 * Locks: pools; below the session's. Hits take none.
 */
#include "kmod/calls.h"
#include "kmod/tasks.h"
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#define LEAST 10
/* Between two sweeps */
#define PERIOD (HZ / 2)

bool dp_calls_list;

static DEFINE_MUTEX(pools);
static LIST_HEAD(all);
/* Nodes of theirs are in no task's list. But who unwinds the stack of a task that runs meanwhile keeps a node from one
 * frame to the next, and may have been preempted. */
static LIST_HEAD(ended);
static DECLARE_BITMAP(stubs, DP_KERNEL_STUBS);

/* Return: how many calls are still followed. */
static u32 sweep(struct dp_calls *calls)
{
	u32 i, n = 0;

	for (i = 0; i < calls->pool.n; i++)
		n += !dp_followed_settle(dp_followed_at(&calls->pool, i));
	return n;
}

static void free_calls(struct dp_calls *calls)
{
	list_del(&calls->list);
	kvfree(calls->pool.instances);
	kfree(calls);
}

static void free_ended(struct work_struct *work)
{
	struct dp_calls *calls, *next;
	LIST_HEAD(old);

	mutex_lock(&pools);
	list_splice_init(&ended, &old);
	mutex_unlock(&pools);
	dp_tasks_wait();
	list_for_each_entry_safe(calls, next, &old, list) free_calls(calls);
}

static DECLARE_WORK(freer, free_ended);

/* Context: the lock is held; no call is inside. */
static void end_calls(struct dp_calls *calls)
{
	u32 i;

	for (i = 0; i < calls->pool.n; i++)
		WRITE_ONCE(dp_kernel_calls[calls->pool.first + i], NULL);
	bitmap_clear(stubs, calls->pool.first, calls->pool.n);
	if (calls->pool.listed) {
		list_move(&calls->list, &ended);
		schedule_work(&freer);
	} else {
		free_calls(calls);
	}
}

static void sweep_all(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweeper, sweep_all);

/* What has returned reads nothing of a pool any more. */
static void sweep_all(struct work_struct *work)
{
	struct dp_calls *calls, *next;
	u32 n = 0;

	mutex_lock(&pools);
	if (dp_calls_list)
		dp_followed_leave_dead();
	list_for_each_entry_safe(calls, next, &all, list)
	{
		if (sweep(calls) || calls->user)
			continue;
		end_calls(calls);
		n++;
	}
	if (!list_empty(&all))
		schedule_delayed_work(&sweeper, PERIOD);
	mutex_unlock(&pools);
	/* Whoever takes this module out waits for this function. */
	while (n--)
		module_put(THIS_MODULE);
}

/* Context: the lock is held. */
static int make_instances(struct dp_followed_pool *pool)
{
	if (pool->n > DP_KERNEL_STUBS)
		return -ENOMEM;
	pool->first = bitmap_find_next_zero_area(stubs, DP_KERNEL_STUBS, 0,
						 pool->n, 0);
	if (pool->first + pool->n > DP_KERNEL_STUBS)
		return -ENOMEM;
	pool->instances = kvcalloc(pool->n, pool->stride, GFP_KERNEL);
	return pool->instances ? 0 : -ENOMEM;
}

static u8 *end_of(struct dp_followed *f)
{
	return (u8 *)f + f->pool->stride;
}

/* Context: the lock is held. */
static void enter(struct dp_calls *calls,
		  void (*fill)(struct dp_followed *instance, const void *user))
{
	struct dp_followed_pool *pool = &calls->pool;
	u32 i;

	bitmap_set(stubs, pool->first, pool->n);
	for (i = 0; i < pool->n; i++) {
		struct dp_followed *f = dp_followed_at(pool, i);

		f->pool = pool;
		f->stub = pool->first + i;
		fill(f, calls->user);
		if (pool->listed)
			dp_followed_list(f, end_of(f) - DP_NODE_ROOM);
		else
			WRITE_ONCE(dp_kernel_calls[f->stub], &f->call);
	}
	list_add(&calls->list, &all);
	schedule_delayed_work(&sweeper, PERIOD);
}

struct dp_calls *dp_calls_make(const void *user, u32 n, u32 room,
			       void (*fill)(struct dp_followed *instance,
					    const void *user))
{
	struct dp_calls *calls = kzalloc(sizeof(*calls), GFP_KERNEL);
	int err;

	if (!calls)
		return NULL;
	calls->user = user;
	calls->pool.n = n ?: max(LEAST, 2 * num_possible_cpus());
	calls->pool.room = room;
	calls->pool.listed = dp_calls_list;
	calls->pool.stride =
		ALIGN(ALIGN(sizeof(struct dp_followed) + room, sizeof(long)) +
			      (dp_calls_list ? DP_NODE_ROOM : 0),
		      L1_CACHE_BYTES);
	mutex_lock(&pools);
	err = make_instances(&calls->pool);
	if (!err)
		enter(calls, fill);
	mutex_unlock(&pools);
	if (!err)
		return calls;
	kfree(calls);
	return NULL;
}

struct dp_calls *dp_calls_of(const void *user)
{
	struct dp_calls *calls, *found = NULL;

	mutex_lock(&pools);
	list_for_each_entry(calls, &all, list) if (calls->user == user)
		found = calls;
	mutex_unlock(&pools);
	return found;
}

void dp_calls_silence(struct dp_calls *calls)
{
	u32 i;

	for (i = 0; calls && i < calls->pool.n; i++)
		WRITE_ONCE(dp_followed_at(&calls->pool, i)->call.handler, NULL);
}

void dp_calls_leave(struct dp_calls *calls)
{
	if (!calls)
		return;
	mutex_lock(&pools);
	calls->user = NULL;
	if (sweep(calls))
		__module_get(THIS_MODULE);
	else
		end_calls(calls);
	mutex_unlock(&pools);
}

struct dp_calls_account dp_calls_account(struct dp_calls *calls)
{
	struct dp_calls_account account;

	mutex_lock(&pools);
	account.inside = sweep(calls);
	account.ended = READ_ONCE(calls->pool.ended);
	mutex_unlock(&pools);
	return account;
}

void dp_calls_begin(u64 trampoline, bool may_list)
{
	dp_node_trampoline = trampoline;
	dp_calls_list = trampoline && may_list;
}

void dp_calls_end(void)
{
	cancel_delayed_work_sync(&sweeper);
	flush_work(&freer);
	synchronize_rcu();
	dp_tasks_wait();
}
