/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* breakpoint: the instruction that a site gets, and where its trap finds the thread. */
#ifndef DP_ARCH_BREAKPOINT_H
#define DP_ARCH_BREAKPOINT_H

/* int3; also what stands there first while other bytes are being written */
#define DP_BREAKPOINT 0xcc
/* Bytes by which the pc of its trap is behind its address. Source: Intel SDM 3, 6.15. */
#define DP_BREAKPOINT_BEHIND 1

#endif
