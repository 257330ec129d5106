/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exporting means nothing here: nobody links to a module. */
#ifndef DP_LINUX_EXPORT_H
#define DP_LINUX_EXPORT_H

#include <linux/compiler.h>

#define EXPORT_SYMBOL(sym) _Static_assert(1, #sym)
#define EXPORT_SYMBOL_GPL(sym) _Static_assert(1, #sym)
#define EXPORT_PER_CPU_SYMBOL(sym) _Static_assert(1, #sym)

/** THIS_MODULE - the module that the source belongs to */
#define THIS_MODULE (&dp_compat_this_module)
struct module;
extern struct module dp_compat_this_module
	__attribute__((weak, visibility("hidden")));

#endif
