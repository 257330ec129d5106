/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * step: marks in the protocols, so that a test can end the tool after each.
 *
 * In the product a step does nothing; a test build links a dp_step() of its own
 * (tests/tools/steps.c).
 */
#ifndef DP_STEP_H
#define DP_STEP_H

/** dp_step() - a step of the attach, arm or detach protocol has been done */
void dp_step(const char *name);

#endif
