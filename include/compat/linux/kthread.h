/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads of the kernel: there are none. */
#ifndef DP_LINUX_KTHREAD_H
#define DP_LINUX_KTHREAD_H

#include <linux/sched.h>
#include <linux/err.h>

struct task_struct *dp_absent_kthread_run(void)
	DP_ABSENT(kthread_run, "a module has no threads of its own");
#define kthread_run(...) dp_absent_kthread_run()
struct task_struct *dp_absent_kthread_create(void)
	DP_ABSENT(kthread_create, "a module has no threads of its own");
#define kthread_create(...) dp_absent_kthread_create()
struct task_struct *dp_absent_kthread_create_on_node(void)
	DP_ABSENT(kthread_create_on_node, "a module has no threads of its own");
#define kthread_create_on_node(...) dp_absent_kthread_create_on_node()
int dp_absent_kthread_stop(void)
	DP_ABSENT(kthread_stop, "a module has no threads of its own");
#define kthread_stop(...) dp_absent_kthread_stop()
int dp_absent_kthread_should_stop(void)
	DP_ABSENT(kthread_should_stop, "a module has no threads of its own");
#define kthread_should_stop(...) dp_absent_kthread_should_stop()
int dp_absent_kthread_bind(void)
	DP_ABSENT(kthread_bind, "a module has no threads of its own");
#define kthread_bind(...) dp_absent_kthread_bind()

#endif
