/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nofault: what the hit half's inlines have done for them. Context: as of port.h. */
#ifndef DP_KERNEL_NOFAULT_H
#define DP_KERNEL_NOFAULT_H

#include "port_types.h"

/** dp_kernel_read() - read memory of the kernel, or of the current task's process if it is there
 *  already; within a hit of user space's only of that. Return: 0; -EFAULT, never a fault that sleeps */
int dp_kernel_read(void *to, u64 from, size_t len);

/**
 * dp_kernel_write() - write memory of the kernel, or of the current task's process if it is there already
 *
 * Of a process in task context alone: what interrupts may have interrupted any. Within a hit of user space's only of
 * its process.
 * Context: within a hit. Return: 0; -EFAULT, never a fault that sleeps
 */
int dp_kernel_write(u64 to, const void *from, size_t len);

/** dp_kernel_set_store() - where the kernel has its copy_to_kernel_nofault(). Without it no memory of the
 *  kernel can be written. */
void dp_kernel_set_store(u64 store);

/* Of a thread's id: the bits of the task's; an idle task, whose bits are its CPU's number; and where the
 * number of what has interrupted it begins: 1 softirq, 2 interrupt, 3 NMI */
#define DP_KERNEL_TASK 0x3ffffff
#define DP_KERNEL_IDLE 0x4000000
#define DP_KERNEL_CONTEXT 28

/** dp_kernel_thread() - an id for what the CPU does: what interrupts a task is a thread of its own, on another
 *  stack. Context: within a hit. Return: not 0 */
u32 dp_kernel_thread(void);

/** dp_kernel_task_lives() - is there a thread with that id, in the first namespace? */
bool dp_kernel_task_lives(u32 tid);

/** dp_kernel_fs_base() - of the current task in user space; dp_kernel_gs_base()
 *  Context: within a hit of user space's. */
u64 dp_kernel_fs_base(void);
u64 dp_kernel_gs_base(void);

#endif
