// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* throw: an exception that passes through three functions. */
#include "bench/self/throw.h"
#include <stdexcept>
#include <time.h>

#define FRAME __attribute__((noinline, noipa))

struct local {
	volatile int n;
	explicit local(int n) : n(n)
	{
	}
	~local()
	{
		n = 0;
	}
};

FRAME int bench_throw3(int n)
{
	local here(n);

	if (n >= 0)
		throw std::runtime_error("thrown");
	return here.n;
}

FRAME int bench_throw2(int n)
{
	local here(n);

	return bench_throw3(n) + here.n;
}

FRAME int bench_throw1(int n)
{
	local here(n);

	return bench_throw2(n) + here.n;
}

static double now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double bench_throw_cost(int throws)
{
	double start = now();

	for (int i = 0; i < throws; i++)
		try {
			bench_throw1(i);
		} catch (const std::exception &) {
		}
	return (now() - start) / throws;
}
