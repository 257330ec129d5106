/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* registers: debug registers of threads that the caller traces. Context: the tracing thread. */
#ifndef DP_PROC_PTRACE_REGISTERS_H
#define DP_PROC_PTRACE_REGISTERS_H

#include <sys/types.h>
#include "engine/layout/arena.h"
#include "port_types.h"

struct dp_diag;
struct dp_process;

/** dp_registers_control() - what a stopped thread's control register has of registers that are set.
 *  Return: 0; -ESRCH. */
int dp_registers_control(pid_t tid, u64 *control);
/** dp_registers_set() - set those of @addr whose bits @control has, unless they are set already
 *  Return: 1; 0 it has them; -ENOSPC somebody else has them; -ESRCH. */
int dp_registers_set(pid_t tid, const u64 addr[DP_REGISTERS], u64 control);
/** dp_registers_clear() - clear those of @addr and @control that are still as they were set: what a
 *  debugger has written since stays */
void dp_registers_clear(pid_t tid, const u64 addr[DP_REGISTERS], u64 control);
/** dp_registers_hit() - which registers have made the thread trap, a bit each; then none has */
u32 dp_registers_hit(pid_t tid);
/** dp_registers_take() - likewise, of the registers @which alone; the others' hits stay */
u32 dp_registers_take(pid_t tid, u32 which);

/** dp_registers_hold() - stop all threads, also those that are usually left asleep.
 *  Return: as dp_stop_all(). */
int dp_registers_hold(struct dp_process *proc, struct dp_diag *diag);
/** dp_registers_return() - clear in all threads what the arena says of them
 *  Return: 0; as dp_stop_all(), with words. Then some may be left. */
int dp_registers_return(struct dp_process *proc,
			const struct dp_arena_control *arena,
			struct dp_diag *diag);

#endif
