// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* check: read a module's needed symbols from its file before any of its code runs. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/compat/module.h"
#include "sym/elf/headers.h"
#include <dprobes-module.h>

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

static int check_symbols(const struct dp_elf_table *table, const char *path,
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
		name = table->str + table->v[i].st_name;
		if (*name && !of_toolchain(name) && !allowed(name))
			note(diag, path, name, ++n);
	}
	return n ? -ENXIO : 0;
}

static int map_file(const char *path, struct dp_elf *elf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *p = MAP_FAILED;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		err = -errno;
	else if (!S_ISREG(status.st_mode) ||
		 status.st_size < (off_t)sizeof(Elf64_Ehdr))
		err = -ENOEXEC;
	else if ((p = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE,
			   fd, 0)) == MAP_FAILED)
		err = -errno;
	close(fd);
	if (err)
		return err;
	return dp_elf_view(elf, p, (size_t)status.st_size) ? 0 : -ENOEXEC;
}

int dp_compat_check(const char *path, int (*allowed)(const char *name),
		    struct dp_diag *diag)
{
	struct dp_elf elf = { .image = NULL };
	struct dp_elf_table table;
	int err = map_file(path, &elf);

	if (!err && (elf.eh.e_type != ET_DYN ||
		     !dp_elf_table(&elf, SHT_DYNSYM, &table)))
		err = -ENOEXEC;
	if (!err)
		err = check_symbols(&table, path, allowed, diag);
	if (elf.image)
		munmap(elf.image, elf.size);
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
