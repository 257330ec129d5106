// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exits: return probes of other modules.
 *
 *     a pre_handler at the entry ─► an instance, entry_handler ─► the return address becomes its stub's
 *     ret ─► stub ─► port/kernel/returned.c ─► handler ─► the instance is free
 *
 *     FREE ─► TAKEN ─► LIVE ─► FREE     the call has returned, or is not to be followed
 *                      LIVE ─► FREE     its task has ended inside, which the sweep finds
 *
 * Instances are made when the probe is registered, each with its stub. A pool whose probe has gone is an
 * orphan until all of its calls have returned. Meanwhile it keeps this module, whose text they return to.
 *
 * Locks: pools; below the session's. Hits take none.
 */
#include "kmod/exits.h"
#include "kmod/safe.h"
#include "kmod/tasks.h"
#include "port/kernel/compat.h"
#include "port/kernel/returned.h"
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/list.h>
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

enum { FREE, TAKEN, LIVE };

/** struct instance - a call that may be followed; the public part is the last one */
struct instance {
	struct dp_kernel_call call;
	struct dp_kretprobe_pool *pool;
	u32 state, stub;
	struct dp_kretprobe_instance ri;
};

/** struct dp_kretprobe_pool - the instances of a probe; @n of @stride bytes at @instances, with stubs from @first on
 *  @rp: NULL: it has gone. @hint: where a free instance may be */
struct dp_kretprobe_pool {
	struct list_head list;
	struct dp_kretprobe *rp;
	u32 n, first, hint;
	size_t stride;
	u8 *instances;
};

static DEFINE_MUTEX(pools);
static LIST_HEAD(all);
static DECLARE_BITMAP(stubs, DP_KERNEL_STUBS);

static struct instance *instance_at(const struct dp_kretprobe_pool *pool, u32 i)
{
	return (void *)(pool->instances + i * pool->stride);
}

static struct instance *take(struct dp_kretprobe_pool *pool)
{
	u32 i = READ_ONCE(pool->hint), left;

	for (left = pool->n; left; left--) {
		struct instance *inst = instance_at(pool, i);

		if (READ_ONCE(inst->state) == FREE &&
		    cmpxchg(&inst->state, FREE, TAKEN) == FREE)
			return inst;
		i = i + 1 == pool->n ? 0 : i + 1;
	}
	return NULL;
}

/* Of the current task, which so is not the last one that holds it */
static void give(struct instance *inst)
{
	struct dp_kretprobe_pool *pool = inst->pool;

	WRITE_ONCE(pool->hint, inst->stub - pool->first);
	put_task_struct(inst->ri.task);
	/* After this store the pool may be freed. */
	smp_store_release(&inst->state, FREE);
}

static void over(struct dp_kernel_call *call, bool missed)
{
	struct instance *inst = container_of(call, struct instance, call);

	if (missed)
		__atomic_fetch_add(&inst->ri.rp->kp.nmissed, 1,
				   __ATOMIC_RELAXED);
	give(inst);
}

static void returned(struct dp_kernel_call *call, struct dp_regs *regs)
{
	struct instance *inst = container_of(call, struct instance, call);

	inst->ri.rp->handler(&inst->ri, (struct pt_regs *)regs);
}

/* At the function's entry, where the stack pointer is the slot of the return address */
static int entered(struct dp_kprobe *p, struct pt_regs *regs)
{
	struct dp_kretprobe *rp = container_of(p, struct dp_kretprobe, kp);
	struct instance *inst = take(rp->dp_pool);
	unsigned long *slot = (unsigned long *)regs->sp;

	if (!inst) {
		__atomic_fetch_add(&rp->nmissed, 1, __ATOMIC_RELAXED);
		return 0;
	}
	get_task_struct(current);
	inst->ri.task = current;
	inst->ri.ret_addr = (dp_kprobe_opcode_t *)dp_kernel_home(*slot);
	if (rp->entry_handler && rp->entry_handler(&inst->ri, regs)) {
		give(inst);
		return 0;
	}
	inst->call.back = *slot;
	smp_store_release(&inst->state, LIVE);
	WRITE_ONCE(*slot, dp_kernel_stub(inst->stub));
	return 0;
}

/* Its stack is nobody's any more. */
static bool is_dead(const struct task_struct *task)
{
	return READ_ONCE(task->__state) == TASK_DEAD && !dp_compat_on_cpu(task);
}

/* Return: how many calls are still followed. */
static u32 sweep(struct dp_kretprobe_pool *pool)
{
	struct task_struct *task;
	u32 i, n = 0;

	for (i = 0; i < pool->n; i++) {
		struct instance *inst = instance_at(pool, i);
		u32 state = smp_load_acquire(&inst->state);

		task = state == LIVE ? inst->ri.task : NULL;
		/* Of a dead task nobody else ends it. */
		if (task && is_dead(task)) {
			put_task_struct(task);
			smp_store_release(&inst->state, FREE);
		} else {
			n += state != FREE;
		}
	}
	return n;
}

static void free_pool(struct dp_kretprobe_pool *pool)
{
	u32 i;

	if (!pool)
		return;
	for (i = 0; i < pool->n; i++)
		WRITE_ONCE(dp_kernel_calls[pool->first + i], NULL);
	bitmap_clear(stubs, pool->first, pool->n);
	list_del(&pool->list);
	kvfree(pool->instances);
	kfree(pool);
}

static void sweep_all(struct work_struct *work);
static DECLARE_DELAYED_WORK(sweeper, sweep_all);

/* What has returned reads nothing of a pool any more. */
static void sweep_all(struct work_struct *work)
{
	struct dp_kretprobe_pool *pool, *next;
	u32 n = 0;

	mutex_lock(&pools);
	list_for_each_entry_safe(pool, next, &all,
				 list) if (!sweep(pool) && !pool->rp)
	{
		free_pool(pool);
		n++;
	}
	if (!list_empty(&all))
		schedule_delayed_work(&sweeper, PERIOD);
	mutex_unlock(&pools);
	/* Whoever takes this module out waits for this function. */
	while (n--)
		module_put(THIS_MODULE);
}

static void fill(struct dp_kretprobe_pool *pool)
{
	u32 i;

	for (i = 0; i < pool->n; i++) {
		struct instance *inst = instance_at(pool, i);

		inst->call.handler = pool->rp->handler ? returned : NULL;
		inst->call.over = over;
		inst->pool = pool;
		inst->stub = pool->first + i;
		inst->ri.rp = pool->rp;
		WRITE_ONCE(dp_kernel_calls[inst->stub], &inst->call);
	}
}

static int make_pool(struct dp_kretprobe *rp)
{
	struct dp_kretprobe_pool *pool = kzalloc(sizeof(*pool), GFP_KERNEL);

	if (!pool)
		return -ENOMEM;
	pool->rp = rp;
	pool->n = rp->maxactive > 0 ? rp->maxactive :
				      max(LEAST, 2 * num_possible_cpus());
	pool->stride =
		ALIGN(sizeof(struct instance) + rp->data_size, L1_CACHE_BYTES);
	mutex_lock(&pools);
	pool->first = bitmap_find_next_zero_area(stubs, DP_KERNEL_STUBS, 0,
						 pool->n, 0);
	if (pool->n <= DP_KERNEL_STUBS &&
	    pool->first + pool->n <= DP_KERNEL_STUBS)
		pool->instances = kvcalloc(pool->n, pool->stride, GFP_KERNEL);
	if (!pool->instances) {
		mutex_unlock(&pools);
		kfree(pool);
		return -ENOMEM;
	}
	bitmap_set(stubs, pool->first, pool->n);
	fill(pool);
	list_add(&pool->list, &all);
	rp->dp_pool = pool;
	rp->maxactive = (int)pool->n;
	rp->nmissed = 0;
	rp->kp.pre_handler = entered;
	rp->kp.post_handler = NULL;
	schedule_delayed_work(&sweeper, PERIOD);
	mutex_unlock(&pools);
	return 0;
}

/* Context: the lock is held. Return: NULL: it is not registered. */
static struct dp_kretprobe_pool *pool_of(const struct dp_kretprobe *rp)
{
	struct dp_kretprobe_pool *pool;

	list_for_each_entry(pool, &all, list) if (pool->rp == rp) return pool;
	return NULL;
}

static bool is_registered(const struct dp_kretprobe *rp)
{
	bool is;

	mutex_lock(&pools);
	is = pool_of(rp);
	mutex_unlock(&pools);
	return is;
}

bool dp_exits_own(const struct dp_kprobe *p)
{
	return p->pre_handler == entered;
}

bool dp_exits_call(const struct dp_kprobe *p, const struct module *m)
{
	const struct dp_kretprobe *rp =
		container_of(p, struct dp_kretprobe, kp);

	return within_module((unsigned long)rp->handler, m) ||
	       within_module((unsigned long)rp->entry_handler, m);
}

/* No handler runs any more when RCU has waited. */
static void silence(const struct dp_kretprobe *rp)
{
	struct dp_kretprobe_pool *pool;
	u32 i;

	mutex_lock(&pools);
	pool = pool_of(rp);
	for (i = 0; pool && i < pool->n; i++)
		WRITE_ONCE(instance_at(pool, i)->call.handler, NULL);
	mutex_unlock(&pools);
}

/* The caller's module may go from here on. */
static void leave(struct dp_kretprobe *rp)
{
	struct dp_kretprobe_pool *pool;

	mutex_lock(&pools);
	pool = pool_of(rp);
	if (pool) {
		rp->dp_pool = NULL;
		pool->rp = NULL;
		if (sweep(pool))
			__module_get(THIS_MODULE);
		else
			free_pool(pool);
	}
	mutex_unlock(&pools);
}

void dp_exits_leave(struct dp_kprobe *p)
{
	struct dp_kretprobe *rp = container_of(p, struct dp_kretprobe, kp);

	silence(rp);
	synchronize_rcu();
	leave(rp);
}

/* A task may still be behind its stub. */
void dp_exits_end(void)
{
	cancel_delayed_work_sync(&sweeper);
	synchronize_rcu();
	dp_tasks_wait();
}

/* Where a function has no return address, or others know the one that it has */
static const char *const never[] = { "__switch_to", "__switch_to_asm",
				     "ret_from_fork" };

/* What makes no sense otherwise is told by who registers the entry. */
static int check(const struct dp_kretprobe *rp)
{
	const struct dp_kprobe *p = &rp->kp;
	u64 addr = (u64)p->addr, bad;
	u32 i;

	if ((!rp->handler && !rp->entry_handler) || is_registered(rp))
		return -EINVAL;
	if (p->symbol_name)
		addr = dp_safe_symbol(p->symbol_name);
	for (i = 0; i < ARRAY_SIZE(never); i++) {
		bad = dp_safe_symbol(never[i]);
		if (bad && addr == bad)
			return -EINVAL;
	}
	return addr && dp_safe_is_inside(addr + p->offset) ? -EINVAL : 0;
}

static int make_all(struct dp_kretprobe **rps, struct dp_kprobe **kps, int num,
		    int *made)
{
	int err = 0;

	for (*made = 0; *made < num && !err; *made += !err) {
		struct dp_kretprobe *rp = rps[*made];

		err = rp ? check(rp) : -EINVAL;
		err = err ?: make_pool(rp);
		if (!err)
			kps[*made] = &rp->kp;
	}
	return err;
}

int dp_register_kretprobes(struct dp_kretprobe **rps, int num)
{
	struct dp_kprobe **kps;
	int err, made;

	if (!rps || num <= 0)
		return -EINVAL;
	kps = kvcalloc(num, sizeof(*kps), GFP_KERNEL);
	if (!kps)
		return -ENOMEM;
	err = make_all(rps, kps, num, &made);
	err = err ?: dp_register_kprobes(kps, num);
	while (err && made--)
		leave(rps[made]);
	kvfree(kps);
	return err;
}
EXPORT_SYMBOL_NS_GPL(dp_register_kretprobes, DPROBES);

/* Without memory, one by one */
static void unregister_entries(struct dp_kretprobe **rps, int num)
{
	struct dp_kprobe **kps = kvcalloc(num, sizeof(*kps), GFP_KERNEL);
	int i, n = 0;

	for (i = 0; i < num; i++)
		if (kps && rps[i])
			kps[n++] = &rps[i]->kp;
		else if (rps[i])
			dp_unregister_kprobe(&rps[i]->kp);
	if (n)
		dp_unregister_kprobes(kps, n);
	kvfree(kps);
}

void dp_unregister_kretprobes(struct dp_kretprobe **rps, int num)
{
	int i;

	if (!rps || num <= 0)
		return;
	for (i = 0; i < num; i++)
		if (rps[i])
			silence(rps[i]);
	unregister_entries(rps, num);
	synchronize_rcu();
	for (i = 0; i < num; i++)
		if (rps[i])
			leave(rps[i]);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_kretprobes, DPROBES);

int dp_register_kretprobe(struct dp_kretprobe *rp)
{
	return dp_register_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_register_kretprobe, DPROBES);

void dp_unregister_kretprobe(struct dp_kretprobe *rp)
{
	dp_unregister_kretprobes(&rp, 1);
}
EXPORT_SYMBOL_NS_GPL(dp_unregister_kretprobe, DPROBES);
