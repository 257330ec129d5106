// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobe-count: what the kernel's own uprobes count, as an oracle.
 *
 * uprobe-count -o OUT FILE:OFFSET[%return]... -- CMD ARGS. The events are opened on a
 * child that waits, follow its threads but not its child processes, and start
 * at its exec. Prints "COUNT FILE:OFFSET" lines; exits as CMD does.
 */
#include "bench/pmu.h"
#include <linux/perf_event.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_EVENTS 64

static int open_event(int type, char *spec, pid_t pid)
{
	struct perf_event_attr attr = { 0 };
	char *colon = strrchr(spec, ':');
	bool returns = strstr(spec, "%return") != NULL;
	int fd;

	if (!colon)
		return -1;
	*colon = '\0';
	attr.size = sizeof(attr);
	attr.type = (uint32_t)type;
	attr.config1 = (uint64_t)(uintptr_t)spec;
	attr.config2 = strtoull(colon + 1, NULL, 0);
	/* As the device's format/retprobe says. */
	attr.config = returns;
	attr.disabled = 1;
	attr.inherit = 1;
	attr.inherit_thread = 1;
	attr.enable_on_exec = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	*colon = ':';
	return fd;
}

static pid_t start(char **argv, int *go)
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

int main(int argc, char **argv)
{
	const char *out = NULL;
	int fds[MAX_EVENTS], n = 0, i, type = pmu_uprobe_type(), go = -1,
			     status;
	char **specs;
	uint64_t count;
	pid_t pid;
	FILE *f;

	if (argc > 2 && !strcmp(argv[1], "-o")) {
		out = argv[2];
		argv += 2;
	}
	specs = ++argv;
	while (*argv && strcmp(*argv, "--"))
		argv++, n++;
	if (!*argv || n > MAX_EVENTS || type < 0) {
		fprintf(stderr, type < 0 ? "no uprobe PMU\n" : "usage\n");
		return 77;
	}
	pid = start(argv + 1, &go);
	for (i = 0; i < n; i++) {
		fds[i] = open_event(type, specs[i], pid);
		if (fds[i] < 0) {
			fprintf(stderr, "%s: %s\n", specs[i], strerror(errno));
			return 77;
		}
	}
	close(go);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	f = out ? fopen(out, "w") : stdout;
	for (i = 0; f && i < n; i++) {
		if (read(fds[i], &count, sizeof(count)) != sizeof(count))
			return 77;
		fprintf(f, "%llu %s\n", (unsigned long long)count, specs[i]);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
