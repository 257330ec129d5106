/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pages. */
#ifndef DP_LINUX_MM_H
#define DP_LINUX_MM_H

#include <linux/kernel.h>
#include <linux/gfp.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#ifndef PAGE_SIZE
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))
#endif
#define THREAD_SIZE (4 * PAGE_SIZE)
#define PAGE_ALIGN(addr) ALIGN(addr, PAGE_SIZE)
#define offset_in_page(p) ((unsigned long)(p) & ~PAGE_MASK)
#define virt_addr_valid(p) ((unsigned long)(p) >= PAGE_SIZE)
struct vm_area_struct;
struct page;

#endif
