// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Another one, which may come to the same place. */
long so_first(long a);
long so_second(long a);

long so_second(long a)
{
	__asm__ volatile("" : "+r"(a));
	return a * 7;
}

long so_first(long a)
{
	__asm__ volatile("nop; nop" : "+r"(a));
	return a - 11 + so_second(a);
}
