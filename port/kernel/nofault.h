/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* nofault: what the hit half's inlines have done for them. Context: as of port.h. */
#ifndef DP_KERNEL_NOFAULT_H
#define DP_KERNEL_NOFAULT_H

#include "port_types.h"

/** dp_kernel_read() - read memory of the kernel, or of the current task's process if it is there
 *  already. Return: 0; -EFAULT, never a fault that sleeps */
int dp_kernel_read(void *to, u64 from, size_t len);

/** dp_kernel_task_lives() - is there a thread with that id, in the first namespace? */
bool dp_kernel_task_lives(u32 tid);

#endif
