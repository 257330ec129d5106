// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Exceptions that pass calls, are caught, thrown again, and destroy objects, which call functions, too */
#include "trees.h"
#include <stdexcept>

extern "C" {
CALLED long f_leaf(long n)
{
	return n + 1;
}
CALLED void f_gone(long n)
{
	f_leaf(n);
}
}

struct object {
	long n;
	UNTOLD explicit object(long n) : n(n)
	{
	}
	UNTOLD ~object()
	{
		f_gone(n);
	}
};

extern "C" {
CALLED long f_throw(long n)
{
	f_leaf(n);
	if (n % 3 == 0)
		throw std::runtime_error("third");
	if (n % 5 == 0)
		throw(int) n;
	return n;
}

CALLED long f_pass(long n)
{
	object o(n);

	return f_throw(n) + f_leaf(1);
}

CALLED long f_again(long n)
{
	try {
		return f_pass(n) + f_pass(n + 1);
	} catch (int i) {
		f_leaf(i);
		throw;
	}
}

CALLED long f_other(long n)
{
	try {
		return f_again(n);
	} catch (std::runtime_error &e) {
		f_leaf(2);
		throw std::logic_error(e.what());
	}
}

CALLED long f_catch(long n)
{
	try {
		return f_other(n) + f_other(n + 2);
	} catch (std::logic_error &) {
		return f_leaf(n);
	} catch (...) {
		f_pass(1);
		return f_leaf(n + 1);
	}
}
}

UNTOLD int main()
{
	long s = 0, i;

	for (i = 0; i < 32; i++)
		s += f_catch(i);
	return s < 0;
}
