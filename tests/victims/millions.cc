// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* millions: millions [TIMES]: throws so often through three functions, and counts. */
#include <cstdio>
#include <cstdlib>

struct counted {
	long &n;
	explicit counted(long &count) : n(count)
	{
	}
	~counted()
	{
		n++;
	}
};

extern "C" __attribute__((noipa)) long millions_inner(long i)
{
	throw i;
}

extern "C" __attribute__((noipa)) long millions_middle(long i, long &destroyed)
{
	counted local(destroyed);

	return millions_inner(i) + 1;
}

extern "C" __attribute__((noipa)) long millions_outer(long i, long &destroyed)
{
	counted local(destroyed);

	return millions_middle(i, destroyed) + 1;
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? std::atol(argv[1]) : 1000000, destroyed = 0;
	long sum = 0;

	for (long i = 0; i < times; i++) {
		try {
			millions_outer(i, destroyed);
		} catch (long thrown) {
			sum += thrown;
		}
	}
	std::printf("%ld destroyed, sum %ld\n", destroyed, sum);
	return 0;
}
