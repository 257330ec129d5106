/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory from a pool of our own. */
#ifndef DP_LINUX_SLAB_H
#define DP_LINUX_SLAB_H

#include <linux/types.h>
#include <linux/gfp.h>
#include <linux/compiler.h>

#define ZERO_SIZE_PTR ((void *)16)
#define ZERO_OR_NULL_PTR(p) ((unsigned long)(p) <= 16)
#define KMALLOC_MAX_SIZE (1UL << 22)
#define ARCH_KMALLOC_MINALIGN 16

/**
 * kmalloc() - memory, aligned to 16 bytes
 * @gfp: __GFP_ZERO counts; otherwise all are the same
 *
 * Context: any; lock-free and async-signal-safe.
 * Return: NULL if there is none, or for more than KMALLOC_MAX_SIZE.
 */
void *kmalloc(size_t size, gfp_t gfp) DP_COMPAT(kmalloc) __malloc;
void *kzalloc(size_t size, gfp_t gfp) DP_COMPAT(kzalloc) __malloc;
void *kcalloc(size_t n, size_t size, gfp_t gfp) DP_COMPAT(kcalloc) __malloc;
void *kmalloc_array(size_t n, size_t size, gfp_t gfp) DP_COMPAT(kmalloc_array)
	__malloc;
void *krealloc(const void *p, size_t size, gfp_t gfp) DP_COMPAT(krealloc);
/** kfree() - NULL is nothing; what is not ours, or free already, is told by printk
 *  and left alone. Context: any. */
void kfree(const void *p) DP_COMPAT(kfree);
void kfree_sensitive(const void *p) DP_COMPAT(kfree_sensitive);
size_t ksize(const void *p) DP_COMPAT(ksize);
#define kzfree kfree_sensitive
#define kvfree kfree
#define kvmalloc kmalloc
#define kvzalloc kzalloc
#define kmalloc_node(size, gfp, node) kmalloc(size, gfp)
#define kzalloc_node(size, gfp, node) kzalloc(size, gfp)

/* Objects of one size. */
#define SLAB_HWCACHE_ALIGN 0u
#define SLAB_PANIC 0u
#define SLAB_ATOMIC GFP_ATOMIC
struct kmem_cache;
struct kmem_cache *kmem_cache_create(const char *name, unsigned int size,
				     unsigned int align, unsigned long flags,
				     void (*ctor)(void *))
	DP_COMPAT(kmem_cache_create);
void kmem_cache_destroy(struct kmem_cache *cache) DP_COMPAT(kfree);
void *kmem_cache_alloc(struct kmem_cache *cache, gfp_t gfp)
	DP_COMPAT(kmem_cache_alloc);
void kmem_cache_free(struct kmem_cache *cache, void *p)
	DP_COMPAT(kmem_cache_free);
#define kmem_cache_zalloc(cache, gfp) kmem_cache_alloc(cache, (gfp) | __GFP_ZERO)
#define KMEM_CACHE(type, flags) \
	kmem_cache_create(#type, sizeof(struct type), 0, flags, NULL)

#endif
