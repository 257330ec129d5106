/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Searching in what is sorted. */
#ifndef DP_LINUX_BSEARCH_H
#define DP_LINUX_BSEARCH_H

#include <linux/types.h>

static inline void *bsearch(const void *key, const void *base, size_t n,
			    size_t size,
			    int (*compare)(const void *key, const void *at))
{
	const char *at;
	int order;

	for (; n; n = order > 0 ? n - n / 2 - 1 : n / 2) {
		at = (const char *)base + n / 2 * size;
		order = compare(key, at);
		if (!order)
			return (void *)at;
		if (order > 0)
			base = at + size;
	}
	return NULL;
}

#endif
