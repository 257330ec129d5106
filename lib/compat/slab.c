// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* slab: kmalloc and its relatives, out of one pool. */
#include "lib/compat/compat.h"
#include "lib/compat/pool.h"

/* Reserved address space, not memory. The size is halved where a limit is smaller. */
#define DP_POOL_SIZE (1ul << 30)
#define DP_POOL_SIZE_MIN (1ul << 22)

static struct dp_pool pool;

/* The first thread reserves the area. Of two threads at once, one unmaps its own. */
static struct dp_pool *the_pool(void)
{
	char *base = smp_load_acquire(&pool.base);
	size_t size = DP_POOL_SIZE;

	if (likely(base))
		return &pool;
	while (!(base = dp_map(size, DP_MAP_NORESERVE)))
		if ((size /= 2) < DP_POOL_SIZE_MIN)
			return NULL;
	/* The first size set holds for all threads, and it is set before the base. A
	 * thread whose area is smaller gives up. */
	if (!try_cmpxchg(&pool.size, &(size_t){ 0 }, size) &&
	    smp_load_acquire(&pool.size) > size) {
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
	/* Fresh pages from the kernel are always zero. */
	return order > 10 ? 0 : (unsigned long)dp_map(4096ul << order, 0);
}

void free_pages(unsigned long addr, unsigned int order)
{
	if (addr && order <= 10)
		dp_unmap((void *)addr, 4096ul << order);
}

void *kmemdup(const void *p, size_t n, gfp_t gfp)
{
	void *copy = kmalloc(n, gfp);

	return copy ? memcpy(copy, p, n) : NULL;
}

char *kstrndup(const char *s, size_t max, gfp_t gfp)
{
	size_t n;
	char *copy;

	if (!s)
		return NULL;
	n = strnlen(s, max);
	copy = kmalloc(n + 1, gfp);
	if (!copy)
		return NULL;
	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *kstrdup(const char *s, gfp_t gfp)
{
	return kstrndup(s, (size_t)-1 - 1, gfp);
}

char *kvasprintf(gfp_t gfp, const char *fmt, va_list args)
{
	va_list again;
	char *buf;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	buf = kmalloc((size_t)n + 1, gfp);
	if (buf)
		vsnprintf(buf, (size_t)n + 1, fmt, args);
	return buf;
}

char *kasprintf(gfp_t gfp, const char *fmt, ...)
{
	return DP_VARIADIC(kvasprintf(gfp, fmt, args));
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
