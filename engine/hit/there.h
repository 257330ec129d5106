/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* there: handlers that the tool has put into the process. */
#ifndef DP_HIT_THERE_H
#define DP_HIT_THERE_H

#include "port_types.h"
#include "arch/x86/sigframe.h"
#include "engine/layout/there.h"

#pragma GCC visibility push(hidden)

/** dp_there_begin() - a stack for one, and room for its registers. Return: NULL: there
 *  is none free, or the probe has been switched off. */
struct dp_there *dp_there_begin(u32 probe);
/** dp_there_call() - with @there->regs, as it may change them; @x87: such registers are
 *  in use */
void dp_there_call(struct dp_there *there, u64 x87);
void dp_there_end(struct dp_there *there);
/** dp_there_fault() - has the processor raised this in one? Then it is given up. */
bool dp_there_fault(struct dp_mcontext *regs);

#pragma GCC visibility pop

#endif
