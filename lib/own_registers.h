/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * own_registers: debug registers of this process's threads, without the kernel's events.
 *
 * Context of every function: task; the library's lock is held, unless it says otherwise.
 */
#ifndef DP_OWN_REGISTERS_H
#define DP_OWN_REGISTERS_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_watchpoint;

/**
 * dp_own_registers_take() - watch by all threads, and those to come, or by the watchpoint's own
 * @slot: the register, for the other functions
 *
 * Return: 0; -ENOSPC a thread has none left, or the process watches four already; -EBUSY a thread is traced;
 * -EPERM the kernel lets no child of ours trace the process; -EAGAIN a thread does not stop;
 * -ESRCH there is no such thread; -EOPNOTSUPP debug registers never trap here; -ENOMEM; with words.
 */
int dp_own_registers_take(const struct dp_watchpoint *watch, u32 *slot,
			  struct dp_diag *diag);
/** dp_own_registers_drop() - clear it in all threads. Then no trap of it is on its way. */
void dp_own_registers_drop(u32 slot);
/** dp_own_registers_mute() - its traps call nothing any more. Context: any. */
void dp_own_registers_mute(u32 slot);
/** dp_own_registers_lost() - traps of which it is not known which register has raised them. Context: any. */
u64 dp_own_registers_lost(void);
/** dp_own_registers_bare() - threads that have begun without registers. Those that are there get them now. */
u64 dp_own_registers_bare(void);

#endif
