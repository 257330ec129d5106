/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window: data of a file by address, a piece at a time.
 *
 * Addresses are those of the file. Context of every function: tool process; may allocate.
 */
#ifndef DP_SYM_FLOW_WINDOW_H
#define DP_SYM_FLOW_WINDOW_H

#include "port_types.h"

struct dp_window;

/* Up to @want <= 64 bytes at an address of the file; *got: how many. */
const u8 *dp_window_at(struct dp_window *w, u64 addr, size_t want, size_t *got);
bool dp_window_u64(struct dp_window *w, u64 addr, u64 *v);
bool dp_window_s32(struct dp_window *w, u64 addr, s32 *v);

#endif
