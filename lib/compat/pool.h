/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pool: memory for handlers.
 *
 * A region is reserved once and cut into blocks of 32 bytes to 4 MB, powers of
 * two with their header. Blocks that were given back wait in one list a size,
 * linked by their numbers; the head of a list carries a turn that changes with
 * every operation, so a thread that was interrupted in the middle of one notices.
 * The region stays mapped, so what it read meanwhile may be stale but never bad.
 */
#ifndef DP_LIB_COMPAT_POOL_H
#define DP_LIB_COMPAT_POOL_H

#include <linux/types.h>

#define DP_POOL_UNIT 32 /* bytes of the smallest block */
#define DP_POOL_CLASSES 18 /* the largest is DP_POOL_UNIT << 17, 4 MB */

/**
 * struct dp_pool - one region
 * @base, @size: it
 * @used: bytes from its beginning that have ever been cut off
 * @lists: of each class: a turn in the high half, in the low one the number of
 *         the first free block plus 1, in units of DP_POOL_UNIT
 */
struct dp_pool {
	char *base;
	size_t size;
	size_t used;
	u64 lists[DP_POOL_CLASSES];
};

/** dp_pool_alloc() - Context: any; lock-free. Return: 16-byte aligned memory, not
 *  cleared; NULL if there is none or @size is too large. */
void *dp_pool_alloc(struct dp_pool *pool, size_t size);
/** dp_pool_free() - Return: 0; -EINVAL @p is not a block in use, nothing is done.
 *  Context: any; lock-free. */
int dp_pool_free(struct dp_pool *pool, void *p);
/** dp_pool_size() - how much may be used at @p; 0 if it is not a block in use */
size_t dp_pool_size(struct dp_pool *pool, const void *p);

#endif
