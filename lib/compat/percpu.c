// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* percpu: copies of variables, one a processor. */
#include "lib/compat/compat.h"

/* Each copy begins on a cache line of its own. */
static size_t stride_of(const char *start, const char *stop)
{
	return ALIGN((size_t)(stop - start), 64);
}

/* Make the copies of a module's section, once. */
static char *make_copies(char *start, char *stop, void **copies)
{
	size_t size = (size_t)(stop - start), stride = stride_of(start, stop);
	size_t total = stride * NR_CPUS;
	char *fresh = dp_map(total, DP_MAP_NORESERVE);
	unsigned int cpu;

	/* Without memory all CPUs share one copy, which is correct but slow. */
	if (!fresh)
		return NULL;
	for (cpu = 0; cpu < num_possible_cpus(); cpu++)
		memcpy(fresh + stride * cpu, start, size);
	return dp_map_first(copies, fresh, total);
}

void *dp_compat_percpu(const volatile void *p, unsigned int cpu, char *start,
		       char *stop, void **copies)
{
	char *at = (char *)p, *base;

	if (at < start || at >= stop)
		return at + (size_t)cpu * DP_PERCPU_STRIDE;
	base = smp_load_acquire(copies);
	if (!base)
		base = make_copies(start, stop, copies);
	if (!base)
		return at;
	return base + stride_of(start, stop) * cpu + (at - start);
}

/*
 * Allocated variables: the first CPU's part of one area is cut into units of 64 bytes.
 * @taken has a byte for each unit. The first unit of an allocation is a header.
 */
#define DP_UNIT 64
#define DP_UNITS (DP_PERCPU_STRIDE / DP_UNIT)

static char *region;
static u8 taken[DP_UNITS];

static char *the_region(void)
{
	char *now = smp_load_acquire(&region);
	size_t size = (size_t)DP_PERCPU_STRIDE * NR_CPUS;

	if (!now && (now = dp_map(size, DP_MAP_NORESERVE)))
		now = dp_map_first((void **)&region, now, size);
	return now;
}

/* Take the units [@from, @from + @n). Return: false: some unit was not free. */
static bool take(size_t from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (!xchg(&taken[from + i], 1))
			continue;
		while (i--)
			smp_store_release(&taken[from + i], 0);
		return false;
	}
	return true;
}

void *__alloc_percpu(size_t size, size_t align)
{
	size_t i, n = 1 + DIV_ROUND_UP(size, DP_UNIT);
	char *base = the_region(), *at;
	unsigned int cpu;

	if (!base || align > DP_UNIT || size > DP_PERCPU_STRIDE)
		return NULL;
	for (i = 0; i + n <= DP_UNITS; i++) {
		if (!take(i, n))
			continue;
		at = base + i * DP_UNIT;
		*(size_t *)at = n;
		at += DP_UNIT;
		for (cpu = 0; cpu < num_possible_cpus(); cpu++)
			memset(at + (size_t)cpu * DP_PERCPU_STRIDE, 0, size);
		return at;
	}
	return NULL;
}

void free_percpu(void *p)
{
	size_t i, n, from;

	if (!p)
		return;
	n = *(size_t *)((char *)p - DP_UNIT);
	from = (size_t)((char *)p - region) / DP_UNIT - 1;
	for (i = 0; i < n; i++)
		smp_store_release(&taken[from + i], 0);
}
