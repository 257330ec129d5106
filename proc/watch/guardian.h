/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* guardian: a child of the tool that cleans a process when the tool has been killed. Context: tool. */
#ifndef DP_PROC_WATCH_GUARDIAN_H
#define DP_PROC_WATCH_GUARDIAN_H

#include <sys/types.h>

/** struct dp_guardian - @pid: 0: there is none */
struct dp_guardian {
	pid_t pid;
	int fd;
};

/** dp_guardian_open() - have the process @pid cleaned if the tool ends before dp_guardian_dismiss().
 *  Without memory for the child there is none, and the next tool cleans. */
void dp_guardian_open(struct dp_guardian *g, pid_t pid);
/** dp_guardian_dismiss() - there is nothing left to be cleaned. Waits for the child's end. */
void dp_guardian_dismiss(struct dp_guardian *g);

#endif
