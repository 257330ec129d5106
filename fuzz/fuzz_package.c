// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_package: any bytes as a .dwp file, of which units are cut out, as a .dwo file, whose sections
 * are joined, and as a file that refers to that of dwz. What comes out is an ELF file, as large as
 * what is counted.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sym/types/package.h"
#include "fuzz/walk.h"

#define IDS 16
#define MOST (1u << 20)

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static int file_of(const u8 *data, size_t size)
{
	int fd = memfd_create("dwp", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	return fd;
}

/* @fd: a file of what was taken from the MOST bytes that there may be, of which some are left */
static void check(int fd, u64 left)
{
	struct dp_elf elf;
	struct stat st;

	if (fd < 0)
		return;
	must(!fstat(fd, &st) && left <= MOST &&
	     (u64)st.st_size <= MOST - left + 4096);
	must(!dp_elf_open_debug(&elf, fd) && elf.n_sh >= 2);
	must(!strcmp(dp_elf_section_name(&elf, &elf.sh[elf.n_sh - 1]),
		     ".shstrtab"));
	dp_elf_close(&elf);
}

static void read_package(const u8 *data, size_t size)
{
	struct dp_package p;
	u64 id, left;
	int i;

	if (dp_package_open(&p, file_of(data, size)))
		return;
	for (i = 0; i < IDS && 16 + 8ull * (i + 1) <= p.len; i++) {
		memcpy(&id, p.index + 16 + 8 * i, sizeof(id));
		left = MOST;
		check(dp_package_cut(&p, id, &left), left);
	}
	dp_package_close(&p);
}

static void read_others(const u8 *data, size_t size)
{
	struct dp_altlink link;
	struct dp_elf elf;
	u64 left = MOST;

	if (dp_elf_open_debug(&elf, file_of(data, size)))
		return;
	if (!dp_altlink_read(&elf, &link))
		must(link.len >= 2 && link.len <= sizeof(link.id) &&
		     strnlen(link.name, sizeof(link.name)) < sizeof(link.name));
	if (dp_package_is_loose(&elf))
		check(dp_package_join(&elf, &left), left);
	dp_elf_close(&elf);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	read_package(data, size);
	read_others(data, size);
	return 0;
}
