/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What every kernel source expects to be there. */
#ifndef DP_LINUX_KERNEL_H
#define DP_LINUX_KERNEL_H

#if __has_include_next(<linux/kernel.h>)
#include_next <linux/kernel.h>
#endif
#include <stdarg.h>
#include <linux/compiler.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/limits.h>
#include <linux/errno.h>
#include <linux/printk.h>
#include <linux/bug.h>
#include <linux/kstrtox.h>
#include <linux/linkage.h>
#include <linux/bitops.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Each argument is evaluated once. */
#define min(x, y)                          \
	({                                 \
		__typeof__(x) dp_x = (x);  \
		__typeof__(y) dp_y = (y);  \
		dp_x < dp_y ? dp_x : dp_y; \
	})
#define max(x, y)                          \
	({                                 \
		__typeof__(x) dp_x = (x);  \
		__typeof__(y) dp_y = (y);  \
		dp_x > dp_y ? dp_x : dp_y; \
	})
#define min_t(type, x, y)                  \
	({                                 \
		type dp_tx = (x);          \
		type dp_ty = (y);          \
		dp_tx < dp_ty ? dp_tx : dp_ty; \
	})
#define max_t(type, x, y)                  \
	({                                 \
		type dp_tx = (x);          \
		type dp_ty = (y);          \
		dp_tx > dp_ty ? dp_tx : dp_ty; \
	})
#define min3(x, y, z)                                  \
	({                                             \
		__typeof__(x) dp_m = min(x, y);        \
		min(dp_m, (__typeof__(x))(z));         \
	})
#define max3(x, y, z)                                  \
	({                                             \
		__typeof__(x) dp_m = max(x, y);        \
		max(dp_m, (__typeof__(x))(z));         \
	})
#define clamp(v, lo, hi)                                                \
	({                                                              \
		__typeof__(v) dp_v = (v), dp_lo = (lo), dp_hi = (hi);   \
		dp_v < dp_lo ? dp_lo : dp_v > dp_hi ? dp_hi : dp_v;     \
	})
#define clamp_t(type, v, lo, hi)                                        \
	({                                                              \
		type dp_v = (v), dp_lo = (lo), dp_hi = (hi);            \
		dp_v < dp_lo ? dp_lo : dp_v > dp_hi ? dp_hi : dp_v;     \
	})
#define clamp_val(v, lo, hi) clamp_t(__typeof__(v), v, lo, hi)
#define swap(a, b)                         \
	do {                               \
		__typeof__(a) dp_a = (a);  \
		(a) = (b);                 \
		(b) = dp_a;                \
	} while (0)
#define abs(x)                                       \
	({                                           \
		__typeof__(x) dp_abs = (x);          \
		dp_abs < 0 ? -dp_abs : dp_abs;       \
	})

#define container_of(ptr, type, member)                                   \
	({                                                                \
		const __typeof__(((type *)0)->member) *dp_member = (ptr); \
		(type *)((char *)dp_member - offsetof(type, member));     \
	})
#define typeof_member(type, member) __typeof__(((type *)0)->member)

#ifndef __ALIGN_KERNEL
#define __ALIGN_KERNEL(x, a) (((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#endif
#define ALIGN(x, a) __ALIGN_KERNEL((x), (a))
#define ALIGN_DOWN(x, a) ((x) & ~((__typeof__(x))(a) - 1))
#define PTR_ALIGN(p, a) ((__typeof__(p))ALIGN((unsigned long)(p), (a)))
#define IS_ALIGNED(x, a) (((x) & ((__typeof__(x))(a) - 1)) == 0)
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define DIV_ROUND_CLOSEST(n, d) (((n) + (d) / 2) / (d))
#define roundup(x, y) ((((x) + (y) - 1) / (y)) * (y))
#define rounddown(x, y) ((x) - ((x) % (y)))
#define round_up(x, y) ((((x) - 1) | ((__typeof__(x))(y) - 1)) + 1)
#define round_down(x, y) ((x) & ~((__typeof__(x))(y) - 1))
#define upper_32_bits(n) ((u32)((u64)(n) >> 32))
#define lower_32_bits(n) ((u32)(n))
#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))
#define GENMASK(h, l) ((~0UL << (l)) & (~0UL >> (BITS_PER_LONG - 1 - (h))))

#define might_sleep() ((void)0)
#define might_fault() ((void)0)
#define cond_resched() 0

/* Text into buffers, with printk()'s conversions. Context: any. scnprintf() and
 * vscnprintf() return what is in the buffer, the others what would be. */
int snprintf(char *buf, size_t size, const char *fmt, ...)
	DP_COMPAT(snprintf) __printf(3, 4);
int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
	DP_COMPAT(vsnprintf) __printf(3, 0);
int sprintf(char *buf, const char *fmt, ...) DP_COMPAT(sprintf) __printf(2, 3);
int vsprintf(char *buf, const char *fmt, va_list args)
	DP_COMPAT(vsprintf) __printf(2, 0);
int scnprintf(char *buf, size_t size, const char *fmt, ...)
	DP_COMPAT(scnprintf) __printf(3, 4);
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
	DP_COMPAT(vscnprintf) __printf(3, 0);
char *kasprintf(gfp_t gfp, const char *fmt, ...)
	DP_COMPAT(kasprintf) __printf(2, 3);
char *kvasprintf(gfp_t gfp, const char *fmt, va_list args)
	DP_COMPAT(kvasprintf) __printf(2, 0);
/** sscanf() - %d %i %u %x %o %c %s %n %[…], with widths, * and lengths */
int dp_compat_sscanf(const char *s, const char *fmt, ...) __scanf(2, 3);
int dp_compat_vsscanf(const char *s, const char *fmt, va_list args)
	__scanf(2, 0);
/* libc renames these two itself, so a second name would contradict. */
#define sscanf(s, ...) dp_compat_sscanf(s, __VA_ARGS__)
#define vsscanf(s, fmt, args) dp_compat_vsscanf(s, fmt, args)

#define panic(fmt, ...)                                         \
	do {                                                    \
		printk(KERN_EMERG "panic: " fmt, ##__VA_ARGS__); \
		__builtin_trap();                               \
	} while (0)

#define _RET_IP_ ((unsigned long)__builtin_return_address(0))
#define _THIS_IP_                                   \
	({                                          \
		__label__ dp_here;                  \
	dp_here:                                    \
		(unsigned long)&&dp_here;           \
	})
enum system_states { SYSTEM_BOOTING, SYSTEM_RUNNING, SYSTEM_HALT };
#define system_state SYSTEM_RUNNING
#define oops_in_progress 0

#endif
