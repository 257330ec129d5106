/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aside: what reads hostile input by a library does so in a child that can do little else. */
#ifndef DP_SYM_ASIDE_H
#define DP_SYM_ASIDE_H

#include "port_types.h"

/**
 * dp_aside_confine() - give up all but memory, and reading of what is open
 * @memory: bytes that the process may have besides what it has
 * @answers: descriptor that may be written to, or -1
 *
 * Signals and timers stay as they are, and cannot be changed any more.
 * Context: a child that ends by _exit(2).
 * Return: false if the kernel refuses: nothing hostile may be read then.
 */
bool dp_aside_confine(u64 memory, int answers);

#endif
