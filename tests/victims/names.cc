// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* names: functions of C++ whose names are hard to write; "ready", and with a number as argument so many rounds. */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

#define APART __attribute__((noinline, noclone))

namespace zoo {
APART int feed(int n)
{
	return n + 1;
}

APART int feed(double n)
{
	return (int)n + 2;
}

APART int feed(const char *what, int n)
{
	return *what + n;
}

template <typename T> APART T twice(T v)
{
	return v + v;
}

struct Animal {
	APART explicit Animal(int legs);
	APART Animal(const std::string &name, int legs);
	APART virtual ~Animal();
	APART virtual int walk() const;
	APART int operator()(int n);
	APART Animal &operator+=(int n);
	APART bool operator<(const Animal &other) const;
	APART operator long() const;
	APART int &operator[](int n);
	int legs;
};

Animal::Animal(int n) : legs(n)
{
}

Animal::Animal(const std::string &name, int n) : legs(n + (int)name.size())
{
}

Animal::~Animal()
{
	legs = 0;
}

int Animal::walk() const
{
	return legs;
}

int Animal::operator()(int n)
{
	return legs *= n;
}

Animal &Animal::operator+=(int n)
{
	legs += n;
	return *this;
}

bool Animal::operator<(const Animal &other) const
{
	return legs < other.legs;
}

Animal::operator long() const
{
	return legs;
}

int &Animal::operator[](int n)
{
	return legs += n, legs;
}

struct Spider : virtual Animal {
	APART Spider();
	APART ~Spider();
};

Spider::Spider() : Animal(8)
{
}

Spider::~Spider()
{
	legs = 1;
}

APART int operator*(const Animal &a, int n)
{
	return a.legs * n;
}

APART long double operator"" _legs(unsigned long long n)
{
	return n * 2;
}

inline namespace v2 {
APART int tagged(int n)
{
	return n + 3;
}
} // namespace v2
} // namespace zoo

namespace {
APART int hidden(int n)
{
	return n * 3;
}
} // namespace

APART int plain(int n)
{
	return n + 7;
}

template <typename F> APART int call(F f)
{
	return f(3);
}

APART int variadic(int n, ...)
{
	return n;
}

APART int lambdas(int n)
{
	auto one = [n](int k) APART { return n + k; };
	auto two = [n](double k) APART { return n * (int)k; };

	return call(one) + one(1) + two(2);
}

static int visit()
{
	zoo::Animal dog(4), cat("cat", 4);
	zoo::Animal *heap = new zoo::Spider;
	std::vector<std::string> list;
	int sum = zoo::feed(1) + zoo::feed(2.0) + zoo::feed("x", 3);

	list.push_back("a");
	sum += zoo::twice(4) + (int)zoo::twice(2.5) + dog(2) +
	       (dog += 1).walk();
	sum += (dog < cat) + (int)(long)cat + cat[1] + dog * 3 + hidden(2);
	sum += plain(1) + lambdas(2) + zoo::tagged(1) + variadic(1, 2);
	sum += (int)zoo::operator"" _legs(2) + (int)list.size();
	delete heap;
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0, sum = 0;

	puts("ready");
	fflush(stdout);
	if (!rounds)
		pause();
	while (rounds--)
		sum += visit();
	return sum == 42 ? 1 : 0;
}
