/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exports: functions that modules export to each other. Context: "modules" lock held. */
#ifndef DP_LIB_COMPAT_EXPORTS_H
#define DP_LIB_COMPAT_EXPORTS_H

#include "lib/compat/module.h"

#pragma GCC visibility push(hidden)

/**
 * dp_compat_export_find() - does a module in @list export @name?
 *
 * If so, the dynamic linker finds @name in that module from then on, and its @needed is set.
 * @gpl: @size bytes, empty at first: the first name that only modules under the GPL
 *       may use
 * Return: 1; 0: no module does, or the process has another symbol of that name.
 */
int dp_compat_export_find(struct dp_compat_loaded *list, const char *name,
			  char *gpl, size_t size);
/** dp_compat_export_use() - @loaded uses the modules with @needed. Return: 0; -ENOMEM. */
int dp_compat_export_use(struct dp_compat_loaded *loaded,
			 struct dp_compat_loaded *list);
/** dp_compat_export_release() - @loaded uses no module any more */
void dp_compat_export_release(struct dp_compat_loaded *loaded);
/** dp_compat_export_user() - a module that uses @loaded, or NULL */
const struct dp_compat_loaded *
dp_compat_export_user(const struct dp_compat_loaded *loaded,
		      const struct dp_compat_loaded *list);
/** dp_compat_license_is_gpl() - is the licence compatible with the GPL, by the kernel's rule? */
int dp_compat_license_is_gpl(const struct dp_compat_module *module,
			     const char **license);

#pragma GCC visibility pop

#endif
