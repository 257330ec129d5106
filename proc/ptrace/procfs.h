/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* procfs: files and threads that /proc shows. Context: any process; may sleep and allocate. */
#ifndef DP_PROC_PTRACE_PROCFS_H
#define DP_PROC_PTRACE_PROCFS_H

#include <sys/types.h>
#include "port_types.h"
#include "proc/inspect.h"

/** struct dp_tasks - state of dp_each_task() */
struct dp_tasks {
	int fd;
	size_t at, len;
	u64 entries[128]; /* the next ones; no memory is needed, where threads must not be missed */
};

struct dp_tasks dp_tasks_of(pid_t pid);
pid_t dp_tasks_next(struct dp_tasks *tasks);
void dp_tasks_free(struct dp_tasks *tasks);

/** dp_each_task() - a loop in which @tid is the id of one thread of process @pid after the
 *  other; of none if the process has ended. It may be left at any point. */
#define dp_each_task(tid, pid)                                           \
	for (struct dp_tasks tasks                                       \
	     __attribute__((cleanup(dp_tasks_free))) = dp_tasks_of(pid); \
	     ((tid) = dp_tasks_next(&tasks));)

#endif
