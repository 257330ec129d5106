/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* status: what /proc tells of a process and of its threads. Context: tool process; may sleep. */
#ifndef DP_PROC_PTRACE_STATUS_H
#define DP_PROC_PTRACE_STATUS_H

#include <sys/types.h>
#include "port_types.h"

/** struct dp_status - what /proc/PID/status says, as far as we ask */
struct dp_status {
	char state;
	u32 tracer, ns_pid, seccomp, filters;
	u64 pending, shared_pending, blocked, ignored, caught;
	bool shadow_stack, no_new_privs;
	u32 uid;
	u32 uids[3], gids[3]; /* real, effective, saved */
	u64 cap_permitted, cap_effective;
};

/** dp_status_read() - of task @tid of @pid. Return: 0, -ESRCH. */
int dp_status_read(pid_t pid, pid_t tid, struct dp_status *st);

/**
 * dp_status_exit() - wait(2) status of a process that has ended, of anybody's
 * Return: false if the kernel does not tell: it has been waited for already,
 * and is older than Linux 6.15; or its owner is not us.
 */
bool dp_status_exit(pid_t pid, int pidfd, int *status);

/** dp_stat_read() - what /proc/PID/stat says behind the name, from the state on.
 *  Return: in @text; NULL */
const char *dp_stat_read(pid_t pid, char *text, size_t size);
/** dp_status_kernel() - is it a thread of the kernel's? Anybody may know */
bool dp_status_kernel(pid_t pid);
/** dp_tasks_list() - the ids of its threads; @tids is free()d by the caller */
int dp_tasks_list(pid_t pid, pid_t **tids, size_t *n);

#endif
