// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is called before main, and behind it */
#include "trees.h"
#include <cstdlib>

extern "C" {
CALLED int f_leaf(int n)
{
	return n + 1;
}
CALLED int f_open(int n)
{
	return f_leaf(n) + f_leaf(n + 1);
}
CALLED void f_close(int n)
{
	f_leaf(n);
}
CALLED void f_atexit()
{
	f_close(7);
}
__attribute__((constructor(101))) CALLED void f_first()
{
	f_open(1);
}
__attribute__((constructor(102))) CALLED void f_second()
{
	f_leaf(1);
}
__attribute__((destructor(101))) CALLED void f_end()
{
	f_close(9);
}
CALLED int f_main()
{
	return f_open(3);
}
}

struct f_object {
	int n;
	CALLED explicit f_object(int n) : n(f_open(n))
	{
	}
	CALLED ~f_object()
	{
		f_close(n);
	}
};

static f_object one(1), two(2);

CALLED f_object &f_late()
{
	static f_object late(5);

	return late;
}

UNTOLD int main()
{
	f_object inside(4);

	atexit(f_atexit);
	f_late();
	return f_main() + f_late().n == 1;
}
