// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* holders: who may have the debug registers of a thread that has none left. */
#include "proc/inspect.h"
#include "proc/watch.h"
#include <dirent.h>
#include <dprobes/diag.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOLDERS_TOLD 3

/* Has the process a descriptor of a perf event? */
static bool has_events(pid_t pid)
{
	DIR *dir = opendir(dp_path("/proc/%d/fd", pid).s);
	char to[32];
	struct dirent *d;
	bool has = false;
	ssize_t n;

	if (!dir)
		return false;
	while (!has && (d = readdir(dir))) {
		n = readlinkat(dirfd(dir), d->d_name, to, sizeof(to) - 1);
		to[n < 0 ? 0 : n] = '\0';
		has = !strcmp(to, "anon_inode:[perf_event]");
	}
	closedir(dir);
	return has;
}

static void name_process(struct dp_diag *diag, const char *before, pid_t pid)
{
	char comm[32] = "";
	FILE *f = fopen(dp_path("/proc/%d/comm", pid).s, "re");

	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = '\0';
	if (f)
		fclose(f);
	dp_diag_add(diag, "%s%d (%s)", before, pid, comm);
}

/* Who may have them: processes with perf events */
static void name_holders(struct dp_diag *diag)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int n = 0;
	pid_t pid;

	while (dir && n < HOLDERS_TOLD && (d = readdir(dir))) {
		pid = atoi(d->d_name);
		if (pid <= 0 || pid == getpid() || !has_events(pid))
			continue;
		name_process(
			diag,
			n++ ? ", " :
			      "; these processes have perf events, which may be it: ",
			pid);
	}
	if (dir)
		closedir(dir);
}

static pid_t tracer_of(pid_t pid)
{
	FILE *f = fopen(dp_path("/proc/%d/status", pid).s, "re");
	char line[128];
	pid_t tracer = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (f)
		fclose(f);
	return tracer;
}

int dp_watch_taken(pid_t pid, const char *name, struct dp_diag *diag)
{
	pid_t tracer = tracer_of(pid);

	dp_diag_set(
		diag, -ENOSPC,
		"%s: a thread has no debug register left, of the %d that there are",
		name, DP_WATCHPOINTS);
	if (tracer > 0 && tracer != gettid())
		name_process(
			diag,
			"; a debugger has its hardware breakpoints: ", tracer);
	else
		dp_diag_add(
			diag,
			"; a debugger that has gone, and had hardware breakpoints, keeps those of a thread until it ends");
	name_holders(diag);
	return -ENOSPC;
}
