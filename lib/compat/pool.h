/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pool: memory for handlers.
 *
 * An area is reserved once and cut into blocks of 32 bytes to 4 MB. A block and its header
 * together are a power of two. Freed blocks wait in one list a size, linked by their
 * numbers. The head of a list has a turn that changes with every operation, so a thread
 * that was interrupted in an operation notices. The area stays mapped, so a stale link
 * can be read.
 */
#ifndef DP_LIB_COMPAT_POOL_H
#define DP_LIB_COMPAT_POOL_H

#include <linux/types.h>

#define DP_POOL_UNIT 32 /* bytes of the smallest block */
#define DP_POOL_CLASSES 18 /* the largest is DP_POOL_UNIT << 17, 4 MB */

/**
 * struct dp_pool - one area
 * @base, @size: of the area
 * @used: bytes from its beginning that have been cut into blocks
 * @lists: by class: a turn in the high half; in the low half the number of the first free
 *         block plus 1, in units of DP_POOL_UNIT
 */
struct dp_pool {
	char *base;
	size_t size;
	size_t used;
	u64 lists[DP_POOL_CLASSES];
};

/** dp_pool_alloc() - Context: any; lock-free. Return: memory, 16-byte aligned and not
 *  cleared; NULL if there is none or @size is too large. */
void *dp_pool_alloc(struct dp_pool *pool, size_t size);
/** dp_pool_free() - Return: 0; -EINVAL @p is not a block in use, and nothing is done.
 *  Context: any; lock-free. */
int dp_pool_free(struct dp_pool *pool, void *p);
/** dp_pool_size() - usable bytes at @p; 0 if @p is not a block in use */
size_t dp_pool_size(struct dp_pool *pool, const void *p);

#endif
