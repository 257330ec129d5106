/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* debug: whether debug registers trap on this machine. Context: tool; may sleep. */
#ifndef DP_PROC_PTRACE_DEBUG_H
#define DP_PROC_PTRACE_DEBUG_H

#include <stdbool.h>

struct dp_diag;

/**
 * dp_debug_works() - does a debug register that is set by ptrace(2) stop a thread?
 *
 * A child of the caller's tries it, and has ended then.
 * Return: false: a child has written what was watched, and went on. True also where it cannot be tried.
 */
bool dp_debug_works(void);
/** dp_debug_useless() - words for a machine where none does. Return: -EOPNOTSUPP. */
int dp_debug_useless(struct dp_diag *diag);

#endif
