// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_package: any bytes as a .dwp file, of which units are cut out, and as a file that refers to
 * that of dwz. What is cut out is an ELF file, no larger than what it is cut out of.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sym/types/package.h"
#include "fuzz/walk.h"

#define IDS 16

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static int file_of(const u8 *data, size_t size)
{
	int fd = memfd_create("dwp", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

static void cut(const struct dp_package *p, u64 id)
{
	u64 left = 1u << 20;
	struct dp_elf elf;
	struct stat st;
	int fd = dp_package_cut(p, id, &left);

	if (fd < 0)
		return;
	must(!fstat(fd, &st) && left <= 1u << 20 &&
	     (u64)st.st_size <= (1u << 20) - left + 4096);
	must(!dp_elf_open_debug(&elf, fd) && elf.n_sh >= 2);
	must(!strcmp(dp_elf_section_name(&elf, &elf.sh[elf.n_sh - 1]),
		     ".shstrtab"));
	dp_elf_close(&elf);
}

static void read_package(const u8 *data, size_t size)
{
	struct dp_package p;
	u64 id;
	int i;

	if (dp_package_open(&p, file_of(data, size)))
		return;
	for (i = 0; i < IDS && 16 + 8ull * (i + 1) <= p.len; i++) {
		memcpy(&id, p.index + 16 + 8 * i, sizeof(id));
		cut(&p, id);
	}
	dp_package_close(&p);
}

static void read_altlink(const u8 *data, size_t size)
{
	struct dp_altlink link;
	struct dp_elf elf;

	if (dp_elf_open_debug(&elf, file_of(data, size)))
		return;
	if (!dp_altlink_read(&elf, &link))
		must(link.len >= 2 && link.len <= sizeof(link.id) &&
		     strnlen(link.name, sizeof(link.name)) < sizeof(link.name));
	dp_elf_close(&elf);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	read_package(data, size);
	read_altlink(data, size);
	return 0;
}
