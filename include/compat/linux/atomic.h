/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Atomic integers. All of them are lock-free and may be used in any handler. */
#ifndef DP_LINUX_ATOMIC_H
#define DP_LINUX_ATOMIC_H

#include <linux/types.h>

#define ATOMIC_INIT(i) { (i) }
#define ATOMIC64_INIT(i) { (i) }
#define ATOMIC_LONG_INIT(i) { (i) }

static inline int atomic_read(const atomic_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic_set(atomic_t *v, int i)
{
	__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED);
}

static inline void atomic_add(int i, atomic_t *v)
{
	__atomic_fetch_add(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline void atomic_sub(int i, atomic_t *v)
{
	__atomic_fetch_sub(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline void atomic_inc(atomic_t *v)
{
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_SEQ_CST);
}

static inline void atomic_dec(atomic_t *v)
{
	__atomic_fetch_sub(&v->counter, 1, __ATOMIC_SEQ_CST);
}

static inline int atomic_add_return(int i, atomic_t *v)
{
	return __atomic_add_fetch(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_sub_return(int i, atomic_t *v)
{
	return __atomic_sub_fetch(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_fetch_add(int i, atomic_t *v)
{
	return __atomic_fetch_add(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_fetch_sub(int i, atomic_t *v)
{
	return __atomic_fetch_sub(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_fetch_or(int i, atomic_t *v)
{
	return __atomic_fetch_or(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_fetch_and(int i, atomic_t *v)
{
	return __atomic_fetch_and(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_xchg(atomic_t *v, int i)
{
	return __atomic_exchange_n(&v->counter, i, __ATOMIC_SEQ_CST);
}

/* Return: what was there; @i is there now if that was @old. */
static inline int atomic_cmpxchg(atomic_t *v, int old, int i)
{
	__atomic_compare_exchange_n(&v->counter, &old, i, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

static inline bool atomic_add_unless(atomic_t *v, int i, int unless)
{
	int old = atomic_read(v);

	do {
		if (old == unless)
			return false;
	} while (!__atomic_compare_exchange_n(&v->counter, &old, old + i, false,
					      __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return true;
}

#define atomic_inc_return(v) atomic_add_return(1, v)
#define atomic_dec_return(v) atomic_sub_return(1, v)
#define atomic_fetch_inc(v) atomic_fetch_add(1, v)
#define atomic_fetch_dec(v) atomic_fetch_sub(1, v)
#define atomic_inc_and_test(v) (atomic_add_return(1, v) == 0)
#define atomic_dec_and_test(v) (atomic_sub_return(1, v) == 0)
#define atomic_sub_and_test(i, v) (atomic_sub_return(i, v) == 0)
#define atomic_add_negative(i, v) (atomic_add_return(i, v) < 0)
#define atomic_inc_not_zero(v) atomic_add_unless(v, 1, 0)
#define atomic_or(i, v) ((void)atomic_fetch_or(i, v))
#define atomic_and(i, v) ((void)atomic_fetch_and(i, v))
#define atomic_read_acquire(v) __atomic_load_n(&(v)->counter, __ATOMIC_ACQUIRE)
#define atomic_set_release(v, i) __atomic_store_n(&(v)->counter, i, __ATOMIC_RELEASE)

static inline s64 atomic64_read(const atomic64_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic64_set(atomic64_t *v, s64 i)
{
	__atomic_store_n(&v->counter, i, __ATOMIC_RELAXED);
}

static inline void atomic64_add(s64 i, atomic64_t *v)
{
	__atomic_fetch_add(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline void atomic64_sub(s64 i, atomic64_t *v)
{
	__atomic_fetch_sub(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline void atomic64_inc(atomic64_t *v)
{
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_SEQ_CST);
}

static inline void atomic64_dec(atomic64_t *v)
{
	__atomic_fetch_sub(&v->counter, 1, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_add_return(s64 i, atomic64_t *v)
{
	return __atomic_add_fetch(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_sub_return(s64 i, atomic64_t *v)
{
	return __atomic_sub_fetch(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_fetch_add(s64 i, atomic64_t *v)
{
	return __atomic_fetch_add(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_fetch_sub(s64 i, atomic64_t *v)
{
	return __atomic_fetch_sub(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_fetch_or(s64 i, atomic64_t *v)
{
	return __atomic_fetch_or(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_fetch_and(s64 i, atomic64_t *v)
{
	return __atomic_fetch_and(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline s64 atomic64_xchg(atomic64_t *v, s64 i)
{
	return __atomic_exchange_n(&v->counter, i, __ATOMIC_SEQ_CST);
}

/* Return: what was there; @i is there now if that was @old. */
static inline s64 atomic64_cmpxchg(atomic64_t *v, s64 old, s64 i)
{
	__atomic_compare_exchange_n(&v->counter, &old, i, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return old;
}

static inline bool atomic64_add_unless(atomic64_t *v, s64 i, s64 unless)
{
	s64 old = atomic64_read(v);

	do {
		if (old == unless)
			return false;
	} while (!__atomic_compare_exchange_n(&v->counter, &old, old + i, false,
					      __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return true;
}

#define atomic64_inc_return(v) atomic64_add_return(1, v)
#define atomic64_dec_return(v) atomic64_sub_return(1, v)
#define atomic64_fetch_inc(v) atomic64_fetch_add(1, v)
#define atomic64_fetch_dec(v) atomic64_fetch_sub(1, v)
#define atomic64_inc_and_test(v) (atomic64_add_return(1, v) == 0)
#define atomic64_dec_and_test(v) (atomic64_sub_return(1, v) == 0)
#define atomic64_sub_and_test(i, v) (atomic64_sub_return(i, v) == 0)
#define atomic64_add_negative(i, v) (atomic64_add_return(i, v) < 0)
#define atomic64_inc_not_zero(v) atomic64_add_unless(v, 1, 0)
#define atomic64_or(i, v) ((void)atomic64_fetch_or(i, v))
#define atomic64_and(i, v) ((void)atomic64_fetch_and(i, v))
#define atomic64_read_acquire(v) __atomic_load_n(&(v)->counter, __ATOMIC_ACQUIRE)
#define atomic64_set_release(v, i) __atomic_store_n(&(v)->counter, i, __ATOMIC_RELEASE)

#define atomic_long_read atomic64_read
#define atomic_long_set atomic64_set
#define atomic_long_add atomic64_add
#define atomic_long_sub atomic64_sub
#define atomic_long_inc atomic64_inc
#define atomic_long_dec atomic64_dec
#define atomic_long_add_return atomic64_add_return
#define atomic_long_sub_return atomic64_sub_return
#define atomic_long_fetch_add atomic64_fetch_add
#define atomic_long_fetch_sub atomic64_fetch_sub
#define atomic_long_xchg atomic64_xchg
#define atomic_long_cmpxchg atomic64_cmpxchg
#define atomic_long_add_unless atomic64_add_unless
#define atomic_long_inc_return atomic64_inc_return
#define atomic_long_dec_return atomic64_dec_return
#define atomic_long_fetch_inc atomic64_fetch_inc
#define atomic_long_fetch_dec atomic64_fetch_dec
#define atomic_long_inc_and_test atomic64_inc_and_test
#define atomic_long_dec_and_test atomic64_dec_and_test
#define atomic_long_sub_and_test atomic64_sub_and_test
#define atomic_long_add_negative atomic64_add_negative
#define atomic_long_inc_not_zero atomic64_inc_not_zero

/* Any word of 1, 2, 4 or 8 bytes. */
#define xchg(ptr, v) __atomic_exchange_n(ptr, v, __ATOMIC_SEQ_CST)
/* Return: whether *@ptr was *@old, and is @v now; otherwise *@old is what was there. */
#define try_cmpxchg(ptr, old, v)                           \
	__atomic_compare_exchange_n(ptr, old, v, false,    \
				    __ATOMIC_SEQ_CST,      \
				    __ATOMIC_SEQ_CST)
#define cmpxchg(ptr, old, v)                       \
	({                                         \
		__typeof__(*(ptr)) dp_old = (old); \
		try_cmpxchg(ptr, &dp_old, v);      \
		dp_old;                            \
	})
#define cmpxchg64 cmpxchg
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define mb() smp_mb()
#define rmb() smp_rmb()
#define wmb() smp_wmb()
#define smp_mb__before_atomic() barrier()
#define smp_mb__after_atomic() barrier()
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)

#endif
