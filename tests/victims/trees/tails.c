// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls at the end of functions, which are jumps where the compiler makes them */
#include "trees.h"

CALLED long f_last(long n)
{
	return n * 7;
}

CALLED long f_third(long n)
{
	return n & 1 ? f_last(n + 1) : n;
}

CALLED long f_second(long n)
{
	f_last(n);
	return f_third(n / 2);
}

CALLED long f_first(long n)
{
	return f_second(n + 1);
}

CALLED long f_loop(long n, long s)
{
	static long (*volatile again)(long, long) = f_loop;

	return n ? again(n - 1, s + n) : f_last(s);
}

CALLED long f_around(long n)
{
	return f_first(n) + f_loop(n, 0) + f_last(n);
}

UNTOLD int main(void)
{
	long i, s = 0;

	for (i = 0; i < 12; i++)
		s += f_around(i) + f_first(i);
	return s == 1;
}
