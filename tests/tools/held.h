/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* held: a command that waits before its exec, and the kernel's probes on it. */
#ifndef DP_TEST_HELD_H
#define DP_TEST_HELD_H

#include <linux/perf_event.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/** held_start() - fork it. @go: closing that lets it go. Return: its pid, or -1. */
static inline pid_t held_start(char **argv, int *go)
{
	int fds[2];
	pid_t pid;
	char byte;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) < 0)
			_exit(126);
		close(fds[0]);
		execvp(argv[0], argv);
		_exit(127);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

/** held_end() - let it go, and wait. Return: its wait status. */
static inline int held_end(pid_t pid, int go)
{
	int status = 0;

	close(go);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

/**
 * held_probe() - an event at @offset of a file, in all threads but in no child
 * @exec: from the exec on, not at once
 * @type: pmu_uprobe_type(); @config: 0, or what makes it a return probe
 * Return: a descriptor, or -1 and errno.
 */
static inline int held_probe(int type, uint64_t config, const char *path,
			     uint64_t offset, pid_t pid, int exec)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = (uint32_t)type,
		.config = config,
		.config1 = (uint64_t)(uintptr_t)path,
		.config2 = offset,
		.disabled = exec != 0,
		.inherit = 1,
		.inherit_thread = 1,
		.enable_on_exec = exec != 0,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

#endif
