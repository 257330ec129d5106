/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* modules: the library's side of probe modules: lookup, orders, messages, service. */
#ifndef DP_LIB_MODULES_H
#define DP_LIB_MODULES_H

#include "lib/compat/hooks.h"
#include "lib/compat/module.h"
#include "port_types.h"

#define DP_MODULE_WORDS 256

/* Modules call this function by an address that they learn from a kprobe. */
#define DP_LOOKUP_NAME "kallsyms_lookup_name"
unsigned long dp_compat_kallsyms_lookup_name(const char *name);

/** struct dp_module_order - what to load; points into the parsed text */
struct dp_module_order {
	const char *module;
	const char *params[DP_MODULE_WORDS], *aliases[DP_MODULE_WORDS];
	size_t nr_params, nr_aliases;
};

/** dp_module_order_parse() - parse lines: module, parameters, @aliases; changes @text.
 *  Return: 0; -EINVAL no module. */
int dp_module_order_parse(struct dp_module_order *o, char *text);
/** dp_line_copy() - copy a message of a module, as far as there is room. Return: its length.
 *  Context: any: no call, not even of memcpy(). */
static inline u16 dp_line_copy(char *to, size_t room, const char *text,
			       size_t len)
{
	size_t i;

	for (i = 0; i < len && i < room; i++) {
		to[i] = text[i];
		__asm__ volatile("" : : : "memory");
	}
	return (u16)i;
}

/** dp_module_log() - keep the messages of modules from now on */
void dp_module_log(void);

/* service.c */
/** dp_service_open() - make struct dp_service for the tool. Context: constructor. */
void dp_service_open(void);
/** dp_service_log() - add a message of a module. Context: any. */
void dp_service_log(int level, const char *text, size_t len);
/** dp_service_knobs() - publish the knobs. Context: any. */
void dp_service_knobs(bool enabled, bool optimization);
/** dp_service_modules() - publish the loaded modules. Context: task, one at a time. */
void dp_service_modules(const struct dp_compat_loaded *list);

#endif
