/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* variable: what a module calls by a name that is no function's. */
#ifndef DP_SYM_VARIABLE_H
#define DP_SYM_VARIABLE_H

#include "port_types.h"

struct dp_module;
struct dp_modules;

/**
 * dp_variable_find() - the address of a variable, or of anything else that has a name, in a process
 * @m: the module that uses it
 *
 * Context: tool; may sleep. Source: ours.
 * Return: 0; -ENOENT @m has no such name; -EINVAL several have; an error of the file's.
 */
int dp_variable_find(struct dp_modules *mods, const struct dp_module *m,
		     const char *name, u64 *addr);

/** dp_variable_own() - the same of the symbol that @m itself has, whatever the dynamic linker has led
 *  other uses of the name to. Return: as dp_variable_find(). */
int dp_variable_own(struct dp_modules *mods, const struct dp_module *m,
		    const char *name, u64 *addr);

/**
 * dp_variable_of_thread() - where the program, and no library, has a variable of each thread's own
 * @m: the module that uses it; @offset: from the thread pointer
 *
 * Context: tool; may sleep. Source: ABI for thread-local storage, variant II; glibc's _dl_determine_tlsoffset.
 * Return: as dp_variable_find(); -ENOENT also for a library.
 */
int dp_variable_of_thread(struct dp_modules *mods, const struct dp_module *m,
			  const char *name, u64 *offset);

/**
 * dp_variable_at() - the variable that has @addr in it
 * @name: lives as long as @mods; @offset: of @addr in it; @m: its module, or NULL
 *
 * Symbol tables are read once. Context: tool; may sleep. Source: ours.
 * Return: 0; -ENOENT there is none that a symbol table has, with its size.
 */
int dp_variable_at(struct dp_modules *mods, u64 addr, const char **name,
		   u64 *offset, const struct dp_module **m);

/**
 * dp_variable_size() - bytes of the variable that begins at @addr
 *
 * Context: as dp_variable_at(). Source: ours.
 * Return: 0 if no symbol table tells.
 */
u64 dp_variable_size(struct dp_modules *mods, u64 addr);

#endif
