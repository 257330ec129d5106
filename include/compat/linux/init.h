/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions and data of the beginning and the end: kept all the time here. */
#ifndef DP_LINUX_INIT_H
#define DP_LINUX_INIT_H

#include <linux/compiler.h>
#include <linux/types.h>

#define __init
#define __exit
#define __initdata
#define __initconst
#define __exitdata
#define __exit_p(x) x
#define __ref
#define __refdata
#define __devinit
#define __devexit
#define __init_or_module
#define __meminit
#define __cpuinit
typedef int (*initcall_t)(void);
typedef void (*exitcall_t)(void);

/*
 * A module begins with init_module() and ends with cleanup_module(), by these
 * names or by module_init() and module_exit(). libc has functions of these
 * names, so they are called otherwise here.
 */
#define init_module dp_compat_init_module
#define cleanup_module dp_compat_cleanup_module
int dp_compat_init_module(void) __attribute__((weak, visibility("hidden")));
void dp_compat_cleanup_module(void) __attribute__((weak, visibility("hidden")));

#define module_init(fn)                                                      \
	int dp_compat_init_module(void) __attribute__((alias(#fn)));         \
	static inline initcall_t __attribute__((unused))                     \
	dp_compat_check_init(void)                                           \
	{                                                                    \
		return fn;                                                   \
	}
#define module_exit(fn)                                                      \
	void dp_compat_cleanup_module(void) __attribute__((alias(#fn)));     \
	static inline exitcall_t __attribute__((unused))                     \
	dp_compat_check_exit(void)                                           \
	{                                                                    \
		return fn;                                                   \
	}
#define late_initcall module_init
#define device_initcall module_init
#define fs_initcall module_init
#define subsys_initcall module_init

#endif
