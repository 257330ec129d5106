// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A library that is loaded later, and calls back */
#include "trees.h"

CALLED long f_plugged(long n, long (*back)(long))
{
	return n ? back(n - 1) + f_plugged(n / 2, back) : back(0);
}
