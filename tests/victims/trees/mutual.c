// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions that call each other */
#include "trees.h"

CALLED int f_odd(unsigned int n);
CALLED long f_term(const char **s);

CALLED int f_even(unsigned int n)
{
	return n ? f_odd(n - 1) : 1;
}

CALLED int f_odd(unsigned int n)
{
	return n ? f_even(n - 1) : 0;
}

CALLED long f_sum(const char **s)
{
	long sum = f_term(s);

	while (**s == '+') {
		++*s;
		sum += f_term(s);
	}
	return sum;
}

CALLED long f_factor(const char **s)
{
	long n;

	if (**s != '(')
		return *(*s)++ - '0';
	++*s;
	n = f_sum(s);
	++*s;
	return n;
}

CALLED long f_term(const char **s)
{
	long product = f_factor(s);

	while (**s == '*') {
		++*s;
		product *= f_factor(s);
	}
	return product;
}

UNTOLD int main(void)
{
	const char *s = "1+2*(3+4*(5+6)*(7+8))*((9))+(1+(2+(3)))";

	return f_sum(&s) != 1 + 2 * 663 * 9 + 6 || !f_even(30);
}
