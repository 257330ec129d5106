/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* callout: what a detour tells the agent. */
#ifndef DP_INSN_CALLOUT_H
#define DP_INSN_CALLOUT_H

/* A site's index, and with this bit, that its instruction has completed. */
#define DP_CALLOUT_AFTER 0x80000000u
/* Or with this one, that the hit has not been counted. */
#define DP_CALLOUT_UNCOUNTED 0x40000000u
/* Or with this one, that it goes on where the word above says. */
#define DP_CALLOUT_TRACKED 0x20000000u
/* Or with this one, that all but the last instruction of its region have. */
#define DP_CALLOUT_CALLS 0x10000000u
/* Bytes of it behind the call: an lea that takes the number off the stack */
#define DP_CALLOUT_TAIL 8
/* Offset in struct dp_stack of what says that the thread is in a handler */
#define DP_DETOUR_BUSY 4

#endif
