// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions that call themselves, once and twice */
#include "trees.h"

CALLED long f_fib(long n)
{
	return n < 2 ? n : f_fib(n - 1) + f_fib(n - 2);
}

CALLED long f_ackermann(long m, long n)
{
	if (!m)
		return n + 1;
	return f_ackermann(m - 1, n ? f_ackermann(m, n - 1) : 1);
}

CALLED void f_hanoi(int n, char from, char to, char by)
{
	if (!n)
		return;
	f_hanoi(n - 1, from, by, to);
	f_hanoi(n - 1, by, to, from);
}

UNTOLD int main(void)
{
	f_hanoi(6, 'a', 'b', 'c');
	return f_fib(12) + f_ackermann(2, 3) != 144 + 9;
}
