// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* 400 functions, each of which calls two of the others */
#include "trees.h"
#include <utility>

#define FUNCTIONS 400

typedef long (*function)(long n);
static const function *all;

template <int I> CALLED long f_each(long n)
{
	if (n <= 0)
		return n;
	return all[(n * 7 + I) % FUNCTIONS](n - 1) +
	       all[(n + I * 3) % FUNCTIONS](n - 4);
}

template <int... I> UNTOLD static void make(std::integer_sequence<int, I...>)
{
	static const function table[] = { f_each<I>... };

	all = table;
}

UNTOLD int main()
{
	int i;

	make(std::make_integer_sequence<int, FUNCTIONS>());
	for (i = 0; i < FUNCTIONS; i++)
		all[i](i % 11);
	return 0;
}
