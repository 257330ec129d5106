// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* begin: the tests of the files that are linked behind this one. */
#include "conform.h"

extern const struct conform_test *const conform_begin[];
const struct conform_test *const conform_begin[0]
	__attribute__((used, section("conform_tests")));
