/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exports: what modules have of each other. The loader's lock is held. */
#ifndef DP_LIB_COMPAT_EXPORTS_H
#define DP_LIB_COMPAT_EXPORTS_H

#include "lib/compat/module.h"

/**
 * dp_compat_export_find() - does one of the modules in @list export @name?
 *
 * From then on the dynamic linker finds it there, and @needed of that module is set.
 * @gpl: @size bytes, empty at first: the first name that only modules under the GPL
 *       may use
 * Return: 1; 0: none does, or the process has another one of that name.
 */
int dp_compat_export_find(struct dp_compat_loaded *list, const char *name,
			  char *gpl, size_t size);
/** dp_compat_export_use() - @loaded uses those that are needed. Return: 0; -ENOMEM. */
int dp_compat_export_use(struct dp_compat_loaded *loaded,
			 struct dp_compat_loaded *list);
/** dp_compat_export_release() - and does not any more */
void dp_compat_export_release(struct dp_compat_loaded *loaded);
/** dp_compat_export_user() - a module that uses @loaded, or NULL */
const struct dp_compat_loaded *
dp_compat_export_user(const struct dp_compat_loaded *loaded,
		      const struct dp_compat_loaded *list);
/** dp_compat_license_is_gpl() - or compatible with it, as the kernel sees it */
int dp_compat_license_is_gpl(const struct dp_compat_module *module,
			     const char **license);

#endif
