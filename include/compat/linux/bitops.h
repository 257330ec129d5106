/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bits in arrays of longs. */
#ifndef DP_LINUX_BITOPS_H
#define DP_LINUX_BITOPS_H

#include <linux/compiler.h>

#define DP_BIT_WORD(nr, p) (&((unsigned long *)(p))[(unsigned long)(nr) / 64])
#define DP_BIT_MASK(nr) (1UL << ((unsigned long)(nr) % 64))
#define set_bit(nr, p) \
	((void)__atomic_fetch_or(DP_BIT_WORD(nr, p), DP_BIT_MASK(nr), __ATOMIC_SEQ_CST))
#define clear_bit(nr, p) \
	((void)__atomic_fetch_and(DP_BIT_WORD(nr, p), ~DP_BIT_MASK(nr), __ATOMIC_SEQ_CST))
#define change_bit(nr, p) \
	((void)__atomic_fetch_xor(DP_BIT_WORD(nr, p), DP_BIT_MASK(nr), __ATOMIC_SEQ_CST))
#define test_bit(nr, p) \
	(!!(__atomic_load_n(DP_BIT_WORD(nr, p), __ATOMIC_RELAXED) & DP_BIT_MASK(nr)))
#define test_and_set_bit(nr, p) \
	(!!(__atomic_fetch_or(DP_BIT_WORD(nr, p), DP_BIT_MASK(nr), __ATOMIC_SEQ_CST) & DP_BIT_MASK(nr)))
#define test_and_clear_bit(nr, p) \
	(!!(__atomic_fetch_and(DP_BIT_WORD(nr, p), ~DP_BIT_MASK(nr), __ATOMIC_SEQ_CST) & DP_BIT_MASK(nr)))
#define test_and_change_bit(nr, p) \
	(!!(__atomic_fetch_xor(DP_BIT_WORD(nr, p), DP_BIT_MASK(nr), __ATOMIC_SEQ_CST) & DP_BIT_MASK(nr)))
#define __set_bit set_bit
#define __clear_bit clear_bit
#define __change_bit change_bit
#define __test_and_set_bit test_and_set_bit
#define __test_and_clear_bit test_and_clear_bit
#define assign_bit(nr, p, v) ((v) ? set_bit(nr, p) : clear_bit(nr, p))
#define ffs(x) __builtin_ffs(x)
#define ffz(x) __ffs(~(x))
#define BITS_PER_TYPE(type) (sizeof(type) * 8)
#define for_each_set_bit(bit, p, size)                     \
	for ((bit) = 0; (bit) < (size); (bit)++)           \
		if (!test_bit(bit, p))                     \
			continue;                          \
		else
#define hweight32(x) ((unsigned int)__builtin_popcount(x))
#define hweight64(x) ((unsigned int)__builtin_popcountll(x))
#define hweight_long hweight64
#define fls(x) ((x) ? 32 - __builtin_clz(x) : 0)
#define fls64(x) ((x) ? 64 - __builtin_clzll(x) : 0)
#define __ffs(x) ((unsigned long)__builtin_ctzl(x))
#define __fls(x) (63UL - (unsigned long)__builtin_clzl(x))
#define ilog2(x) (63 - __builtin_clzll((unsigned long long)(x)))
#define order_base_2(x) ((x) > 1 ? ilog2((x) - 1) + 1 : 0)
#define is_power_of_2(x) ((x) != 0 && ((x) & ((x) - 1)) == 0)
#define roundup_pow_of_two(x) (1UL << order_base_2(x))

#endif
