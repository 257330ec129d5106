/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sorting. */
#ifndef DP_LINUX_SORT_H
#define DP_LINUX_SORT_H

#include <linux/types.h>
#include <linux/compiler.h>

/**
 * sort() - in place, by heap: without memory, in n log n steps
 * @exchange: NULL: bytes
 * Context: any.
 */
void sort(void *base, size_t n, size_t size,
	  int (*compare)(const void *a, const void *b),
	  void (*exchange)(void *a, void *b, int size)) DP_COMPAT(sort);

#endif
