/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exporting means nothing here: nobody links to a module. */
#ifndef DP_LINUX_EXPORT_H
#define DP_LINUX_EXPORT_H

#include <linux/compiler.h>
#include <dprobes-module.h>

/* A module that is loaded later may use it, and keeps this one loaded. What this
 * module itself calls by the name stays its own, whatever the program has. With clang
 * it has to stand before the definition. */
#define DP_EXPORT(sym, only_gpl)                                              \
	extern __typeof__(sym) sym __attribute__((visibility("protected"))); \
	static const struct dp_compat_export dp_export_##sym = {              \
		#sym, &(sym), only_gpl                                        \
	};                                                                    \
	static const struct dp_compat_export *const dp_export_at_##sym        \
		__attribute__((used, section("dp_module_export"))) =          \
			&dp_export_##sym
#define EXPORT_SYMBOL(sym) DP_EXPORT(sym, 0)
#define EXPORT_SYMBOL_GPL(sym) DP_EXPORT(sym, 1)
#define EXPORT_SYMBOL_NS(sym, ns) DP_EXPORT(sym, 0)
#define EXPORT_SYMBOL_NS_GPL(sym, ns) DP_EXPORT(sym, 1)
#define EXPORT_SYMBOL_NOVERS(sym) DP_EXPORT(sym, 0)
#define EXPORT_PER_CPU_SYMBOL(sym) DP_EXPORT(sym, 0)
#define EXPORT_PER_CPU_SYMBOL_GPL(sym) DP_EXPORT(sym, 1)

/** THIS_MODULE - the module that the source belongs to */
#define THIS_MODULE (&dp_compat_this_module)
struct module;
extern struct module dp_compat_this_module
	__attribute__((weak, visibility("hidden")));

#endif
