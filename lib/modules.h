/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* modules: what the library has of its room for probe modules, lib/compat, and
 * what brings them in. */
#ifndef DP_LIB_MODULES_H
#define DP_LIB_MODULES_H

#include "lib/compat/hooks.h"
#include "lib/compat/module.h"

#define DP_MODULE_WORDS 256

/* What modules call so; they learn its address from a kprobe. */
#define DP_LOOKUP_NAME "kallsyms_lookup_name"
unsigned long dp_compat_kallsyms_lookup_name(const char *name);

/** struct dp_module_order - what to load; points into the text that it was made of */
struct dp_module_order {
	const char *module;
	const char *params[DP_MODULE_WORDS], *aliases[DP_MODULE_WORDS];
	size_t nr_params, nr_aliases;
};

/** dp_module_order_parse() - take lines apart: module, parameters, @aliases;
 *  changes @text. Return: 0; -EINVAL no module. */
int dp_module_order_parse(struct dp_module_order *o, char *text);
/** dp_module_log() - what modules say is kept from now on */
void dp_module_log(void);

/* service.c */
/** dp_service_open() - be ready to be asked by the tool. Context: constructor. */
void dp_service_open(void);
/** dp_service_log() - a message of a module. Context: any. */
void dp_service_log(int level, const char *text, size_t len);
/** dp_service_knobs() - likewise. Context: as above. */
void dp_service_knobs(bool enabled, bool optimization);
/** dp_service_modules() - let the tool know. Context: task, one at a time. */
void dp_service_modules(const struct dp_compat_loaded *list);

#endif
