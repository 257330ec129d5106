// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* throws: exceptions that pass through functions, whoever catches them. */
#include "torture.h"
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

static const int times = 60;
static int alive, destroyed;

struct object {
	object()
	{
		alive++;
	}
	object(const object &)
	{
		alive++;
	}
	~object()
	{
		alive--;
		destroyed++;
	}
};

static APART int thrower(int i)
{
	object local;

	if (i >= 0)
		throw std::runtime_error(std::to_string(i));
	return i;
}

static APART int direct(int i)
{
	try {
		return thrower(i);
	} catch (const std::runtime_error &e) {
		return std::stoi(e.what()) + 1;
	}
}

static APART int nest(int depth, int i)
{
	object local;
	int below = depth ? nest(depth - 1, i) : thrower(i);

	STAY();
	return below + 1;
}

static APART int outer(int depth, int i)
{
	try {
		return nest(depth, i);
	} catch (const std::exception &e) {
		return std::stoi(e.what()) + 2;
	}
}

/* Without a landing pad: it has nothing to destroy. */
static APART int plain(int depth, int i)
{
	int below = depth ? plain(depth - 1, i) : thrower(i);

	STAY();
	return below;
}

static APART int outer_plain(int depth, int i)
{
	try {
		return plain(depth, i);
	} catch (...) {
		return i + 3;
	}
}

static APART int rethrow(int depth, int i)
{
	try {
		return depth ? rethrow(depth - 1, i) : thrower(i);
	} catch (const std::runtime_error &) {
		object local;
		throw;
	}
}

static APART int other_type(int depth, int i)
{
	try {
		return depth ? other_type(depth - 1, i) : thrower(i);
	} catch (const std::logic_error &) {
		return -1;
	} catch (const std::runtime_error &e) {
		throw std::out_of_range(e.what());
	}
}

static APART int in_a_handler(int depth)
{
	try {
		throw depth;
	} catch (int n) {
		int below = n ? in_a_handler(n - 1) : direct(5);

		if (n != depth)
			return -1;
		return below + 1;
	}
}

static APART void nested(int depth)
{
	try {
		if (!depth)
			thrower(1);
		nested(depth - 1);
	} catch (...) {
		std::throw_with_nested(std::logic_error("outer"));
	}
}

static APART int count_nested(const std::exception &e)
{
	try {
		std::rethrow_if_nested(e);
	} catch (const std::exception &inner) {
		return 1 + count_nested(inner);
	}
	return 0;
}

static APART int layers(int depth)
{
	try {
		nested(depth);
	} catch (const std::exception &e) {
		return count_nested(e);
	}
	return -1;
}

struct whole : object {
	object first;
	int middle;
	object last;

	APART explicit whole(int i) : middle(thrower(i))
	{
	}
};

struct guarded {
	int value;

	APART explicit guarded(int i)
	try : value(thrower(i)) {
	} catch (const std::runtime_error &e) {
		throw std::logic_error(e.what());
	}
};

static int limit;

struct element : object {
	APART element()
	{
		if (alive > limit)
			throw alive;
	}
};

static APART bool constructors(int i)
{
	int caught = 0;

	try {
		whole w(i);
	} catch (const std::runtime_error &) {
		caught++;
	}
	try {
		guarded g(i);
	} catch (const std::logic_error &) {
		caught++;
	}
	try {
		limit = 5;
		delete[] new element[10];
	} catch (int) {
		caught++;
	}
	limit = 50;
	delete[] new element[10];
	return caught == 3 && !alive && whole(-1).middle == -1;
}

struct thrower_at_end {
	APART ~thrower_at_end() noexcept(false)
	{
		thrower(9);
	}
};

static APART int destructor()
{
	try {
		object local;
		thrower_at_end end;
	} catch (const std::runtime_error &) {
		return 9;
	}
	return 0;
}

static APART void by_library(int which)
{
	static const char *const text = "not a number";
	std::vector<int> v(3);

	if (which == 0)
		v.at(10) = 1;
	else if (which == 1)
		std::stoi(text);
	else if (which == 2)
		std::string("short").substr(10);
	else if (which == 3)
		operator delete(operator new(~0ul >> 2));
	else
		v.reserve(v.max_size() + 1);
}

static APART int library()
{
	int caught = 0;

	for (int i = 0; i < 5; i++)
		try {
			by_library(i);
		} catch (const std::bad_alloc &) {
			caught += 100;
		} catch (const std::logic_error &) {
			caught++;
		}
	return caught;
}

static APART int compare(const void *a, const void *b)
{
	object local;

	return thrower(*(const int *)a) - *(const int *)b;
}

static APART bool through_qsort()
{
	int array[20];

	for (int i = 0; i < 20; i++)
		array[i] = 20 - i;
	try {
		qsort(array, 20, sizeof(*array), compare);
	} catch (const std::runtime_error &) {
		return true;
	}
	return false;
}

template <typename F> static void always(const char *what, F test)
{
	bool good = true;

	for (int i = 0; i < times; i++)
		good &= test(i);
	check(what, good && !alive);
}

static bool rethrown(int i)
{
	try {
		return rethrow(i % 20, i) < 0;
	} catch (const std::runtime_error &e) {
		return std::stoi(e.what()) == i;
	}
}

static bool changed(int i)
{
	try {
		return other_type(0, i) < 0;
	} catch (const std::out_of_range &e) {
		return std::stoi(e.what()) == i && other_type(1, i) == -1;
	}
}

static bool destroys(int i)
{
	destroyed = 0;
	return outer(i % 50, i) == i + 2 && destroyed == i % 50 + 2;
}

int main()
{
	always("caught by the caller",
	       [](int i) { return direct(i) == i + 1; });
	always("not thrown", [](int i) { return direct(-i - 1) == -i - 1; });
	always("caught farther out", destroys);
	always("through frames without a landing pad",
	       [](int i) { return outer_plain(i % 50, i) == i + 3; });
	always("rethrown", rethrown);
	always("another in its place", changed);
	always("thrown in handlers",
	       [](int i) { return in_a_handler(i % 20) == 7 + i % 20; });
	always("nested", [](int i) { return layers(i % 10) == i % 10 + 1; });
	always("out of constructors", constructors);
	always("out of a destructor", [](int) { return destructor() == 9; });
	always("from the library", [](int) { return library() == 104; });
	always("through qsort", [](int) { return through_qsort(); });
	return verdict();
}
