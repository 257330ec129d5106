// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* victims: functions with the prologues and conventions that a compiler gives. */
#include "victims.h"
#ifdef __KERNEL__
#include <linux/stdarg.h>
#include <linux/string.h>
#undef noinline
#else
#include <stdarg.h>
#include <string.h>
#endif

/* Called as written, and with the standard's registers. */
#define VICTIM_CODE __attribute__((noinline, noclone))
#define KEEP() __asm__ volatile("" ::: "memory")

VICTIM_CODE long c_plain(long a, long b)
{
	KEEP();
	return a * 3 + b;
}

VICTIM_CODE long c_other(long a, long b)
{
	KEEP();
	return a * 5 + b;
}

VICTIM_CODE long c_third(long a, long b)
{
	KEEP();
	return a * 7 + b;
}

VICTIM_CODE long c_frame(long n)
{
	volatile char room[200];
	long i, sum = 0;

	for (i = 0; i < 200; i++)
		room[i] = i & 3;
	for (i = 0; i < n && i < 200; i++)
		sum += room[i];
	return sum;
}

VICTIM_CODE long c_recurse(long n)
{
	long below = n > 0 ? c_recurse(n - 1) : 0;

	KEEP();
	return below + n;
}

VICTIM_CODE long c_fib(long n)
{
	long a, b;

	if (n < 2)
		return n;
	a = c_fib(n - 1);
	b = c_fib(n - 2);
	KEEP();
	return a + b;
}

/* For lookups by name: static, and kept by being called. */
static VICTIM_CODE int c_static_function(int n)
{
	KEEP();
	return n + 1000;
}

VICTIM_CODE int c_static_caller(int n)
{
	return c_static_function(n) + 1;
}

VICTIM_CODE long c_six(long a, long b, long c, long d, long e, long f)
{
	KEEP();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

VICTIM_CODE long c_stack64(long a, long b, long c, long d, long e, long f,
			   long s0, long s1, long s2, long s3, long s4, long s5,
			   long s6, long s7)
{
	KEEP();
	return c_six(a, b, c, d, e, f) + 7 * s0 + 8 * s1 + 9 * s2 + 10 * s3 +
	       11 * s4 + 12 * s5 + 13 * s6 + 14 * s7;
}

VICTIM_CODE long c_stack72(long a, long b, long c, long d, long e, long f,
			   long s0, long s1, long s2, long s3, long s4, long s5,
			   long s6, long s7, long s8)
{
	KEEP();
	return c_stack64(a, b, c, d, e, f, s0, s1, s2, s3, s4, s5, s6, s7) +
	       15 * s8;
}

#ifndef __KERNEL__
VICTIM_CODE double c_doubles(double a, float b, double c, double d, double e,
			     double f, double g, double h, double i)
{
	KEEP();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h +
	       9 * i;
}

VICTIM_CODE long double c_long_double(long double a, long double b)
{
	KEEP();
	return a / b;
}

VICTIM_CODE double _Complex c_complex(double _Complex a)
{
	KEEP();
	return a + 1.0;
}

VICTIM_CODE long double _Complex c_long_complex(long double _Complex a)
{
	KEEP();
	return a + 1.0L;
}
#endif

VICTIM_CODE __int128 c_int128(__int128 a)
{
	KEEP();
	return a + (((__int128)5 << 64) | 7);
}

VICTIM_CODE struct big c_big(struct big in, long add)
{
	struct big out;
	int i;

	for (i = 0; i < 9; i++)
		out.v[i] = in.v[i] + add;
	return out;
}

#ifndef __KERNEL__
VICTIM_CODE struct pair c_pair(struct pair in)
{
	KEEP();
	return (struct pair){ in.a + 1, in.b * 2 };
}

/* Adds @n doubles: the number of vector registers comes in al. */
VICTIM_CODE long c_varargs(int n, ...)
{
	double sum = 0;
	va_list ap;

	va_start(ap, n);
	while (n-- > 0)
		sum += va_arg(ap, double);
	va_end(ap);
	return (long)sum;
}
#endif

VICTIM_CODE long __attribute__((ms_abi))
c_ms(long a, long b, long c, long d, long e, long f)
{
	KEEP();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

#ifndef __KERNEL__
VICTIM_CODE double __attribute__((ms_abi))
c_ms_double(double a, long b, double c, long d, double e)
{
	KEEP();
	return a + 2 * b + 3 * c + 4 * d + 5 * e;
}
#endif

VICTIM_CODE long c_call_back(void (*back)(long), long arg)
{
	back(arg);
	KEEP();
	return arg + 1;
}

/* Leaves by a jump to c_plain(), or returns. */
VICTIM_CODE long c_tail(long a, long b)
{
	KEEP();
	if (a < 0)
		return 2 * a;
	return c_plain(a + 1, b);
}

#ifndef __KERNEL__
VICTIM_CODE void c_jump_out(jmp_buf env)
{
	KEEP();
	longjmp(env, 1);
}
#endif

VICTIM_CODE const void *c_look_back(void)
{
	KEEP();
	return __builtin_return_address(0);
}

VICTIM_CODE void c_void(void)
{
	KEEP();
}
