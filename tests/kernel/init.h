/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* init: the parts of the guest's first program. */
#ifndef DP_KERNEL_INIT_H
#define DP_KERNEL_INIT_H

/** dp_facts_write() - leave facts about the kernel's instructions for the test module. Return: how many */
unsigned int dp_facts_write(void);

#endif
