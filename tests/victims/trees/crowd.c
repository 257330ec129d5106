// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* 200 threads, one after another, each of which has some calls of its own */
#include "trees.h"
#include <pthread.h>

CALLED long f_leaf(long n)
{
	return n + 1;
}

CALLED void *f_thread(void *arg)
{
	long i, s = 0;

	for (i = (long)arg % 17; i >= 0; i--)
		s += f_leaf(i);
	return (void *)s;
}

UNTOLD int main(void)
{
	pthread_t t;
	long i;

	for (i = 0; i < 200; i++) {
		pthread_create(&t, 0, f_thread, (void *)i);
		pthread_join(t, 0);
	}
	return 0;
}
