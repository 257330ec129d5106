/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* simulate: what a branch would do. Context of every function: hit half. */
#ifndef DP_ARCH_SIMULATE_H
#define DP_ARCH_SIMULATE_H

#include "port_types.h"
#include "arch/x86/ptregs.h"

struct dp_site_entry;

#pragma GCC visibility push(hidden)

/** dp_branch_taken() - will a conditional branch be taken? */
bool dp_branch_taken(const struct dp_site_entry *site, u64 flags, u64 cx);

/**
 * dp_simulate() - execute a branch in registers, as the processor would
 * Return: false if the site has no branch, or it faults: then nothing is changed.
 */
bool dp_simulate(const struct dp_site_entry *site, struct dp_regs *regs);

#pragma GCC visibility pop

#endif
