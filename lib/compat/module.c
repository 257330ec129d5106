// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * module: load probe modules into this process, and unload them.
 *
 * Lock: "modules" (DESIGN.md, Locks), the first in the order.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compat/hooks.h"
#include "lib/compat/module.h"
#include <dprobes-module.h>
#include <linux/printk.h>

/* Guards @list, and serialises loads and unloads. */
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static struct dp_compat_loaded *list;

/* Return: base of the object that holds this library: a shared library or the program. */
static void *own_base(Dl_info *info)
{
	return dladdr((void *)dp_compat_load, info) ? info->dli_fbase : NULL;
}

static int is_ours(const char *name)
{
	Dl_info own, other;
	void *addr = dp_compat_global(name);

	/* This library may be in no scope but its own. */
	if (!addr)
		addr = dlsym(RTLD_DEFAULT, name);
	return addr && dladdr(addr, &other) &&
	       own_base(&own) == other.dli_fbase;
}

static char only_gpl[128]; /* first GPL-only symbol that the module needs */

static int is_known(const char *name)
{
	return is_ours(name) ||
	       dp_compat_export_find(list, name, only_gpl, sizeof(only_gpl));
}

/* If this library was loaded with RTLD_LOCAL, make it global, so that modules find it. */
static void show_ourselves(void)
{
	Dl_info own;

	if (own_base(&own) && own.dli_fname &&
	    !dlsym(RTLD_DEFAULT, "dp_compat_printk"))
		dp_compat_show(own.dli_fname);
}

static char *name_of(const char *path)
{
	const char *base = basename(path);

	return strndup(base, *base ? 1 + strcspn(base + 1, ".") : 0);
}

/* As in the kernel, - and _ are the same. */
static char same(char c)
{
	return c == '-' ? '_' : c;
}

static const struct dp_compat_param *
find_param(const struct dp_compat_module *module, const char *text, size_t len)
{
	const struct dp_compat_param *const *p;
	const char *name;
	size_t i;

	for (p = module->params; p != module->params_end; p++) {
		name = (*p)->name;
		for (i = 0; i < len && name[i]; i++)
			if (same(text[i]) != same(name[i]))
				break;
		if (i == len && !name[i])
			return *p;
	}
	return NULL;
}

static int unknown_param(const struct dp_compat_module *module,
			 const char *text, size_t len, struct dp_diag *diag)
{
	const struct dp_compat_param *const *p = module->params;

	dp_diag_set(diag, -ENOENT, "the module has no parameter %.*s", (int)len,
		    text);
	if (p == module->params_end)
		dp_diag_add(diag, ": it has none");
	for (; p != module->params_end; p++)
		dp_diag_add(diag, "%s%s",
			    p == module->params ? ": it has " : ", ",
			    (*p)->name);
	return -ENOENT;
}

static int set_param(const struct dp_compat_module *module, const char *text,
		     struct dp_diag *diag)
{
	size_t len = strcspn(text, "="), n;
	const struct dp_compat_param *param = find_param(module, text, len);
	char *value;
	int err, quoted;

	if (!param)
		return unknown_param(module, text, len, diag);
	if (!text[len])
		return dp_compat_param_set(param, NULL, module->module, diag);
	text += len + 1;
	n = strlen(text);
	/* Quotes that the shell has left are not part of the value. */
	quoted = n >= 2 && text[0] == '"' && text[n - 1] == '"';
	value = quoted ? strndup(text + 1, n - 2) : strdup(text);
	if (!value)
		return dp_diag_set(diag, -ENOMEM, "no memory for a parameter");
	err = dp_compat_param_set(param, value, module->module, diag);
	free(value);
	return err;
}

static int add_alias(const char *text, struct dp_diag *diag)
{
	const char *equals = strchr(text, '=');
	int err = equals ? dp_compat_alias_add(text, (size_t)(equals - text),
					       equals + 1) :
			   -EINVAL;

	if (err == -EINVAL)
		return dp_diag_set(
			diag, err,
			"\"%s\" is not an alias: write NAME=FUNCTION", text);
	return err ? dp_diag_set(diag, err, "no memory for an alias") : 0;
}

/* Fill in start and size of the module's image. */
static int measure(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct dp_compat_loaded *loaded = arg;
	ElfW(Addr) here = (ElfW(Addr))loaded->module - info->dlpi_addr;
	ElfW(Addr) start = ~(ElfW(Addr))0, end = 0;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD)
			continue;
		start = ph->p_vaddr < start ? ph->p_vaddr : start;
		end = ph->p_vaddr + ph->p_memsz;
	}
	if (here < start || here >= end)
		return 0;
	loaded->start = (const char *)info->dlpi_addr + start;
	loaded->size = end - start;
	return 1;
}

/* Size of the fields that all versions of the interface have. */
#define LEAST_SIZE offsetof(struct dp_compat_module, exports)

/* By the kernel's rule. *@license: its name, or none. */
static int is_gpl(const struct dp_compat_module *module, const char **license)
{
	static const char *const compatible[] = {
		"GPL",		"GPL v2",	"GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL",
	};
	const struct dp_compat_info *const *info;
	size_t i;

	*license = "none";
	for (info = module->info; info != module->info_end; info++)
		if (!strcmp((*info)->tag, "license"))
			*license = (*info)->text;
	for (i = 0; i < sizeof(compatible) / sizeof(*compatible); i++)
		if (!strcmp(compatible[i], *license))
			return 1;
	return 0;
}

static int check_license(const struct dp_compat_loaded *loaded,
			 struct dp_diag *diag)
{
	const char *license;

	if (!*only_gpl || is_gpl(loaded->module, &license))
		return 0;
	return dp_diag_set(
		diag, -ENXIO,
		"%s needs %s, which is exported to modules under the GPL only; its licence is %s",
		loaded->path, only_gpl, license);
}

static int check_needs(const char *path, struct dp_diag *diag)
{
	struct dp_compat_loaded *other;

	for (other = list; other; other = other->next)
		other->needed = 0;
	*only_gpl = '\0';
	return dp_compat_check(path, is_known, diag);
}

static int open_module(struct dp_compat_loaded *loaded, struct dp_diag *diag)
{
	const char *path = loaded->path;
	int err;

	show_ourselves();
	err = check_needs(path, diag);
	if (err)
		return err;
	loaded->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!loaded->handle)
		return dp_diag_set(diag, -ENOEXEC, "%s", dlerror());
	loaded->module = dlsym(loaded->handle, "dp_compat_module");
	if (loaded->module)
		dl_iterate_phdr(measure, loaded);
	else
		return dp_diag_set(
			diag, -ENOEXEC,
			"%s is not a probe module: it does not include <linux/module.h>",
			path);
	if (loaded->module->abi != DP_COMPAT_ABI ||
	    loaded->module->size < LEAST_SIZE)
		return dp_diag_set(
			diag, -ENOEXEC,
			"%s was built for version %u of the module interface, this is %u: build it again",
			path, loaded->module->abi, DP_COMPAT_ABI);
	return check_license(loaded, diag);
}

static int start(struct dp_compat_loaded *loaded, const char *const *params,
		 size_t nparams, struct dp_diag *diag)
{
	struct module *module = loaded->module->module;
	size_t i;
	int err;

	snprintf(module->name, sizeof(module->name), "%s", loaded->name);
	for (i = 0; i < nparams; i++) {
		err = set_param(loaded->module, params[i], diag);
		if (err)
			return err;
	}
	module->state = MODULE_STATE_COMING;
	err = loaded->module->init ? loaded->module->init() : 0;
	if (err < 0)
		return dp_diag_set(diag, err, "the init of %s returned %d (%s)",
				   loaded->path, err, strerror(-err));
	module->state = MODULE_STATE_LIVE;
	return 0;
}

/* Unregister the module's probes, so that no hit runs its code after it is unmapped. */
static void sweep(const struct dp_compat_loaded *loaded)
{
	unsigned int n = 0;

	if (dp_compat_hooks.sweep && loaded->start)
		n = dp_compat_hooks.sweep(loaded->start, loaded->size);
	if (n)
		printk(KERN_WARNING
		       "%s: left %u probes registered; they are gone now\n",
		       loaded->name, n);
}

static void tell(void)
{
	if (dp_compat_hooks.changed)
		dp_compat_hooks.changed(list);
}

static void drop(struct dp_compat_loaded *loaded)
{
	if (loaded->handle)
		dlclose(loaded->handle);
	dp_compat_export_release(loaded);
	free(loaded->name);
	free(loaded->path);
	free(loaded);
}

static int load_locked(struct dp_compat_loaded *loaded,
		       const char *const *params, size_t nparams,
		       struct dp_diag *diag)
{
	struct dp_compat_loaded *other;
	int err;

	for (other = list; other; other = other->next)
		if (!strcmp(other->name, loaded->name))
			return dp_diag_set(
				diag, -EEXIST,
				other->forked ?
					"a module %s was loaded when this process was forked; unload that first" :
					"a module %s is loaded already",
				loaded->name);
	err = open_module(loaded, diag);
	if (!err && dp_compat_export_use(loaded, list))
		err = dp_diag_set(diag, -ENOMEM, "no memory for a module");
	if (!err)
		err = start(loaded, params, nparams, diag);
	if (err) {
		/* A constructor of a module that is refused has run, too. */
		sweep(loaded);
		return err;
	}
	loaded->next = list;
	list = loaded;
	tell();
	return 0;
}

int dp_compat_load(const char *path, const char *const *params, size_t nparams,
		   const char *const *aliases, size_t naliases,
		   struct dp_compat_loaded **out, struct dp_diag *diag)
{
	struct dp_compat_loaded *loaded;
	size_t i;
	int err;

	for (i = 0; i < naliases; i++) {
		err = add_alias(aliases[i], diag);
		if (err)
			return err;
	}
	loaded = calloc(1, sizeof(*loaded));
	if (loaded) {
		loaded->name = name_of(path);
		/* dlopen() searches library paths for a name without a slash. */
		if (asprintf(&loaded->path, "%s%s",
			     strchr(path, '/') ? "" : "./", path) < 0)
			loaded->path = NULL;
	}
	if (!loaded || !loaded->name || !loaded->path) {
		if (loaded)
			drop(loaded);
		return dp_diag_set(diag, -ENOMEM, "no memory for a module");
	}
	pthread_mutex_lock(&lock);
	err = load_locked(loaded, params, nparams, diag);
	if (err)
		drop(loaded);
	else
		*out = loaded;
	pthread_mutex_unlock(&lock);
	return err;
}

/* Return: 0; why the module stays. */
static int check_unused(const struct dp_compat_loaded *loaded,
			struct dp_diag *diag)
{
	const struct module *module = loaded->module->module;
	const struct dp_compat_loaded *user =
		dp_compat_export_user(loaded, list);

	if (user)
		return dp_diag_set(diag, -EBUSY, "%s is in use by %s",
				   loaded->name, user->name);
	if (__atomic_load_n(&module->refcnt.counter, __ATOMIC_ACQUIRE) > 0)
		return dp_diag_set(diag, -EBUSY, "%s is in use", loaded->name);
	if (loaded->module->init && !loaded->module->exit)
		return dp_diag_set(diag, -EBUSY,
				   "%s has no exit function, so it stays",
				   loaded->name);
	return 0;
}

/* A load of the same file waits until the old image has gone, and gets a new one. */
static int unload_locked(struct dp_compat_loaded *loaded, struct dp_diag *diag)
{
	struct dp_compat_loaded **link = &list;
	int err;

	while (*link && *link != loaded)
		link = &(*link)->next;
	if (!*link)
		return dp_diag_set(diag, -ENOENT, "the module is not loaded");
	err = check_unused(loaded, diag);
	if (err)
		return err;
	*link = loaded->next;
	loaded->module->module->state = MODULE_STATE_GOING;
	if (loaded->module->exit)
		loaded->module->exit();
	sweep(loaded);
	dp_compat_export_release(loaded);
	tell();
	drop(loaded);
	if (dp_compat_hooks.closed)
		dp_compat_hooks.closed();
	return 0;
}

int dp_compat_unload(struct dp_compat_loaded *loaded, struct dp_diag *diag)
{
	int err;

	pthread_mutex_lock(&lock);
	err = unload_locked(loaded, diag);
	pthread_mutex_unlock(&lock);
	return err;
}

/* The thread that ends the process may be in a module's init. */
void dp_compat_unload_all(void)
{
	struct dp_compat_loaded *loaded, *next;

	if (pthread_mutex_lock(&lock))
		return;
	for (loaded = list; loaded; loaded = next) {
		next = loaded->next;
		unload_locked(loaded, NULL);
	}
	pthread_mutex_unlock(&lock);
}

struct dp_compat_loaded *dp_compat_find(const char *name)
{
	struct dp_compat_loaded *loaded;

	pthread_mutex_lock(&lock);
	for (loaded = list; loaded; loaded = loaded->next)
		if (!strcmp(loaded->name, name))
			break;
	pthread_mutex_unlock(&lock);
	return loaded;
}

int dp_compat_refs(const struct dp_compat_loaded *loaded)
{
	return __atomic_load_n(&loaded->module->module->refcnt.counter,
			       __ATOMIC_RELAXED);
}

int dp_compat_busy(void)
{
	if (pthread_mutex_trylock(&lock))
		return 1;
	pthread_mutex_unlock(&lock);
	return 0;
}

/* A thread that is not there may have been loading a module. */
void dp_compat_forked(void)
{
	struct dp_compat_loaded *loaded;

	lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	for (loaded = list; loaded; loaded = loaded->next)
		loaded->forked = 1;
	tell();
}
