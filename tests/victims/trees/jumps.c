// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* longjmp over some calls, to a caller and to a caller's caller */
#include "trees.h"
#include <setjmp.h>

extern __thread int told_depth;
static jmp_buf outer, inner;

CALLED long f_leaf(long n)
{
	return n + 1;
}

CALLED long f_jump(long n)
{
	f_leaf(n);
	if (n % 3 == 1)
		longjmp(inner, 1);
	if (n % 7 == 2)
		longjmp(outer, 1);
	return n;
}

CALLED long f_low(long n)
{
	return f_jump(n) + f_leaf(n);
}

CALLED long f_middle(long n)
{
	int depth = told_depth;
	long s;

	if (setjmp(inner)) {
		told_depth = depth;
		s = f_low(n * 3);
		return f_leaf(s) + f_leaf(n);
	}
	s = f_low(n) + f_low(n + 3);
	return s + f_leaf(n);
}

CALLED long f_high(long n)
{
	return f_middle(n) + f_middle(n + 1);
}

UNTOLD int main(void)
{
	int depth = told_depth;
	volatile long i, s = 0;

	for (i = 0; i < 60; i++) {
		if (setjmp(outer))
			told_depth = depth;
		else
			s += f_high(i);
	}
	/* Calls at each place on the stack, so that what was left is known to be */
	return f_high(0) < 0;
}
