// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exports: functions that modules export to each other.
 *
 * The dynamic linker has to find an exported symbol. So the exporting module is opened with
 * RTLD_GLOBAL as soon as another module needs the symbol, not before. If the process has
 * another symbol of that name, the linker would find that, and the module is refused.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compat/module.h"
#include <dprobes-module.h>

static const struct dp_compat_export *
export_of(const struct dp_compat_loaded *loaded, const char *name)
{
	const struct dp_compat_module *module = loaded->module;
	const struct dp_compat_export *const *e;

	if (module->size < offsetof(struct dp_compat_module, exports_end) +
				   sizeof(module->exports_end))
		return NULL;
	for (e = module->exports; e != module->exports_end; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	return NULL;
}

void dp_compat_show(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);

	if (handle)
		dlclose(handle);
}

/* As dlsym(RTLD_DEFAULT), which for a library that stays would make the module stay, too. */
void *dp_compat_global(const char *name)
{
	void *program = dlopen(NULL, RTLD_NOW | RTLD_NOLOAD), *addr;

	addr = program ? dlsym(program, name) : NULL;
	if (program)
		dlclose(program);
	return addr;
}

int dp_compat_export_find(struct dp_compat_loaded *list, const char *name,
			  char *gpl, size_t size)
{
	const struct dp_compat_export *e = NULL;
	struct link_map *map;

	while (list && !(e = export_of(list, name)))
		list = list->next;
	if (!list)
		return 0;
	if (!dlinfo(list->handle, RTLD_DI_LINKMAP, &map))
		dp_compat_show(map->l_name);
	if (dp_compat_global(name) != e->addr)
		return 0;
	list->needed = 1;
	if (e->gpl && !*gpl)
		snprintf(gpl, size, "%s", name);
	return 1;
}

static void count(struct dp_compat_loaded *used, int n)
{
	__atomic_fetch_add(&used->module->module->refcnt.counter, n,
			   __ATOMIC_ACQ_REL);
}

int dp_compat_export_use(struct dp_compat_loaded *loaded,
			 struct dp_compat_loaded *list)
{
	struct dp_compat_loaded *m;
	size_t n = 0;

	for (m = list; m; m = m->next)
		n += m->needed;
	loaded->uses = n ? calloc(n, sizeof(*loaded->uses)) : NULL;
	if (n && !loaded->uses)
		return -ENOMEM;
	for (m = list; m; m = m->next) {
		if (!m->needed)
			continue;
		count(m, 1);
		loaded->uses[loaded->nr_uses++] = m;
	}
	return 0;
}

void dp_compat_export_release(struct dp_compat_loaded *loaded)
{
	while (loaded->nr_uses)
		count(loaded->uses[--loaded->nr_uses], -1);
	free(loaded->uses);
	loaded->uses = NULL;
}

const struct dp_compat_loaded *
dp_compat_export_user(const struct dp_compat_loaded *loaded,
		      const struct dp_compat_loaded *list)
{
	size_t i;

	for (; list; list = list->next)
		for (i = 0; i < list->nr_uses; i++)
			if (list->uses[i] == loaded)
				return list;
	return NULL;
}
