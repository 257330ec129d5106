/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Assertions. A warning is printed; nothing is ended but by BUG(). */
#ifndef DP_LINUX_BUG_H
#define DP_LINUX_BUG_H

#include <linux/compiler.h>
#include <linux/printk.h>

/* A bug in a module must not take the program along: BUG() raises SIGILL, which
 * ends the handler and disables its probe. */
#define BUG()                                                               \
	do {                                                                \
		printk(KERN_CRIT "kernel BUG at %s:%d!\n", __FILE__, __LINE__); \
		__builtin_trap();                                           \
	} while (0)
#define BUG_ON(condition)                   \
	do {                                \
		if (unlikely(condition))    \
			BUG();              \
	} while (0)
#define WARN(condition, fmt, ...)                                          \
	({                                                                 \
		int dp_warn = !!(condition);                               \
		if (unlikely(dp_warn))                                     \
			printk(KERN_WARNING "WARNING: %s:%d %s: " fmt,     \
			       __FILE__, __LINE__, __func__, ##__VA_ARGS__); \
		unlikely(dp_warn);                                         \
	})
#define WARN_ON(condition)                                                 \
	({                                                                 \
		int dp_warn = !!(condition);                               \
		if (unlikely(dp_warn))                                     \
			printk(KERN_WARNING "WARNING: %s:%d %s\n",         \
			       __FILE__, __LINE__, __func__);              \
		unlikely(dp_warn);                                         \
	})
#define WARN_ON_ONCE(condition)                                            \
	({                                                                 \
		static char dp_warned;                                     \
		int dp_bad = !!(condition);                                \
		if (unlikely(dp_bad) &&                                    \
		    !__atomic_exchange_n(&dp_warned, 1, __ATOMIC_RELAXED)) \
			WARN_ON(1);                                        \
		unlikely(dp_bad);                                          \
	})
#define WARN_ONCE(condition, fmt, ...)                                     \
	({                                                                 \
		static char dp_warned;                                     \
		int dp_bad = !!(condition);                                \
		if (unlikely(dp_bad) &&                                    \
		    !__atomic_exchange_n(&dp_warned, 1, __ATOMIC_RELAXED)) \
			WARN(1, fmt, ##__VA_ARGS__);                       \
		unlikely(dp_bad);                                          \
	})
#define BUILD_BUG_ON_MSG(condition, text) \
	_Static_assert(!(condition), text)
#define BUILD_BUG_ON(condition)                                 \
	do {                                                    \
		_Static_assert(!(condition), #condition);       \
	} while (0)
#define BUILD_BUG_ON_ZERO(e) ((int)sizeof(struct { int : (-!!(e)); }))

#endif
