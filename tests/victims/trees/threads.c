// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Six threads at one time, each with calls of its own; some make threads themselves */
#include "trees.h"
#include <pthread.h>

CALLED long f_leaf(long n)
{
	return n * 3;
}

CALLED long f_walk(long n, long way)
{
	if (!n)
		return f_leaf(way);
	return way & 1 ? f_walk(n - 1, way / 2) :
			 f_walk(n - 1, way * 3) + f_leaf(n);
}

CALLED void *f_inner(void *arg)
{
	return (void *)f_walk(5, (long)arg);
}

CALLED void *f_thread(void *arg)
{
	long i, s = 0, id = (long)arg;
	pthread_t t;

	if (id % 2)
		pthread_create(&t, 0, f_inner, arg);
	for (i = 0; i < 30; i++)
		s += f_walk(i % 7, i * 13 + id);
	if (id % 2)
		pthread_join(t, 0);
	return (void *)s;
}

UNTOLD int main(void)
{
	pthread_t t[6];
	long i;

	for (i = 0; i < 6; i++)
		pthread_create(&t[i], 0, f_thread, (void *)(i * 101));
	f_thread((void *)1000);
	for (i = 0; i < 6; i++)
		pthread_join(t[i], 0);
	return 0;
}
