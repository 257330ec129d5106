// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * needs: modules that stay as long as the process.
 *
 * These are the program, its linker, and the libraries that they need (DT_NEEDED),
 * directly or not. All others count as unloadable. No more files are read than it takes.
 */
#include <stdlib.h>
#include <string.h>
#include "sym/names/mod.h"

static bool goes_by(const struct dp_mod *mod, const char *name)
{
	return (mod->soname && !strcmp(mod->soname, name)) ||
	       !strcmp(mod->pub.base, name) || !strcmp(mod->pub.path, name);
}

static void keep(struct dp_modules *mods, const char *name)
{
	size_t i;

	for (i = 0; i < mods->n; i++)
		mods->v[i]->stays |= goes_by(mods->v[i], name);
}

static void keep_needed(struct dp_modules *mods, const struct dp_mod *mod)
{
	struct dp_elf elf;
	char **names;
	size_t i, n;

	if (dp_file_open_elf(mods, mod, &elf))
		return;
	if (!dp_dynamic_needed(&elf, &names, &n)) {
		for (i = 0; i < n; i++) {
			keep(mods, names[i]);
			free(names[i]);
		}
		free(names);
	}
	dp_elf_close(&elf);
}

/* The next module that stays and whose needs are not known yet. */
static struct dp_mod *next(const struct dp_modules *mods)
{
	size_t i;

	for (i = 0; i < mods->n; i++)
		if (mods->v[i]->stays && !mods->v[i]->have_needs)
			return mods->v[i];
	return NULL;
}

bool dp_module_stays(struct dp_modules *mods, const struct dp_module *m)
{
	struct dp_mod *mod = dp_mod_of(m), *needy;

	if (m->is_main || m->is_linker)
		return true;
	if (mods->main)
		mods->main->stays = true;
	while (!mod->stays && !mods->have_needs) {
		needy = next(mods);
		mods->have_needs = !needy;
		if (!needy)
			break;
		needy->have_needs = true;
		keep_needed(mods, needy);
	}
	return mod->stays;
}
