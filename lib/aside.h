/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aside: what a process does that the program must not be seen to do. */
#ifndef DP_LIB_ASIDE_H
#define DP_LIB_ASIDE_H

/**
 * dp_aside() - call @work(@arg) in a child that ends with us (proc/child.h), while hits of
 * its own do not count
 * Context: may sleep. Return: as dp_child_run().
 */
int dp_aside(void (*work)(void *arg), void *arg);

#endif
