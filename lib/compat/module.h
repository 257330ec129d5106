/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* module: load probe modules into this process, and unload them. */
#ifndef DP_LIB_COMPAT_MODULE_H
#define DP_LIB_COMPAT_MODULE_H

#include <stddef.h>
#include <dprobes/diag.h>

#pragma GCC visibility push(hidden)

struct dp_compat_module;
struct dp_compat_param;
struct module;

/**
 * struct dp_compat_loaded - a module in this process
 * @name: its file's name without directory and suffix
 * @path: as the caller gave it
 * @module: its descriptor
 * @start, @size: of its image
 * @forked: a parent process loaded it, and has its probes
 * @uses: @nr_uses modules whose functions it uses; they stay as long as this module
 * @needed: the module that is being loaded uses this one
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
 * @path: a shared object; without a slash, in the current directory
 * @params: "name=value" of the kernel's syntax, or "name" of a bool; arrays are
 *          separated by commas, values may be quoted
 * @aliases: "name=function": see dp_compat_alias(); they stay in force
 * @out: the module, or unchanged
 * @diag: why it failed, or NULL
 *
 * A module that needs a symbol which neither the library nor a loaded module exports to it
 * is refused before its code runs. A licence is read by way of the dynamic linker, after
 * constructors.
 * Context: task; may sleep; one call at a time is served.
 * Return: 0; -ENOENT no such file, no such parameter; -ENOEXEC not a shared object for this
 * machine, not a module, or a module for another version; -ENXIO a needed symbol is not
 * exported to the module; -EINVAL a parameter or alias cannot be parsed; -ERANGE a number
 * is too large for its parameter; -ENOSPC a string is; -EEXIST the module is loaded
 * already; -ENOMEM; the result of the module's init.
 */
int dp_compat_load(const char *path, const char *const *params, size_t nparams,
		   const char *const *aliases, size_t naliases,
		   struct dp_compat_loaded **out, struct dp_diag *diag);

/**
 * dp_compat_unload() - run a module's exit and unload the module
 *
 * Probes that its exit leaves behind are unregistered: see dp_compat_hooks.
 * Context: task; may sleep. Return: 0; -EBUSY the module is in use, or has an init but no
 * exit; -ENOENT another thread has unloaded it.
 */
int dp_compat_unload(struct dp_compat_loaded *loaded, struct dp_diag *diag);
/** dp_compat_unload_all() - unload all modules that may go, the newest first, at the end of
 *  the process; none, if the calling thread is in a load */
void dp_compat_unload_all(void);

/** dp_compat_refs() - a module's number of references */
int dp_compat_refs(const struct dp_compat_loaded *loaded);
/** dp_compat_busy() - is a module being loaded or unloaded, maybe by this thread? */
int dp_compat_busy(void);
/** dp_compat_forked() - in a fork child: set @forked of all modules; none is being loaded */
void dp_compat_forked(void);

/** dp_compat_find() - a loaded module by name, or NULL */
struct dp_compat_loaded *dp_compat_find(const char *name);

/**
 * dp_compat_check() - check that all symbols which a file needs are known
 * @allowed: is this symbol exported by the library or a module?
 * Return: 0; -ENOENT; -ENOEXEC; -ENXIO unknown symbols: @diag names them; -ENOMEM.
 */
int dp_compat_check(const char *path, int (*allowed)(const char *name),
		    struct dp_diag *diag);

/** dp_compat_param_set() - set a parameter. @value: NULL if there was no '='.
 *  Return: 0, or an errno of dp_compat_load(). */
int dp_compat_param_set(const struct dp_compat_param *param, const char *value,
			struct module *mod, struct dp_diag *diag);

/* exports.c. Context: "modules" lock held. */
/** dp_compat_show() - let the dynamic linker find the symbols of an object that is loaded */
void dp_compat_show(const char *path);
/** dp_compat_global() - what a module that is loaded now gets for a name, or NULL */
void *dp_compat_global(const char *name);
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

#pragma GCC visibility pop

#endif
