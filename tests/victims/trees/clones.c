// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Static functions that the compiler makes others of: for constants, for a part of the work, without the result */
#include "trees.h"

static volatile long sum;

__attribute__((noinline)) static long f_constant(long n, int twice)
{
	long i, s = 0;

	for (i = 0; i < n; i++)
		s += twice ? i * sum * 2 : i * sum;
	sum += s;
	return s;
}

__attribute__((noinline)) static long f_ignored(const long *n, long unused)
{
	sum += *n;
	return sum * 3;
}

static long f_inlined(long n)
{
	return f_constant(n, 1) + n;
}

__attribute__((noinline)) static void f_early(long *n)
{
	if (*n < 3)
		return;
	f_ignored(n, 1);
	f_constant(*n, 1);
	sum += f_inlined(*n / 2) + f_inlined(*n / 3);
}

CALLED long f_all(long n)
{
	f_early(&n);
	f_ignored(&n, n);
	return f_constant(n, 1) + f_inlined(n);
}

UNTOLD int main(void)
{
	long i;

	for (i = 0; i < 12; i++)
		f_all(i);
	return sum == 1;
}
