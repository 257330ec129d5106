/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* alive: how a target finds out that the tool has ended. Context: the tool's thread. */
#ifndef DP_PROC_ATTACH_ALIVE_H
#define DP_PROC_ATTACH_ALIVE_H

struct dp_arena_control;

/** dp_alive_enter() - from now on this arena says when the tool has ended */
void dp_alive_enter(struct dp_arena_control *control);
/** dp_alive_leave() - before it is unmapped here */
void dp_alive_leave(struct dp_arena_control *control);

#endif
