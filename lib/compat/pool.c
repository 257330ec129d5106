// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pool: memory for handlers, cut into blocks. */
#include "lib/compat/compat.h"
#include "lib/compat/pool.h"

#define DP_BLOCK_USED 0x75736564u
#define DP_BLOCK_FREE 0x66726565u

/* The header in front of the caller's memory. */
struct block {
	u32 state;
	u32 class;
	u32 next; /* while it is free */
	u32 unused;
};

static struct block *block_at(struct dp_pool *pool, u32 number)
{
	return (struct block *)(pool->base +
				(size_t)(number - 1) * DP_POOL_UNIT);
}

static u32 number_of(struct dp_pool *pool, const struct block *block)
{
	return (u32)(((const char *)block - pool->base) / DP_POOL_UNIT) + 1;
}

static u64 with_turn(u64 head, u32 number)
{
	return ((head >> 32) + 1) << 32 | number;
}

static struct block *pop(struct dp_pool *pool, unsigned int class)
{
	u64 head = smp_load_acquire(&pool->lists[class]);
	struct block *block;
	u32 next;

	do {
		if (!(u32)head)
			return NULL;
		block = block_at(pool, (u32)head);
		next = READ_ONCE(block->next);
	} while (!try_cmpxchg(&pool->lists[class], &head,
			      with_turn(head, next)));
	return block;
}

static void push(struct dp_pool *pool, struct block *block)
{
	u64 *list = &pool->lists[block->class];
	u64 head = READ_ONCE(*list);
	u32 number = number_of(pool, block);

	do {
		WRITE_ONCE(block->next, (u32)head);
	} while (!try_cmpxchg(list, &head, with_turn(head, number)));
}

static struct block *cut(struct dp_pool *pool, unsigned int class)
{
	size_t bytes = (size_t)DP_POOL_UNIT << class;
	size_t used = READ_ONCE(pool->used);
	struct block *block;

	do {
		if (pool->size - used < bytes)
			return NULL;
	} while (!try_cmpxchg(&pool->used, &used, used + bytes));
	block = (struct block *)(pool->base + used);
	block->class = class;
	return block;
}

void *dp_pool_alloc(struct dp_pool *pool, size_t size)
{
	unsigned int class = 0;
	struct block *block;

	if (size >
	    ((size_t)DP_POOL_UNIT << (DP_POOL_CLASSES - 1)) - sizeof(*block))
		return NULL;
	while (((size_t)DP_POOL_UNIT << class) < size + sizeof(*block))
		class ++;
	block = pop(pool, class);
	if (!block)
		block = cut(pool, class);
	if (!block)
		return NULL;
	WRITE_ONCE(block->state, DP_BLOCK_USED);
	return block + 1;
}

/* Reject a pointer that the pool has not given out, by its address. */
static struct block *block_of(struct dp_pool *pool, const void *p)
{
	size_t at = (size_t)((const char *)p - pool->base);

	if (!pool->base || (const char *)p < pool->base ||
	    at > READ_ONCE(pool->used) ||
	    at % DP_POOL_UNIT != sizeof(struct block))
		return NULL;
	return (struct block *)p - 1;
}

int dp_pool_free(struct dp_pool *pool, void *p)
{
	struct block *block = block_of(pool, p);
	u32 used = DP_BLOCK_USED;

	if (!block || block->class >= DP_POOL_CLASSES ||
	    !try_cmpxchg(&block->state, &used, DP_BLOCK_FREE))
		return -EINVAL;
	push(pool, block);
	return 0;
}

size_t dp_pool_size(struct dp_pool *pool, const void *p)
{
	struct block *block = block_of(pool, p);

	if (!block || block->state != DP_BLOCK_USED)
		return 0;
	return ((size_t)DP_POOL_UNIT << block->class) - sizeof(*block);
}
