/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* module: probe modules are loaded into this process and out of it. */
#ifndef DP_LIB_COMPAT_MODULE_H
#define DP_LIB_COMPAT_MODULE_H

#include <stddef.h>
#include <dprobes/diag.h>

struct dp_compat_module;
struct dp_compat_param;
struct module;

/**
 * struct dp_compat_loaded - a module in this process
 * @name: its file's name without directory and suffix
 * @path: as it was given
 * @module: its descriptor
 * @start, @size: of its image
 * @forked: it was loaded in a parent process, where its probes are
 * @uses: @nr_uses modules whose functions it uses; they stay as long as it does
 * @needed: the one that is being loaded does
 */
struct dp_compat_loaded {
	struct dp_compat_loaded *next;
	char *name;
	char *path;
	void *handle;
	const struct dp_compat_module *module;
	const char *start;
	size_t size;
	int forked;
	struct dp_compat_loaded **uses;
	size_t nr_uses;
	int needed;
};

/**
 * dp_compat_load() - load a module, set its parameters, run its init
 * @path: a shared object; a name without a slash is looked for here
 * @params: "name=value" of the kernel's syntax, or "name" of a bool; arrays are
 *          separated by commas, values may be quoted
 * @aliases: "name=function": see dp_compat_alias(); they stay in force
 * @out: the module, or unchanged
 * @diag: why it failed, or NULL
 *
 * A module that needs a function which is not this library's is refused before
 * any of its code runs.
 * Context: task; may sleep; one call at a time is served.
 * Return: 0; -ENOENT no such file, no such parameter; -ENOEXEC not a shared object
 * for this machine, not a module, or one for another version; -ENXIO a symbol
 * that is neither ours nor exported by a module that is loaded, or only to others than
 * this one; -EINVAL a parameter or alias cannot be understood; -ERANGE a
 * number is too large for its parameter; -ENOSPC a string is; -EEXIST it is
 * loaded; -ENOMEM; what its init returned.
 */
int dp_compat_load(const char *path, const char *const *params, size_t nparams,
		   const char *const *aliases, size_t naliases,
		   struct dp_compat_loaded **out, struct dp_diag *diag);

/**
 * dp_compat_unload() - run its exit and take it out
 *
 * Probes that its exit leaves behind are taken away: see dp_compat_hooks.
 * Context: task; may sleep. Return: 0; -EBUSY it is in use, or has an init but no
 * exit.
 */
int dp_compat_unload(struct dp_compat_loaded *loaded, struct dp_diag *diag);

/** dp_compat_refs() - how often it is in use */
int dp_compat_refs(const struct dp_compat_loaded *loaded);
/** dp_compat_busy() - is one being loaded or unloaded, maybe by this thread? */
int dp_compat_busy(void);
/** dp_compat_forked() - in a fork child: what there is came with it */
void dp_compat_forked(void);

/** dp_compat_find() - a loaded module by name, or NULL */
struct dp_compat_loaded *dp_compat_find(const char *name);
/** dp_compat_modules() - the newest; go on with @next */
struct dp_compat_loaded *dp_compat_modules(void);

/**
 * dp_compat_check() - does a file need what is not there?
 * @allowed: is this symbol the library's?
 * Return: 0; -ENOENT; -ENOEXEC; -ENXIO a symbol that is not, or several: @diag
 * names them; -ENOMEM.
 */
int dp_compat_check(const char *path, int (*allowed)(const char *name),
		    struct dp_diag *diag);

/** dp_compat_param_set() - one parameter. @value: NULL if there was no '='.
 *  Return: 0, or an errno of dp_compat_load(). */
int dp_compat_param_set(const struct dp_compat_param *param, const char *value,
			struct module *mod, struct dp_diag *diag);

#endif
