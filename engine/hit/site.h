/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* site: those that control has prepared, as a thread that hits finds them. */
#ifndef DP_HIT_SITE_H
#define DP_HIT_SITE_H

#include "port_types.h"
#include "engine/layout.h"
#include "engine/arch/x86/ptregs.h"

#pragma GCC visibility push(hidden)

/** dp_site_lookup() - the site that has a breakpoint of ours at an address, be
 *  it in the text or behind its second copy; or NULL */
const struct dp_site_entry *dp_site_lookup(u64 addr);

/** dp_branch_taken() - will a conditional branch be taken? */
bool dp_branch_taken(const struct dp_site_entry *site, u64 flags, u64 cx);

/**
 * dp_simulate() - execute a branch in registers, as the processor would
 * Return: false if it is none, or faults: then nothing is changed.
 */
bool dp_simulate(const struct dp_site_entry *site, struct dp_regs *regs);

#pragma GCC visibility pop

#endif
