// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nofault: memory that may be bad, and threads, looked at from any context. */
#include "port/kernel/nofault.h"
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

int dp_kernel_read(void *to, u64 from, size_t len)
{
	long err;

	if (from < TASK_SIZE_MAX)
		err = copy_from_user_nofault(to, (const void __user *)from,
					     len);
	else
		err = copy_from_kernel_nofault(to, (const void *)from, len);
	return err ? -EFAULT : 0;
}

bool dp_kernel_task_lives(u32 tid)
{
	bool lives;

	if (tid & DP_KERNEL_IDLE)
		return true;
	tid &= DP_KERNEL_TASK;
	rcu_read_lock();
	lives = pid_task(find_pid_ns((int)tid, &init_pid_ns), PIDTYPE_PID);
	rcu_read_unlock();
	return lives;
}
