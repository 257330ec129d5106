/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The current thread. */
#ifndef DP_LINUX_SCHED_H
#define DP_LINUX_SCHED_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/smp.h>
#include <linux/preempt.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <dprobes/task.h>

/* The system's <linux/sched.h> is for clone(2); its flags are wanted, too. */
#include_next <linux/sched.h>

#define TASK_RUNNING 0
#define TASK_INTERRUPTIBLE 1
#define TASK_UNINTERRUPTIBLE 2
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

/* What the kernel's functions on open files take in place of a string. */
struct filename {
	const char *name;
	const char *uptr;
	int refcnt;
};

static inline pid_t task_pid_nr(const struct task_struct *task)
{
	return task->pid;
}

static inline pid_t task_tgid_nr(const struct task_struct *task)
{
	return task->tgid;
}

#define task_pid_vnr(task) task_pid_nr(task)
#define task_tgid_vnr(task) task_tgid_nr(task)
#define task_ppid_nr(task) ((task)->real_parent->tgid)
#define task_cpu(task) ((void)(task), raw_smp_processor_id())
#define thread_group_leader(task) ((task)->pid == (task)->tgid)
#define get_task_comm(buf, task)                                    \
	({                                                          \
		_Static_assert(sizeof(buf) == TASK_COMM_LEN, "size"); \
		strscpy(buf, (task)->comm, sizeof(buf));            \
		buf;                                                \
	})
ssize_t strscpy(char *to, const char *from, size_t size) DP_COMPAT(strscpy);

void schedule(void) DP_COMPAT(yield);
void yield(void) DP_COMPAT(yield);
void dp_compat_nsleep(unsigned long ns);
/* Nobody wakes a thread that sleeps so, so MAX_SCHEDULE_TIMEOUT is centuries. */
#define MAX_SCHEDULE_TIMEOUT ((long)(~0UL >> 1))
static inline long schedule_timeout(long j)
{
	const long most = MAX_SCHEDULE_TIMEOUT / (1000000000L / HZ);

	dp_compat_nsleep((unsigned long)(j < most ? j : most) *
			 (1000000000UL / HZ));
	return 0;
}
#define schedule_timeout_interruptible(j) schedule_timeout(j)
#define schedule_timeout_uninterruptible(j) schedule_timeout(j)
#define set_current_state(s) ((void)(s))
#define __set_current_state(s) ((void)(s))
#define signal_pending(task) ((void)(task), 0)
#define fatal_signal_pending(task) ((void)(task), 0)

/* Other threads and processes are not known by their task_struct. */
void dp_absent_for_each_process(void)
	DP_ABSENT(for_each_process, "it knows no other threads than the current one");
#define for_each_process(p) for ((p) = NULL, dp_absent_for_each_process(); (p);)
#define for_each_thread(p, t) for ((t) = NULL, dp_absent_for_each_process(); (t);)
#define for_each_process_thread(p, t) for_each_thread(p, t)
#define do_each_thread(p, t) for_each_thread(p, t)
#define while_each_thread(p, t)
int wake_up_process(struct task_struct *task)
	DP_ABSENT(wake_up_process, "no thread sleeps so that another could wake it");
struct task_struct *get_task_struct(struct task_struct *task)
	DP_ABSENT(get_task_struct, "a task_struct lives as long as its thread");
void put_task_struct(struct task_struct *task)
	DP_ABSENT(put_task_struct, "a task_struct lives as long as its thread");
struct pt_regs *task_pt_regs(struct task_struct *task)
	DP_ABSENT(task_pt_regs, "a thread of a program enters no kernel here");

#endif
