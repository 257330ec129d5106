// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* check: read a module's needed symbols from its file before any of its code runs. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>
#include "lib/compat/module.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"

/* Symbols that compilers and their start files put into every shared object. */
static bool of_toolchain(const char *name)
{
	static const char *const patterns[] = {
		"__cxa_finalize", "__cxa_atexit",
		"__gmon_start__", "__stack_chk_fail",
		"__tls_get_addr", "_GLOBAL_OFFSET_TABLE_",
		"memcpy",	  "memmove",
		"memset",	  "memcmp",
		"bcmp",		  "strlen",
		"__dso_handle",	  "__stack_chk_guard",
		"_ITM_*",	  "__asan_*",
		"__ubsan_*",	  "__sanitizer_*",
		"__gcov_*",
	};
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

/* Name up to ten missing symbols. */
static void note(struct dp_diag *diag, const char *path, const char *name,
		 int n)
{
	if (n == 1)
		dp_diag_set(
			diag, -ENXIO,
			"%s needs %s, which is neither a function of dprobes nor exported by a module that is loaded",
			path, name);
	else if (n <= 10)
		dp_diag_add(diag, ", and %s", name);
	else if (n == 11)
		dp_diag_add(diag, ", and more");
}

static int check_symbols(const struct dp_dynsym *table, const char *path,
			 int (*allowed)(const char *name), struct dp_diag *diag)
{
	const char *name;
	size_t i;
	int n = 0;

	for (i = 1; i < table->n; i++) {
		if (table->v[i].st_shndx != SHN_UNDEF)
			continue;
		if (table->v[i].st_name >= table->str_len)
			return -ENOEXEC;
		name = dp_dynsym_name(table, i);
		if (*name && !of_toolchain(name) && !allowed(name))
			note(diag, path, name, ++n);
	}
	return n ? -ENXIO : 0;
}

static int check_file(const char *path, int (*allowed)(const char *name),
		      struct dp_diag *diag)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dp_dynsym table;
	struct dp_elf elf;
	int err;

	if (fd < 0)
		return -errno;
	err = dp_elf_open_fd(&elf, fd);
	if (err)
		return err;
	err = elf.eh.e_type == ET_DYN ? dp_dynsym_load(&table, &elf) : -ENOENT;
	dp_elf_close(&elf);
	if (err)
		return err == -ENOENT ? -ENOEXEC : err;
	err = check_symbols(&table, path, allowed, diag);
	dp_dynsym_free(&table);
	return err;
}

int dp_compat_check(const char *path, int (*allowed)(const char *name),
		    struct dp_diag *diag)
{
	int err = check_file(path, allowed, diag);

	if (err == -ENOEXEC)
		return dp_diag_set(
			diag, err,
			"%s is not a shared object for this machine: build it with cc -shared -fPIC $(pkg-config --cflags dprobes-module) -o MOD.so MOD.c",
			path);
	if (err && err != -ENXIO)
		return dp_diag_set(diag, err, "cannot read %s: %s", path,
				   strerror(-err));
	return err;
}
