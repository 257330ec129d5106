// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* 4,000 levels, down and up, with calls at the bottom and on the way back */
#include "trees.h"

CALLED long f_leaf(long n)
{
	return n + 1;
}

CALLED long f_down(long n)
{
	long s = n ? f_down(n - 1) : f_leaf(n);

	return n % 100 ? s + 1 : f_leaf(s);
}

UNTOLD int main(void)
{
	return f_down(4000) + f_down(3) < 0;
}
