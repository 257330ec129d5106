// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* followed: calls of a kernel's functions that are followed to their return. */
#include "port/kernel/followed.h"
#include "engine/hit/hit.h"
#include "engine/instance/stubbed.h"
#include "port.h"
#include "port/kernel/compat.h"
#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

static bool take_stub(struct dp_followed *f)
{
	if (READ_ONCE(f->state) != DP_FOLLOWED_FREE ||
	    cmpxchg(&f->state, DP_FOLLOWED_FREE, DP_FOLLOWED_TAKEN) !=
		    DP_FOLLOWED_FREE)
		return false;
	get_task_struct(current);
	f->task = current;
	return true;
}

struct dp_followed *dp_followed_search(struct dp_followed_pool *pool)
{
	u32 i = READ_ONCE(pool->hint), left = pool->n;

	if (pool->listed && !dp_compat_may_list())
		return NULL;
	for (; left; left--) {
		struct dp_followed *f = dp_followed_at(pool, i);

		if (pool->listed ? dp_followed_take_node(f) : take_stub(f))
			return f;
		i = i + 1 == pool->n ? 0 : i + 1;
	}
	return NULL;
}

void dp_followed_begin_stub(struct dp_followed *f, unsigned long *slot)
{
	f->call.back = *slot;
	smp_store_release(&f->state, DP_FOLLOWED_LIVE);
	WRITE_ONCE(*slot, dp_kernel_stub(f->stub));
}

/* The current task's, which so is not the last one that holds it */
void dp_followed_give_stub(struct dp_followed *f)
{
	struct dp_followed_pool *pool = f->pool;

	WRITE_ONCE(pool->hint, f->stub - pool->first);
	put_task_struct(f->task);
	/* After this store the pool may be freed. */
	smp_store_release(&f->state, DP_FOLLOWED_FREE);
}

void dp_followed_give(struct dp_followed *f)
{
	if (!f->pool->listed) {
		dp_followed_give_stub(f);
		return;
	}
	WRITE_ONCE(f->state, DP_FOLLOWED_FREE);
	dp_node_give(&f->node);
}

/* --- of control --- */

static bool is_dead(const struct task_struct *task)
{
	return READ_ONCE(task->__state) == TASK_DEAD && !dp_compat_on_cpu(task);
}

/* Of a dead task nobody else ends it. */
static bool settle_stub(struct dp_followed *f)
{
	u32 state = smp_load_acquire(&f->state);

	if (state != DP_FOLLOWED_LIVE || !is_dead(f->task))
		return state == DP_FOLLOWED_FREE;
	put_task_struct(f->task);
	dp_followed_has_ended(f);
	smp_store_release(&f->state, DP_FOLLOWED_FREE);
	return true;
}

/* A hit may take it meanwhile, and does the same. */
static bool settle_node(struct dp_followed *f)
{
	if (!dp_node_is_back(&f->node))
		return false;
	if (READ_ONCE(f->state) != DP_FOLLOWED_LIVE)
		return true;
	if (!dp_node_take(&f->node))
		return false;
	if (f->state == DP_FOLLOWED_LIVE)
		dp_followed_has_ended(f);
	WRITE_ONCE(f->state, DP_FOLLOWED_FREE);
	dp_node_give(&f->node);
	return true;
}

bool dp_followed_settle(struct dp_followed *f)
{
	return f->pool->listed ? settle_node(f) : settle_stub(f);
}

void dp_followed_list(struct dp_followed *f, void *room)
{
	dp_node_make(&f->node, room, dp_kernel_listed, &f->call);
}

/* Of a task that is seen here, the kernel does not put nodes back before RCU has waited. */
void dp_followed_leave_dead(void)
{
	struct task_struct *process, *task;

	rcu_read_lock();
	for_each_process_thread(process, task)
	{
		if (is_dead(task))
			dp_node_leave(task, dp_kernel_listed);
	}
	rcu_read_unlock();
}

/* --- of probes that run programs: behind each instance is a struct dp_exit_instance --- */

static struct dp_followed *followed_of(struct dp_exit_instance *v)
{
	return (struct dp_followed *)v - 1;
}

struct dp_exit_instance *dp_port_stub_take(u64 pool)
{
	struct dp_followed *f = dp_followed_take((void *)pool);

	return f ? (void *)(f + 1) : NULL;
}

u32 dp_port_stub_room(u64 pool)
{
	return ((const struct dp_followed_pool *)pool)->room;
}

void dp_port_stub_begin(struct dp_exit_instance *v, u64 slot)
{
	dp_followed_begin(followed_of(v), (unsigned long *)slot);
}

void dp_port_stub_give(struct dp_exit_instance *v)
{
	dp_followed_give(followed_of(v));
}

static void ends(struct dp_kernel_call *call, struct dp_regs *regs)
{
	struct dp_followed *f = container_of(call, struct dp_followed, call);
	struct dp_call_frame frame = { .regs = *regs };
	struct dp_hit hit = { .frame = &frame, .sp = dp_regs_sp(regs) };

	hit.alt_size = DP_ALT_UNKNOWN;
	dp_stub_end((void *)(f + 1), &hit);
	*regs = frame.regs;
}

/* Its program is given up where a hit of the same kind has been interrupted, or has called this. */
static void missed(struct dp_kernel_call *call)
{
	struct dp_followed *f = container_of(call, struct dp_followed, call);

	dp_stub_missed((void *)(f + 1));
}

void dp_followed_by_program(struct dp_followed *f)
{
	f->call.hits = true;
	f->call.missed = missed;
	f->call.handler = ends;
}
