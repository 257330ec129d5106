// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions within functions, which are called by code on the stack */
#include "trees.h"

CALLED long f_apply(long (*f)(long), long n)
{
	return n ? f(n) + f_apply(f, n - 1) : f(0);
}

CALLED long f_outer(long n)
{
	long sum = 0;
	auto __attribute__((noipa)) long f_inner(long i);

	__attribute__((noipa)) long f_inner(long i)
	{
		sum += i;
		return i > 2 && sum < 500 ? f_outer(i - 2) : sum;
	}
	return f_apply(f_inner, n) + sum;
}

UNTOLD int main(void)
{
	return f_outer(6) < 0;
}
