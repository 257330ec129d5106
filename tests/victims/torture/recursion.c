// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* recursion: 100,000 deep, back by returns and by longjmp, on several threads. */
#include "torture.h"
#include <pthread.h>
#include <setjmp.h>

#define DEPTH 100000
#define STACK (256 << 20)

static APART long sum_to(long n)
{
	long sum = n ? n + sum_to(n - 1) : 0;

	STAY();
	return sum;
}

static long pong(long n);

static APART long ping(long n)
{
	long sum = n ? 1 + pong(n - 1) : 0;

	STAY();
	return sum;
}

static APART long pong(long n)
{
	long sum = n ? 2 + ping(n - 1) : 0;

	STAY();
	return sum;
}

static APART int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static APART int ackermann(int m, int n)
{
	if (!m)
		return n + 1;
	return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

static APART long dive(long n, jmp_buf up)
{
	long deeper;

	if (!n)
		longjmp(up, 1);
	deeper = dive(n - 1, up);
	STAY();
	return deeper + 1;
}

static APART bool dive_and_jump(void)
{
	jmp_buf up;

	if (setjmp(up))
		return true;
	dive(DEPTH, up);
	return false;
}

static APART bool all(void)
{
	return sum_to(DEPTH) == DEPTH * (DEPTH + 1L) / 2 &&
	       ping(DEPTH) == DEPTH / 2 * 3 && dive_and_jump() &&
	       sum_to(DEPTH / 2) == DEPTH / 2 * (DEPTH / 2 + 1L) / 2 &&
	       fibonacci(20) == 6765 && ackermann(2, 50) == 103;
}

static void *thread(void *arg)
{
	return (void *)(long)all();
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t id[3];
	void *good;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_create(&id[0], &attr, thread, NULL);
	pthread_join(id[0], &good);
	check("deep", good != NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&id[i], &attr, thread, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_join(id[i], &good);
		check("deep, three threads at once", good != NULL);
	}
	return verdict();
}
