/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Large memory: the same pool. */
#ifndef DP_LINUX_VMALLOC_H
#define DP_LINUX_VMALLOC_H

#include <linux/slab.h>

void *vmalloc(unsigned long size) DP_COMPAT(vmalloc) __malloc;
void *vzalloc(unsigned long size) DP_COMPAT(vzalloc) __malloc;
#define vfree kfree

#endif
