// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobe-count: what the kernel's own uprobes count, as an oracle.
 *
 * uprobe-count -o OUT FILE:OFFSET[%return]... -- CMD ARGS. The events are opened on a
 * child that waits, follow its threads but not its child processes, and start
 * at its exec. Prints "COUNT FILE:OFFSET" lines; exits as CMD does.
 */
#include "bench/pmu.h"
#include "tests/tools/held.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_EVENTS 64

static int open_event(int type, char *spec, pid_t pid)
{
	char *colon = strrchr(spec, ':');
	bool returns = strstr(spec, "%return") != NULL;
	int fd;

	if (!colon)
		return -1;
	*colon = '\0';
	/* As the device's format/retprobe says. */
	fd = held_probe(type, returns, spec, strtoull(colon + 1, NULL, 0), pid);
	*colon = ':';
	return fd;
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
	pid = held_start(argv + 1, &go);
	for (i = 0; i < n; i++) {
		fds[i] = open_event(type, specs[i], pid);
		if (fds[i] < 0) {
			fprintf(stderr, "%s: %s\n", specs[i], strerror(errno));
			return 77;
		}
	}
	status = held_end(pid, go);
	f = out ? fopen(out, "w") : stdout;
	for (i = 0; f && i < n; i++) {
		if (read(fds[i], &count, sizeof(count)) != sizeof(count))
			return 77;
		fprintf(f, "%llu %s\n", (unsigned long long)count, specs[i]);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
