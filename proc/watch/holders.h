/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* holders: who may have the debug registers of a thread that has none left. Context: tool; may sleep. */
#ifndef DP_PROC_WATCH_HOLDERS_H
#define DP_PROC_WATCH_HOLDERS_H

#include <sys/types.h>

struct dp_diag;

/** dp_watch_taken() - words for a watchpoint, @name, for which a thread of @pid has no register left.
 *  Return: -ENOSPC. */
int dp_watch_taken(pid_t pid, const char *name, struct dp_diag *diag);

#endif
