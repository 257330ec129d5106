/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* References that are counted. */
#ifndef DP_LINUX_KREF_H
#define DP_LINUX_KREF_H

#include <linux/atomic.h>

struct kref {
	atomic_t refcount;
};

#define KREF_INIT(n) { .refcount = ATOMIC_INIT(n) }

static inline void kref_init(struct kref *kref)
{
	atomic_set(&kref->refcount, 1);
}

static inline unsigned int kref_read(const struct kref *kref)
{
	return (unsigned int)atomic_read(&kref->refcount);
}

static inline void kref_get(struct kref *kref)
{
	atomic_inc(&kref->refcount);
}

static inline int kref_get_unless_zero(struct kref *kref)
{
	return atomic_add_unless(&kref->refcount, 1, 0);
}

/** kref_put() - Return: 1: it was the last, and @release has been called */
static inline int kref_put(struct kref *kref, void (*release)(struct kref *kref))
{
	if (!atomic_dec_and_test(&kref->refcount))
		return 0;
	release(kref);
	return 1;
}

#endif
