// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* check: what a module needs, read from its file before any of it runs. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/compat/module.h"
#include <dprobes-module.h>

struct file {
	const char *bytes;
	size_t size;
};

/* What compilers and their start files put into every shared object. */
static bool of_toolchain(const char *name)
{
	static const char *const names[] = {
		"__cxa_finalize",   "__cxa_atexit",    "__gmon_start__",
		"__stack_chk_fail", "__tls_get_addr",  "_GLOBAL_OFFSET_TABLE_",
		"memcpy",	    "memmove",	       "memset",
		"memcmp",	    "bcmp",	       "strlen",
		"__dso_handle",	    "__stack_chk_guard",
	};
	static const char *const prefixes[] = { "_ITM_", "__asan_", "__ubsan_",
						"__sanitizer_", "__gcov_" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static const void *part(const struct file *file, uint64_t offset, uint64_t size)
{
	if (offset > file->size || size > file->size - offset)
		return NULL;
	return file->bytes + offset;
}

static const Elf64_Shdr *section(const struct file *file, uint64_t i)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;

	if (i >= header->e_shnum || header->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	return part(file, header->e_shoff + i * sizeof(Elf64_Shdr),
		    sizeof(Elf64_Shdr));
}

/* Names what is missing, up to ten; the rest is a number. */
static void note(struct dp_diag *diag, const char *path, const char *name, int n)
{
	if (n == 1)
		dp_diag_set(diag, -ENXIO,
			    "%s needs %s, which is neither a function of dprobes nor exported by a module that is loaded",
			    path, name);
	else if (n <= 10)
		dp_diag_add(diag, ", and %s", name);
	else if (n == 11)
		dp_diag_add(diag, ", and more");
}

static int check_symbols(const struct file *file, const Elf64_Shdr *table,
			 const char *path, int (*allowed)(const char *name),
			 struct dp_diag *diag)
{
	const Elf64_Shdr *link = section(file, table->sh_link);
	const Elf64_Sym *symbols = part(file, table->sh_offset, table->sh_size);
	const char *strings, *name;
	uint64_t i;
	int n = 0;

	if (!link || !symbols)
		return -ENOEXEC;
	strings = part(file, link->sh_offset, link->sh_size);
	if (!strings || !link->sh_size || strings[link->sh_size - 1])
		return -ENOEXEC;
	for (i = 1; i < table->sh_size / sizeof(Elf64_Sym); i++) {
		if (symbols[i].st_shndx != SHN_UNDEF)
			continue;
		if (symbols[i].st_name >= link->sh_size)
			return -ENOEXEC;
		name = strings + symbols[i].st_name;
		if (*name && !of_toolchain(name) && !allowed(name))
			note(diag, path, name, ++n);
	}
	return n ? -ENXIO : 0;
}

static int check_file(const struct file *file, const char *path,
		      int (*allowed)(const char *name), struct dp_diag *diag)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
	const Elf64_Shdr *s;
	uint64_t i;

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    header->e_type != ET_DYN || header->e_machine != EM_X86_64)
		return -ENOEXEC;
	for (i = 0; (s = section(file, i)); i++)
		if (s->sh_type == SHT_DYNSYM)
			return check_symbols(file, s, path, allowed, diag);
	return -ENOEXEC;
}

static int map_file(const char *path, struct file *file)
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
	file->bytes = p;
	file->size = (size_t)status.st_size;
	return 0;
}

int dp_compat_check(const char *path, int (*allowed)(const char *name),
		    struct dp_diag *diag)
{
	struct file file = { NULL, 0 };
	int err = map_file(path, &file);

	if (!err) {
		err = check_file(&file, path, allowed, diag);
		munmap((void *)file.bytes, file.size);
	}
	if (err == -ENOEXEC)
		return dp_diag_set(diag, err,
				   "%s is not a shared object for this machine: build it with cc -shared -fPIC $(pkg-config --cflags dprobes-module) -o MOD.so MOD.c",
				   path);
	if (err && err != -ENXIO)
		return dp_diag_set(diag, err, "cannot read %s: %s", path,
				   strerror(-err));
	return err;
}
