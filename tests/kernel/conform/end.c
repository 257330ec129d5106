// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* end: of the tests of the files that are linked before this one. */
#include "conform.h"

extern const struct conform_test *const conform_end[];
const struct conform_test *const conform_end[0]
	__attribute__((used, section("conform_tests")));
