// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions that the C library calls */
#include "trees.h"
#include <search.h>
#include <stdlib.h>

static int met;

CALLED int f_sign(int a, int b)
{
	return (a > b) - (a < b);
}

CALLED int f_compare(const void *a, const void *b)
{
	return f_sign(*(const int *)a, *(const int *)b);
}

CALLED int f_backwards(const void *a, const void *b)
{
	return -f_compare(a, b);
}

CALLED void f_note(void)
{
	met++;
}

CALLED void f_visit(const void *node, VISIT which, int depth)
{
	if (which == leaf || which == postorder)
		f_note();
}

CALLED int f_sorted(int *v, size_t n)
{
	int key = 31;

	qsort(v, n, sizeof(*v), f_backwards);
	qsort(v, n, sizeof(*v), f_compare);
	return bsearch(&key, v, n, sizeof(*v), f_compare) != NULL;
}

UNTOLD int main(void)
{
	void *root = NULL;
	int v[40], i;

	for (i = 0; i < 40; i++)
		v[i] = i * 37 % 41;
	for (i = 0; i < 40; i++)
		tsearch(&v[i], &root, f_compare);
	twalk(root, f_visit);
	return !f_sorted(v, 40) || met != 40;
}
