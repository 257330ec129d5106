// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arguments of any number and kind */
#include "trees.h"
#include <stdarg.h>
#include <stdio.h>

CALLED double f_add(double a, double b)
{
	return a + b;
}

CALLED double f_list(const char *kinds, va_list args)
{
	double sum = 0;

	for (; *kinds; kinds++)
		sum = f_add(sum,
			    *kinds == 'd' ? va_arg(args, double) :
			    *kinds == 'L' ? (double)va_arg(args, long double) :
					    va_arg(args, int));
	return sum;
}

CALLED double f_sum(const char *kinds, ...)
{
	va_list args;
	double sum;

	va_start(args, kinds);
	sum = f_list(kinds, args);
	va_end(args);
	return sum;
}

CALLED int f_print(char *to, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsprintf(to, format, args);
	va_end(args);
	return n;
}

UNTOLD int main(void)
{
	char text[100];

	if (f_sum("idLidiidddddddLi", 1, 2.0, 3.0L, 4, 5.0, 6, 7, 8., 9., 10.,
		  11., 12., 13., 14., 15.L, 16) != 136)
		return 1;
	return f_print(text, "%d %s %g", 1, "two",
		       f_sum("", 0) + f_sum("d", 3.0)) != 7;
}
