/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* procfs: files and threads that /proc shows. Context: any process; may sleep and allocate. */
#ifndef DP_PROC_PTRACE_PROCFS_H
#define DP_PROC_PTRACE_PROCFS_H

#include <sys/types.h>
#include "port_types.h"

/** struct dp_path - a path in /proc, or as much of it as fits */
struct dp_path {
	char s[80];
};

/** dp_path() - a path, by a format of printf(3) */
struct dp_path dp_path(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

/** dp_text_read() - one read(2) of a file, at most @size - 1 bytes, and a NUL behind them.
 *  Return: the number of bytes; negative: not readable, and @text is as it was. */
ssize_t dp_text_read(const char *path, char *text, size_t size);

/** struct dp_tasks - state of dp_each_task() */
struct dp_tasks {
	pid_t *v;
	size_t n, at;
};

struct dp_tasks dp_tasks_of(pid_t pid);
pid_t dp_tasks_next(struct dp_tasks *tasks);
void dp_tasks_free(struct dp_tasks *tasks);

/** dp_each_task() - a loop in which @tid is the id of one thread of process @pid after the
 *  other; of none if the process has ended, or without memory. It may be left at any point. */
#define dp_each_task(tid, pid)                                           \
	for (struct dp_tasks tasks                                       \
	     __attribute__((cleanup(dp_tasks_free))) = dp_tasks_of(pid); \
	     ((tid) = dp_tasks_next(&tasks));)

#endif
