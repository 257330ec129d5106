/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gadget: pieces of the program's own code that remote calls use where they stand.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_PTRACE_GADGET_H
#define DP_PROC_PTRACE_GADGET_H

#include "port_types.h"

struct dp_diag;
struct dp_process;

int dp_gadgets_find(struct dp_process *proc, struct dp_diag *diag);
/** dp_gadgets_borrow(), dp_gadgets_return() - around remote calls. Not returned is
 *  what others may be using. */
int dp_gadgets_borrow(const struct dp_process *proc);
void dp_gadgets_return(struct dp_process *proc);
/** dp_restorer_known() - do signal frames of the program return to @addr? */
bool dp_restorer_known(const struct dp_process *proc, u64 addr);

/** dp_restorer_length() - bytes up to the system call in code that ends a signal's
 *  handler; 0: @code, of which there are @size bytes, is no such code */
size_t dp_restorer_length(const u8 *code, size_t size);
#define DP_RESTORER_MAX 9

#endif
