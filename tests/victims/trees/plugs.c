// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads a library, whose function is called and calls back, and unloads it */
#include "trees.h"
#include <dlfcn.h>

static long (*plugged)(long n, long (*back)(long));

CALLED long f_leaf(long n)
{
	return n + 1;
}

CALLED long f_back(long n)
{
	return n % 3 ? f_leaf(n) : plugged(n / 4, f_leaf);
}

CALLED long f_use(long n)
{
	return plugged(n, f_back) + f_leaf(n);
}

UNTOLD int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	long i;

	if (!lib)
		return 1;
	*(void **)&plugged = dlsym(lib, "f_plugged");
	for (i = 0; i < 12; i++)
		f_use(i);
	return dlclose(lib);
}
