/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aside: what reads hostile input by a library does so in a child that can do little else. */
#ifndef DP_SYM_ASIDE_H
#define DP_SYM_ASIDE_H

#include "port_types.h"

/**
 * dp_aside_confine() - give up all but memory, and reading of what is open
 * @memory: bytes that the process may have besides what it has
 * @answers: descriptor that may be written to, or -1; descriptors may come by it
 *
 * Signals and timers stay as they are, and cannot be changed any more, but for SIGSYS: calls to
 * open a file come to dp_aside_lend().
 * Context: a child that ends by _exit(2).
 * Return: false if the kernel refuses: nothing hostile may be read then.
 */
bool dp_aside_confine(u64 memory, int answers);

/**
 * dp_aside_alone() - give up the memory that is shared with other processes
 * @kept: but for the mapping that begins here; or NULL
 *
 * The tool has tables of processes mapped, which believe what they read there.
 * Context: a child, before dp_aside_confine().
 */
void dp_aside_alone(const void *kept);

/**
 * dp_aside_lend() - have the next call to open a file, whichever it is, return a descriptor
 * @fd: it, which is the caller's then; -1: that call fails with ENOENT, as those behind it do
 * Context: a child that is confined.
 * Return: the one that was to be had until now; -1: it has been taken, or there was none.
 */
int dp_aside_lend(int fd);

#endif
