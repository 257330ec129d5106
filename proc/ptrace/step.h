/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * step: marks in the protocols, so that a test can end the tool after each.
 *
 * In the product a step does nothing; a test build links a dp_step() of its own
 * (tests/tools/steps.c).
 */
#ifndef DP_STEP_H
#define DP_STEP_H

#include <stdbool.h>

/** dp_step_fails() - is what @name says to fail here, as it does elsewhere? In the
 *  product it never is. */
bool dp_step_fails(const char *name);

/** dp_step() - a step of the attach, arm or detach protocol has been done */
void dp_step(const char *name);

#endif
