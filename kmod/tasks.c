// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tasks: where tasks are that the scheduler has taken off their CPUs.
 *
 * RCU for tasks knows when each has left by itself where it was preempted. Kernels have that only if
 * something of their own asks for it. In others all CPUs are stopped, and the stacks are looked at:
 *
 *     interrupt ─► what it pushes: ip, cs, flags, sp, ss ─► schedule()     the task stays on its queue
 *     hit ─► dp_kernel_preempt() ─► schedule()                             it does, too
 *     call that sleeps ─► schedule()                                       it does not
 *
 * A copy calls nothing, and what a detour calls keeps preemption off but for these two. What looks so may be
 * left from an earlier interrupt. That delays, until the task has gone on.
 */
#include "kmod/tasks.h"
#include "port/kernel/compat.h"
#include "port/kernel/hit.h"
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/stop_machine.h>

/* Milliseconds between two looks */
#define PACE 5
/* Words of what an interrupt pushes */
#define FRAME 5

/* What runs now is the work that stops the CPUs, and an idle task is never preempted. */
static bool was_preempted(const struct task_struct *task)
{
	return READ_ONCE(task->on_rq) && !dp_compat_on_cpu(task);
}

/* Has an interrupt pushed that? Behind an entry from user space, the processor has no ss. */
static bool is_frame(const u64 *ip, const u64 *end)
{
	u16 cs, ss;
	u64 sp;

	if (end - ip < FRAME)
		return false;
	cs = (u16)ip[1];
	sp = ip[3];
	ss = (u16)ip[4];
	return cs == __KERNEL_CS && (ss == __KERNEL_DS || !ss) &&
	       sp >= (u64)(ip + FRAME) && sp <= (u64)end;
}

static bool is_task_in(const struct task_struct *task,
		       bool (*is_in)(void *arg, u64 addr), void *arg)
{
	const u64 *end = task_stack_page(task) + THREAD_SIZE,
		  *word = (const u64 *)task->thread.sp;

	for (; word < end; word++)
		if (is_frame(word, end) && is_in(arg, *word))
			return true;
	return false;
}

bool dp_tasks_in(bool (*is_in)(void *arg, u64 addr), void *arg)
{
	const struct task_struct *process, *task;
	bool in = false;

	rcu_read_lock();
	for_each_process_thread(process, task) in =
		in || (was_preempted(task) && is_task_in(task, is_in, arg));
	rcu_read_unlock();
	return in;
}

static bool is_ours(void *unused, u64 addr)
{
	return within_module_core((unsigned long)addr, THIS_MODULE);
}

static bool is_at_end(const struct task_struct *task)
{
	const u64 *end = task_stack_page(task) + THREAD_SIZE,
		  *word = (const u64 *)task->thread.sp;

	for (; word < end; word++)
		if (*word - (u64)dp_kernel_preempt < DP_KERNEL_PREEMPT_BYTES)
			return true;
	return false;
}

static int look(void *left)
{
	const struct task_struct *process, *task;
	bool in = dp_tasks_in(is_ours, NULL);

	rcu_read_lock();
	for_each_process_thread(process, task)
		in = in || (was_preempted(task) && is_at_end(task));
	rcu_read_unlock();
	*(bool *)left = !in;
	return 0;
}

void dp_tasks_wait(void)
{
	bool left = false;

	if (DP_KERNEL_HAS_RCU_TASKS) {
		synchronize_rcu_tasks();
		return;
	}
	while (stop_machine(look, &left, NULL) || !left)
		msleep(PACE);
}
