// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A library that comes and goes. */
long so_first(long a);
long so_second(long a);

long so_first(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 3 + 1;
}

long so_second(long a)
{
	__asm__ volatile("" : "+r"(a));
	return so_first(a) + 5;
}
