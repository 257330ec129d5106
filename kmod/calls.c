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
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#define LEAST 10
/* Between two sweeps */
#define PERIOD (HZ / 2)

static DEFINE_MUTEX(pools);
static LIST_HEAD(all);
static DECLARE_BITMAP(stubs, DP_KERNEL_STUBS);

/* Of a dead task nobody else ends it. Return: is it free now, or was it? */
static bool settle(struct dp_calls *calls, struct dp_followed *f)
{
	u32 state = smp_load_acquire(&f->state);

	if (state != DP_FOLLOWED_LIVE || !dp_followed_is_dead(f))
		return state == DP_FOLLOWED_FREE;
	put_task_struct(f->task);
	calls->ended++;
	smp_store_release(&f->state, DP_FOLLOWED_FREE);
	return true;
}

/* Return: how many calls are still followed. */
static u32 sweep(struct dp_calls *calls)
{
	u32 i, n = 0;

	for (i = 0; i < calls->pool.n; i++)
		n += !settle(calls, dp_followed_at(&calls->pool, i));
	return n;
}

static void free_calls(struct dp_calls *calls)
{
	u32 i;

	for (i = 0; i < calls->pool.n; i++)
		WRITE_ONCE(dp_kernel_calls[calls->pool.first + i], NULL);
	bitmap_clear(stubs, calls->pool.first, calls->pool.n);
	list_del(&calls->list);
	kvfree(calls->pool.instances);
	kfree(calls);
}

static void sweep_all(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweeper, sweep_all);

/* What has returned reads nothing of a pool any more. */
static void sweep_all(struct work_struct *work)
{
	struct dp_calls *calls, *next;
	u32 n = 0;

	mutex_lock(&pools);
	list_for_each_entry_safe(calls, next, &all, list)
	{
		if (sweep(calls) || calls->user)
			continue;
		free_calls(calls);
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
	calls->pool.stride =
		ALIGN(sizeof(struct dp_followed) + room, L1_CACHE_BYTES);
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
		free_calls(calls);
	mutex_unlock(&pools);
}

struct dp_calls_account dp_calls_account(struct dp_calls *calls)
{
	struct dp_calls_account account;

	mutex_lock(&pools);
	account.inside = sweep(calls);
	account.ended = calls->ended;
	mutex_unlock(&pools);
	return account;
}

void dp_calls_end(void)
{
	cancel_delayed_work_sync(&sweeper);
	synchronize_rcu();
	dp_tasks_wait();
}
