/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hooks: what the tests of hooks share with the library that one of them loads. */
#ifndef TESTS_HOOKS_H
#define TESTS_HOOKS_H

#include <dprobes/hooks.h>

/* Bits for the exits that a call has seen */
USE_HOOK(seen, unsigned int *);

static inline unsigned int run_inline(void)
{
	unsigned int bits = 0;

	HOOK(seen, &bits);
	return bits;
}

#endif
