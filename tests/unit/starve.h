/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* starve: what happens when memory runs out, at each request for it. */
#ifndef DP_TEST_STARVE_H
#define DP_TEST_STARVE_H

#include <errno.h>
#include "port/fake/fake.h"

#define STARVE_MAX 100

/* Let each allocation of @run fail in turn: it has to say so and to leave nothing.
 * @run: 0 or a negative errno. Return: which one it no longer came to. */
static inline unsigned int starve(int (*run)(void))
{
	unsigned int nth, left = 0;
	int err;

	for (nth = 0; !left && nth < STARVE_MAX;) {
		dp_fake_fail_alloc(++nth);
		err = run();
		left = dp_fake_fail_alloc(0);
		assert_int_equal(dp_fake_live(), 0);
		assert_int_equal(err, left ? 0 : -ENOMEM);
	}
	return nth;
}

#endif
