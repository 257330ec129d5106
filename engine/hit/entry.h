/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* entry: what is written in the machine's own language: entry.S, vectors.S. */
#ifndef DP_HIT_ENTRY_H
#define DP_HIT_ENTRY_H

#include "port_types.h"
#include "engine/layout/stack.h"

#pragma GCC visibility push(hidden)

extern const char dp_detour_entry[];
void dp_call_on(void *arg, void (*function)(void *arg), void *top);
void dp_wait_home(const u32 *word, u32 is, const s64 *timeout, u64 regs);

/** struct dp_given - a handler's result; @up: it was given up */
struct dp_given {
	u64 value, up;
};

/** dp_call_busy() - call @function(@arg) on a thread's own stack. Return: from there,
 *  what @busy is to be */
void dp_call_busy(void *arg, u32 (*function)(void *), struct dp_stack *stack);
/** dp_guard() - @via: of code that calls it, or 0 */
struct dp_given dp_guard(u64 handler, u64 a, u64 b, u64 c, u64 *guard, u64 via);
extern const char dp_guard_up[], dp_call_fast_up[], dp_jprobe_return[];
void dp_vectors_save(u8 *area, u64 level, u64 x87);
void dp_vectors_restore(const u8 *area, u64 level, u64 x87);

#pragma GCC visibility pop

#endif
