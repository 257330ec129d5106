// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* twins: a second static function of a name that test_register.c has, too. */
#include "twins.h"

static __attribute__((noinline, noclone)) int c_twin(int n)
{
	__asm__ volatile("");
	return n + 2;
}

int c_other_twin(int n)
{
	return c_twin(n) * 2;
}
