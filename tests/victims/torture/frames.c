// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* frames: of every shape: alloca, over-aligned, large, with many arguments. */
#include "torture.h"
#include <alloca.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

struct block {
	char byte[100];
};

static APART long sum_of(const unsigned char *p, long n)
{
	long sum = 0;

	while (n--)
		sum += *p++;
	return sum;
}

static APART long dynamic(long n)
{
	unsigned char *p = alloca((size_t)n + 1);

	memset(p, 3, (size_t)n);
	return sum_of(p, n);
}

static APART long variable_length(long n)
{
	unsigned char array[n + 1];
	long sum;

	memset(array, 2, (size_t)n);
	sum = sum_of(array, n);
	STAY();
	return sum;
}

static APART bool aligned(int depth)
{
	__attribute__((aligned(4096))) volatile char page[64];
	__attribute__((aligned(64))) volatile char line[64];
	bool inner = depth == 0 || aligned(depth - 1);

	page[0] = line[0] = (char)depth;
	return inner && !((uintptr_t)page & 4095) && !((uintptr_t)line & 63) &&
	       page[0] == line[0];
}

static APART long large(int depth)
{
	unsigned char room[60000];
	long inner = depth ? large(depth - 1) : 0;

	memset(room, depth, sizeof(room));
	return inner + sum_of(room, (long)sizeof(room));
}

#define TEN(name)                                                            \
	long name##0, long name##1, double name##2, long name##3,            \
		long double name##4, long name##5, struct block name##block, \
		long name##7, __int128 name##8, long name##9
#define SUM(name)                                                      \
	(name##0 + name##1 + (long)name##2 + name##3 + (long)name##4 + \
	 name##5 + name##block.byte[50] + name##7 + (long)name##8 + name##9)

static APART long forty(TEN(a), TEN(b), TEN(c), TEN(d))
{
	long sum = SUM(a) + SUM(b) + SUM(c) + SUM(d);

	/* The callee owns where they lie. */
	d9 = cblock.byte[99] = b7 = 0;
	STAY();
	return sum + d9 + cblock.byte[99] + b7;
}

#define GIVE(n) n, n, n, n, n, n, filled, n, n, n

static bool many_arguments(void)
{
	struct block filled;

	memset(&filled, 7, sizeof(filled));
	for (long i = 0; i < 1000; i++)
		if (forty(GIVE(i), GIVE(1), GIVE(2), GIVE(3)) !=
		    9 * i + 9 + 18 + 27 + 4 * 7)
			return false;
	return true;
}

static APART long listed(int n, va_list ap)
{
	long sum = 0;

	while (n--)
		sum += va_arg(ap, long);
	return sum;
}

static APART long handed_on(int n, ...)
{
	va_list ap;
	long sum;

	va_start(ap, n);
	sum = listed(n, ap);
	va_end(ap);
	return sum;
}

int main(void)
{
	bool good = true;

	for (long i = 0; i < 3000; i++)
		good &= dynamic(i) == 3 * i && variable_length(i) == 2 * i;
	check("frames of variable size", good);
	check("aligned frames", aligned(30));
	check("large frames", large(20) == 60000L * 210);
	check("forty arguments", many_arguments());
	check("a list of arguments", handed_on(12, 1L, 2L, 3L, 4L, 5L, 6L, 7L,
					       8L, 9L, 10L, 11L, 12L) == 78);
	return verdict();
}
