// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arguments and results that do not fit into registers, and those of vector registers */
#include "trees.h"
#include <complex.h>

struct big {
	long v[20];
};
struct pair {
	double a;
	long b;
};
typedef float vector __attribute__((vector_size(16)));

CALLED struct big f_fill(long n)
{
	struct big b;
	int i;

	for (i = 0; i < 20; i++)
		b.v[i] = n + i;
	return b;
}

CALLED long f_total(struct big b, int from)
{
	return from < 20 ? b.v[from] + f_total(b, from + 1) : 0;
}

CALLED struct big f_next(struct big b)
{
	return f_fill(f_total(b, 10));
}

CALLED struct pair f_pair(struct pair p)
{
	return (struct pair){ (double)p.b, (long)p.a };
}

CALLED __int128 f_wide(__int128 n)
{
	return n > 1 ? n * f_wide(n - 1) : 1;
}

CALLED long double f_long(long double x)
{
	return x > 1 ? x * f_long(x - 1) : 1;
}

CALLED double complex f_complex(double complex z, int n)
{
	return n ? f_complex(z * z, n - 1) : z;
}

CALLED vector f_vector(vector v, int n)
{
	return n ? f_vector(v + v, n - 1) : v;
}

UNTOLD int main(void)
{
	struct pair p = f_pair(f_pair((struct pair){ 1, 2 }));

	return f_total(f_next(f_next(f_fill(3))), 0) < 0 || p.b != 2 ||
	       f_wide(20) != (__int128)f_long(20) ||
	       creal(f_complex(I, 4)) != 1 ||
	       f_vector((vector){ 1, 2, 3, 4 }, 5)[2] != 96;
}
