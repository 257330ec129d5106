// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* time: clocks, by the kernel's own code in every process where it is found. */
#include "lib/compat/compat.h"
#include <elf.h>
#include <sys/auxv.h>

struct stamp {
	long sec;
	long nsec;
};

enum { REALTIME = 0, MONOTONIC = 1, RAW = 4, COARSE = 6, BOOTTIME = 7 };

static int (*vdso_clock)(int clock, struct stamp *stamp);

struct vdso {
	const char *base; /* what its addresses are relative to */
	const Elf64_Sym *symbols;
	const char *strings;
	const u32 *hash; /* nbucket, nchain, … */
};

static void find_tables(struct vdso *vdso, const Elf64_Dyn *dynamic)
{
	const char *at;

	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		at = vdso->base + dynamic->d_un.d_ptr;
		if (dynamic->d_tag == DT_SYMTAB)
			vdso->symbols = (const Elf64_Sym *)at;
		else if (dynamic->d_tag == DT_STRTAB)
			vdso->strings = at;
		else if (dynamic->d_tag == DT_HASH)
			vdso->hash = (const u32 *)at;
	}
}

static const void *find_symbol(const struct vdso *vdso, const char *name)
{
	u32 i;

	if (!vdso->symbols || !vdso->strings || !vdso->hash)
		return NULL;
	for (i = 0; i < vdso->hash[1]; i++) {
		const Elf64_Sym *symbol = &vdso->symbols[i];

		if (symbol->st_shndx != SHN_UNDEF &&
		    !strcmp(vdso->strings + symbol->st_name, name))
			return vdso->base + symbol->st_value;
	}
	return NULL;
}

/* Before any handler; getauxval() is libc's, and this is the only place. */
static void __attribute__((constructor)) find_vdso(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	const Elf64_Phdr *segment;
	const Elf64_Dyn *dynamic = NULL;
	struct vdso vdso = { .base = image };
	int i;

	if (!image)
		return;
	segment = (const Elf64_Phdr *)(image + header->e_phoff);
	for (i = 0; i < header->e_phnum; i++, segment++) {
		if (segment->p_type == PT_LOAD)
			vdso.base = image + segment->p_offset - segment->p_vaddr;
		else if (segment->p_type == PT_DYNAMIC)
			dynamic = (const Elf64_Dyn *)(image + segment->p_offset);
	}
	if (!dynamic)
		return;
	find_tables(&vdso, dynamic);
	vdso_clock = find_symbol(&vdso, "__vdso_clock_gettime");
}

static s64 read_clock(int clock)
{
	struct stamp stamp = { 0, 0 };

	if (!vdso_clock || vdso_clock(clock, &stamp))
		dp_sys3(__NR_clock_gettime, clock, &stamp, 0);
	return stamp.sec * NSEC_PER_SEC + stamp.nsec;
}

ktime_t ktime_get(void)
{
	return read_clock(MONOTONIC);
}

ktime_t ktime_get_real(void)
{
	return read_clock(REALTIME);
}

ktime_t ktime_get_boottime(void)
{
	return read_clock(BOOTTIME);
}

ktime_t ktime_get_raw(void)
{
	return read_clock(RAW);
}

ktime_t ktime_get_coarse(void)
{
	return read_clock(COARSE);
}

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
