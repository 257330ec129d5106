/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* callout: the number that a call-out tells the agent. */
#ifndef DP_INSN_CALLOUT_H
#define DP_INSN_CALLOUT_H

/* The number is a site's index. With this bit: the site's instruction has completed. */
#define DP_CALLOUT_AFTER 0x80000000u
/* With this bit: the detour has not counted the hit. */
#define DP_CALLOUT_UNCOUNTED 0x40000000u
/* With this bit: the thread goes on where the word above the number says. */
#define DP_CALLOUT_TRACKED 0x20000000u
/* With this bit: all instructions of the region but the last one have completed. */
#define DP_CALLOUT_CALLS 0x10000000u
/* With this bit: it is for an inner instruction, which is right behind the call-out. */
#define DP_CALLOUT_INNER 0x08000000u
/* The bits of the index */
#define DP_CALLOUT_INDEX (DP_CALLOUT_INNER - 1)
/* Bytes of a call-out behind the call: an lea that takes the number off the stack */
#define DP_CALLOUT_TAIL 8
/* Offset in struct dp_stack of @busy */
#define DP_DETOUR_BUSY 16

#endif
