/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kinds of allocation: they all do the same but for __GFP_ZERO. */
#ifndef DP_LINUX_GFP_H
#define DP_LINUX_GFP_H

#include <linux/types.h>

#define __GFP_ZERO 0x1u
#define __GFP_NOWARN 0u
#define __GFP_NORETRY 0u
#define __GFP_HIGH 0u
#define __GFP_NOFAIL 0u
#define __GFP_COMP 0u
#define __GFP_ACCOUNT 0u
#define GFP_KERNEL 0x2u
#define GFP_ATOMIC 0x4u
#define GFP_NOWAIT 0x4u
#define GFP_NOIO 0x2u
#define GFP_NOFS 0x2u
#define GFP_USER 0x2u
#define GFP_HIGHUSER 0x2u
#define GFP_DMA 0u
#define GFP_KERNEL_ACCOUNT GFP_KERNEL

/* Whole pages. Context: any. */
unsigned long __get_free_pages(gfp_t gfp, unsigned int order)
	DP_COMPAT(get_free_pages);
void free_pages(unsigned long addr, unsigned int order) DP_COMPAT(free_pages);
#define __get_free_page(gfp) __get_free_pages(gfp, 0)
#define get_zeroed_page(gfp) __get_free_pages((gfp) | __GFP_ZERO, 0)
#define free_page(addr) free_pages(addr, 0)

#endif
