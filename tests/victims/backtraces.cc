// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// backtraces: mark() is called from stacks of many kinds, in the same order each time.
#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

static volatile long sink;

extern "C" __attribute__((noinline)) void mark(long n)
{
	sink += n;
}

struct counted {
	int v;
	bool operator<(const counted &o) const
	{
		mark(v);
		return v < o.v;
	}
};

struct marks {
	~marks()
	{
		mark(77);
	}
};

static int order(const void *a, const void *b)
{
	mark(1);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static long recurse(long n)
{
	char room[40];

	snprintf(room, sizeof(room), "%ld", n);
	if (n)
		return recurse(n - 1) + room[0];
	mark(n);
	return room[0];
}

__attribute__((noinline)) static void of_any_size(int n)
{
	char *p = (char *)__builtin_alloca(n);

	p[0] = (char)n;
	mark(p[0]);
	sink += p[0];
}

__attribute__((noinline)) static void aligned()
{
	int v[16] __attribute__((aligned(64)));

	v[sink & 15] = 1;
	mark((long)v & 63);
	of_any_size(100);
	sink += v[3];
}

static void handler(int)
{
	mark(2);
	aligned();
}

__attribute__((noinline)) static void throws()
{
	marks m;

	if (sink != -1)
		throw std::runtime_error("x");
}

static char other_stack[65536];

static void signals()
{
	struct sigaction act = {};
	stack_t other = {};

	act.sa_handler = handler;
	sigaction(SIGUSR1, &act, nullptr);
	raise(SIGUSR1);
	other.ss_sp = other_stack;
	other.ss_size = sizeof(other_stack);
	sigaltstack(&other, nullptr);
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &act, nullptr);
	raise(SIGUSR1);
}

int main()
{
	std::vector<counted> v;
	int w[] = { 4, 2, 9, 7, 1 };

	for (int i = 0; i < 30; i++)
		v.push_back({ i * 7 % 31 });
	std::sort(v.begin(), v.end());
	qsort(w, 5, sizeof(*w), order);
	for (int i = 0; i < 10; i++)
		recurse(i);
	aligned();
	signals();
	try {
		throws();
	} catch (const std::exception &) {
		mark(3);
	}
	std::function<void()> f = [] { recurse(2); };
	f();
	atexit([] { mark(4); });
	return 0;
}
