/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dispatch: threads under Syscall User Dispatch (prctl(PR_SET_SYSCALL_USER_DISPATCH)).
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SECCOMP_DISPATCH_H
#define DP_PROC_SECCOMP_DISPATCH_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;

/** enum dp_dispatch - how a thread comes to make a remote call
 *  @DP_DISPATCH_FREE: as any other; @DP_DISPATCH_SELECTOR: its selector forbids calls
 *  now; @DP_DISPATCH_BARRED: it cannot */
enum dp_dispatch {
	DP_DISPATCH_FREE,
	DP_DISPATCH_SELECTOR,
	DP_DISPATCH_BARRED,
};

/** dp_dispatch_look() - does a thread dispatch its system calls? Before anything is
 *  done in a process that decides; it is stopped for a moment.
 *  Return: 0; -EOPNOTSUPP one does that can make no call for us; as dp_stop_all(). */
int dp_dispatch_look(struct dp_process *proc, struct dp_diag *diag);
/** dp_dispatch_of() - of @tid, which is stopped. @selector: its address; 0: none */
enum dp_dispatch dp_dispatch_of(struct dp_process *proc, pid_t tid,
				u64 *selector);
/** dp_dispatch_any() - does one of the stopped threads? */
bool dp_dispatch_any(const struct dp_process *proc);
/** dp_dispatch_select() - have a selector permit or forbid calls. Return: 0; -EIO. */
int dp_dispatch_select(const struct dp_process *proc, u64 selector, bool allow);
/** dp_dispatch_waits() - does a signal wait for @tid that says where it was raised? */
bool dp_dispatch_waits(const struct dp_process *proc, pid_t tid);
/** dp_dispatch_asks() - can the kernel be asked, of a stopped thread? Return: 0,
 *  -EOPNOTSUPP. */
int dp_dispatch_asks(pid_t tid);
/** dp_dispatch_refuse() - words for a remote call that came to the program's handler */
int dp_dispatch_refuse(const struct dp_process *proc, struct dp_diag *diag);

#endif
