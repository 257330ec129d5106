// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* time: clocks, read through the vDSO if the process has one. */
#include "lib/compat/compat.h"
#include "sym/elf/headers.h"
#include <sys/auxv.h>

struct stamp {
	long sec;
	long nsec;
};

enum { REALTIME = 0, MONOTONIC = 1, RAW = 4, COARSE = 6, BOOTTIME = 7 };

static int (*vdso_clock)(int clock, struct stamp *stamp);

/* Runs before any handler, so it may call libc's getauxval(). */
static void __attribute__((constructor)) find_vdso(void)
{
	const Elf64_Ehdr *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct dp_elf_table table;
	struct dp_elf elf;
	uint64_t off, avail;
	size_t i;

	/* The section headers are at the end of the image. */
	if (!image ||
	    !dp_elf_view(&elf, image,
			 image->e_shoff +
				 image->e_shnum * sizeof(Elf64_Shdr)) ||
	    !dp_elf_table(&elf, SHT_DYNSYM, &table))
		return;
	for (i = 0; i < table.n; i++)
		if (table.v[i].st_shndx != SHN_UNDEF &&
		    !strcmp(dp_elf_name(&table, &table.v[i]),
			    "__vdso_clock_gettime") &&
		    !dp_elf_offset(&elf, table.v[i].st_value, &off, &avail))
			vdso_clock = (void *)(elf.image + off);
}

static s64 read_clock(int clock)
{
	struct stamp stamp = { 0, 0 };

	if (!vdso_clock || vdso_clock(clock, &stamp))
		dp_sys3(__NR_clock_gettime, clock, &stamp, 0);
	return stamp.sec * NSEC_PER_SEC + stamp.nsec;
}

#define DP_CLOCK(name, clock)             \
	ktime_t name(void)                \
	{                                 \
		return read_clock(clock); \
	}

DP_CLOCK(ktime_get, MONOTONIC)
DP_CLOCK(ktime_get_real, REALTIME)
DP_CLOCK(ktime_get_boottime, BOOTTIME)
DP_CLOCK(ktime_get_raw, RAW)
DP_CLOCK(ktime_get_coarse, COARSE)

unsigned long dp_compat_jiffies(void)
{
	return (unsigned long)(read_clock(COARSE) / NSEC_PER_MSEC);
}

void ndelay(unsigned long ns)
{
	s64 end = ktime_get() + (s64)ns;

	while (ktime_get() < end)
		__builtin_ia32_pause();
}

void dp_compat_nsleep(unsigned long ns)
{
	struct stamp stamp = { (long)(ns / NSEC_PER_SEC),
			       (long)(ns % NSEC_PER_SEC) };

	while (dp_sys3(__NR_nanosleep, &stamp, &stamp, 0) == -EINTR)
		continue;
}
