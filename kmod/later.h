/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * later: what has to wait for tasks, so that no caller waits for them with the session's lock held.
 *
 *     a task is between the bytes of a jump ─► the site stays a breakpoint ─► tried again, until it is a jump
 *     others have written over a probe that went ─► its bytes stay ─► tried again, until they are restored
 *     no probe and no session is left ─► all tasks leave the copies ─► the engine goes
 */
#ifndef DP_KMOD_LATER_H
#define DP_KMOD_LATER_H

#include "port_types.h"

/** dp_later_jumps() - jumps could not be written in time: try again. Context: any */
void dp_later_jumps(void);
/** dp_later_restore() - bytes of probes that went could not be restored: try again. Context: any */
void dp_later_restore(void);
/** dp_later_end() - have the engine go, if nobody uses it. Context: no lock
 *  @patience: jiffies for which to wait; 0: until it has been tried once */
void dp_later_end(unsigned long patience);
/** dp_later_stop() - nothing is done later any more. There is no engine. */
void dp_later_stop(void);

#endif
