// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* nofault: memory that may be bad, and threads, looked at from any context. */
#include "port/kernel/nofault.h"
#include "port/kernel/hit.h"
#include "port/kernel/readers.h"
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/vsyscall.h>

/* Where readers read: see readers.S. The last page that has anything is one that user space executes. */
extern u64 dp_kernel_lowest, dp_kernel_highest;
extern u8 dp_kernel_preempts;
u64 dp_kernel_lowest = ~0ull, dp_kernel_highest;
u8 dp_kernel_preempts;

void dp_kernel_readers_begin(void)
{
	dp_kernel_lowest = ~0ull << __VIRTUAL_MASK_SHIFT;
	dp_kernel_highest = VSYSCALL_ADDR - sizeof(u64);
	dp_kernel_preempts = !preempt_model_none() &&
			     !preempt_model_voluntary();
}

/* The kernel warns of other addresses, where it would only fail for one that is not mapped. What the processor could
 * translate, it may not have been told to. */
static bool is_kernels(u64 from, size_t len)
{
	const u8 bits = __VIRTUAL_MASK_SHIFT + 1;

	return !dp_kernel_is_users() && from >= TASK_SIZE_MAX &&
	       from + len > from && __is_canonical_address(from, bits) &&
	       __is_canonical_address(from + len - 1, bits);
}

int dp_kernel_read(void *to, u64 from, size_t len)
{
	long err = -EFAULT;

	if (from < TASK_SIZE_MAX)
		err = copy_from_user_nofault(to, (const void __user *)from,
					     len);
	else if (is_kernels(from, len))
		err = copy_from_kernel_nofault(to, (const void *)from, len);
	return err ? -EFAULT : 0;
}

static long (*store)(void *to, const void *from, size_t len);

void dp_kernel_set_store(u64 addr)
{
	store = (void *)addr;
}

/* As for the kernel's own programs: a task that ends, or that has no memory, has borrowed what is there. */
static bool has_memory(void)
{
	return (!dp_kernel_context() || dp_kernel_is_users()) &&
	       !(current->flags & (PF_KTHREAD | PF_EXITING));
}

int dp_kernel_write(u64 to, const void *from, size_t len)
{
	long err = -EFAULT;

	if (to < TASK_SIZE_MAX && has_memory()) {
		/* A breakpoint's hit looks like an NMI's, of which a kernel that looks for mistakes complains. */
		pagefault_disable();
		err = copy_to_user_nofault((void __user *)to, from, len);
		pagefault_enable();
	} else if (is_kernels(to, len) && store)
		err = store((void *)to, from, len);
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
