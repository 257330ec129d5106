/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fake: a deterministic world in which any allocation can be made to fail. */
#ifndef DP_PORT_FAKE_H
#define DP_PORT_FAKE_H

#include "port_types.h"

/**
 * dp_fake_fail_alloc() - let the nth allocation from now fail (0: none)
 *
 * Counts calls of dp_port_alloc() and dp_port_resize(); only the nth one fails. A program
 * that has written behind an allocation is ended when that is resized or freed.
 * Return: as asked before, less what has been allocated since; 0: that one has failed.
 */
unsigned int dp_fake_fail_alloc(unsigned int nth);

/** dp_fake_live() - allocations that have not been freed */
long dp_fake_live(void);

#endif
