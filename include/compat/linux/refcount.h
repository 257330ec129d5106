/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reference counts. */
#ifndef DP_LINUX_REFCOUNT_H
#define DP_LINUX_REFCOUNT_H

#include <linux/atomic.h>

typedef struct {
	atomic_t refs;
} refcount_t;

#define REFCOUNT_INIT(n) { .refs = ATOMIC_INIT(n) }
#define refcount_set(r, n) atomic_set(&(r)->refs, n)
#define refcount_read(r) ((unsigned int)atomic_read(&(r)->refs))
#define refcount_inc(r) atomic_inc(&(r)->refs)
#define refcount_dec(r) atomic_dec(&(r)->refs)
#define refcount_inc_not_zero(r) atomic_inc_not_zero(&(r)->refs)
#define refcount_dec_and_test(r) atomic_dec_and_test(&(r)->refs)

#endif
