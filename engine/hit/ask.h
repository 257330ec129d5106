/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ask: handlers that run in the tool. The hit is counted already. */
#ifndef DP_HIT_ASK_H
#define DP_HIT_ASK_H

#include "port_types.h"
#include "engine/hit/call.h"
#include "engine/hit/trap.h"
#include "arch/x86/sigframe.h"
#include "engine/layout/site.h"

#pragma GCC visibility push(hidden)

/** dp_ask_is_heard() - is the tool there whose probes these are? */
bool dp_ask_is_heard(void);
/** dp_ask_call() - there is something for it to see */
void dp_ask_call(void);
/** dp_ask_detour() - @frame has the registers. Return: as dp_call_detour() */
u64 dp_ask_detour(const struct dp_site_entry *site, struct dp_call_frame *frame);
/** dp_ask_mcontext() - as dp_call_mcontext() */
void dp_ask_mcontext(const struct dp_site_entry *site, struct dp_mcontext *mc);
/** dp_ask_trap() - as dp_call_trap() */
void dp_ask_trap(const struct dp_site_entry *site, struct dp_trap *trap);

#pragma GCC visibility pop

#endif
