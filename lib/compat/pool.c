// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pool: memory for handlers; kmalloc and its relatives. */
#include "lib/compat/compat.h"
#include "lib/compat/pool.h"

/* Address space, not memory. Less where the limits allow no more. */
#define DP_POOL_SIZE (1ul << 30)
#define DP_POOL_SIZE_MIN (1ul << 22)

#define DP_BLOCK_USED 0x75736564u
#define DP_BLOCK_FREE 0x66726565u

/* In front of what the caller gets. */
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
	u64 head = __atomic_load_n(&pool->lists[class], __ATOMIC_ACQUIRE);
	struct block *block;
	u32 next;

	do {
		if (!(u32)head)
			return NULL;
		block = block_at(pool, (u32)head);
		next = __atomic_load_n(&block->next, __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(
		&pool->lists[class], &head, with_turn(head, next), false,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return block;
}

static void push(struct dp_pool *pool, struct block *block)
{
	u64 *list = &pool->lists[block->class];
	u64 head = __atomic_load_n(list, __ATOMIC_RELAXED);
	u32 number = number_of(pool, block);

	do {
		__atomic_store_n(&block->next, (u32)head, __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(
		list, &head, with_turn(head, number), false, __ATOMIC_RELEASE,
		__ATOMIC_RELAXED));
}

static struct block *cut(struct dp_pool *pool, unsigned int class)
{
	size_t bytes = (size_t)DP_POOL_UNIT << class;
	size_t used = __atomic_load_n(&pool->used, __ATOMIC_RELAXED);
	struct block *block;

	do {
		if (pool->size - used < bytes)
			return NULL;
	} while (!__atomic_compare_exchange_n(&pool->used, &used, used + bytes,
					      false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
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
	__atomic_store_n(&block->state, DP_BLOCK_USED, __ATOMIC_RELAXED);
	return block + 1;
}

/* A pointer that nobody got from here is told by where it is and what is there. */
static struct block *block_of(struct dp_pool *pool, const void *p)
{
	size_t at = (size_t)((const char *)p - pool->base);

	if (!pool->base || (const char *)p < pool->base ||
	    at > __atomic_load_n(&pool->used, __ATOMIC_RELAXED) ||
	    at % DP_POOL_UNIT != sizeof(struct block))
		return NULL;
	return (struct block *)p - 1;
}

int dp_pool_free(struct dp_pool *pool, void *p)
{
	struct block *block = block_of(pool, p);
	u32 used = DP_BLOCK_USED;

	if (!block || block->class >= DP_POOL_CLASSES ||
	    !__atomic_compare_exchange_n(&block->state, &used, DP_BLOCK_FREE,
					 false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
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

/* --- the one that kmalloc uses --- */

static struct dp_pool pool;

/* Whoever comes first reserves the region; of two at once, one gives it back. */
static struct dp_pool *the_pool(void)
{
	char *base = __atomic_load_n(&pool.base, __ATOMIC_ACQUIRE);
	size_t size = DP_POOL_SIZE;

	if (likely(base))
		return &pool;
	while (!(base = dp_map(size, DP_MAP_NORESERVE)))
		if ((size /= 2) < DP_POOL_SIZE_MIN)
			return NULL;
	/* The same for all who are here, or larger than what one of them has:
	 * so the smallest counts, and it is set before the base. */
	if (!__atomic_compare_exchange_n(&pool.size, &(size_t){ 0 }, size,
					 false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE) &&
	    __atomic_load_n(&pool.size, __ATOMIC_ACQUIRE) > size) {
		dp_unmap(base, size);
		return NULL;
	}
	dp_map_first((void **)&pool.base, base, size);
	return &pool;
}

void *kmalloc(size_t size, gfp_t gfp)
{
	struct dp_pool *from = the_pool();
	void *p;

	if (!from)
		return NULL;
	p = dp_pool_alloc(from, size);
	if (p && gfp & __GFP_ZERO)
		memset(p, 0, size);
	return p;
}

void *kzalloc(size_t size, gfp_t gfp)
{
	return kmalloc(size, gfp | __GFP_ZERO);
}

void *kmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	if (__builtin_mul_overflow(n, size, &size))
		return NULL;
	return kmalloc(size, gfp);
}

void *kcalloc(size_t n, size_t size, gfp_t gfp)
{
	return kmalloc_array(n, size, gfp | __GFP_ZERO);
}

void kfree(const void *p)
{
	if (ZERO_OR_NULL_PTR(p))
		return;
	if (dp_pool_free(&pool, (void *)p))
		printk(KERN_ERR "kfree: %px is not allocated\n", p);
}

size_t ksize(const void *p)
{
	return ZERO_OR_NULL_PTR(p) ? 0 : dp_pool_size(&pool, p);
}

void kfree_sensitive(const void *p)
{
	memset((void *)p, 0, ksize(p));
	barrier();
	kfree(p);
}

void *krealloc(const void *p, size_t size, gfp_t gfp)
{
	size_t have = ksize(p);
	void *fresh;

	if (!size) {
		kfree(p);
		return ZERO_SIZE_PTR;
	}
	if (have >= size)
		return (void *)p;
	fresh = kmalloc(size, gfp);
	if (!fresh)
		return NULL;
	memcpy(fresh, p, have);
	kfree(p);
	return fresh;
}

void *vmalloc(unsigned long size)
{
	return kmalloc(size, GFP_KERNEL);
}

void *vzalloc(unsigned long size)
{
	return kzalloc(size, GFP_KERNEL);
}

unsigned long __get_free_pages(gfp_t gfp, unsigned int order)
{
	/* Fresh from the kernel they are always zero. */
	return order > 10 ? 0 : (unsigned long)dp_map(4096ul << order, 0);
}

void free_pages(unsigned long addr, unsigned int order)
{
	if (addr && order <= 10)
		dp_unmap((void *)addr, 4096ul << order);
}

struct kmem_cache {
	size_t size;
	void (*ctor)(void *);
};

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned long flags,
				     void (*ctor)(void *))
{
	struct kmem_cache *cache;

	if (align > ARCH_KMALLOC_MINALIGN)
		return NULL;
	cache = kmalloc(sizeof(*cache), GFP_KERNEL);
	if (!cache)
		return NULL;
	cache->size = size;
	cache->ctor = ctor;
	return cache;
}

void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
{
	void *p = kmalloc(cache->size, gfp);

	if (p && cache->ctor)
		cache->ctor(p);
	return p;
}

void kmem_cache_free(struct kmem_cache *cache, void *p)
{
	kfree(p);
}
