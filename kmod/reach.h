/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* reach: how far a jump may displace instructions of the kernel's. */
#ifndef DP_KMOD_REACH_H
#define DP_KMOD_REACH_H

#include "kmod/safe.h"
#include "port_types.h"

/** dp_reach_begin() - find the kernel's tables. After dp_safe_begin(). Return: 0; -ENOENT one is not
 *  there */
int dp_reach_begin(void);

/**
 * dp_reach_cut() - end the room of a jump before anything that is come to otherwise
 * @engine: see dp_safe_probe(); @function: @room is made less; @code: its bytes
 *
 * By branches of the function and of its part that is hardly ever run (name.cold), by jump labels, by
 * faults that have handlers. With an indirect jump in it, or bytes that cannot be decoded, there is no
 * room.
 * Context: task, may sleep.
 */
void dp_reach_cut(const struct dp_engine *engine, struct dp_function *function,
		  u64 addr, const u8 *code);

#endif
