// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* filter: in which processes the programs of a file run, by its header. */
#include "tracer/filter.h"
#include "tracer/session.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LINE_LEN 4096

/* The first line of /proc/PID/NAME that begins with @key, without it and its newline */
static bool read_line(pid_t pid, const char *name, const char *key,
		      char line[LINE_LEN])
{
	char path[64];
	size_t len = strlen(key);
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	f = fopen(path, "re");
	while (f && !found && fgets(line, LINE_LEN, f))
		found = !strncmp(line, key, len);
	if (f)
		fclose(f);
	if (!found)
		return false;
	line[strcspn(line, "\n")] = '\0';
	memmove(line, line + len, strlen(line + len) + 1);
	return true;
}

static bool is_pid(const struct dp_lang_filter *f, pid_t pid,
		   struct dp_diag *diag)
{
	if (f->pid < 0 || f->pid == pid)
		return true;
	dp_diag_set(diag, -ESRCH, "pid = %lld, and this is process %d",
		    (long long)f->pid, pid);
	return false;
}

static bool is_named(const struct dp_lang_filter *f, pid_t pid,
		     struct dp_diag *diag)
{
	char comm[LINE_LEN];

	if (!f->comm)
		return true;
	if (!read_line(pid, "comm", "", comm))
		strcpy(comm, "?");
	if (!fnmatch(f->comm, comm, 0))
		return true;
	dp_diag_set(diag, -ESRCH, "comm = %s, and process %d is \"%.32s\"",
		    f->comm, pid, comm);
	return false;
}

/* The numbers of /proc/PID/status are those of the tool's user namespace. */
static bool is_users(const struct dp_lang_filter *f, pid_t pid,
		     struct dp_diag *diag)
{
	char line[LINE_LEN], *end;
	unsigned long wanted, real, effective;
	const struct passwd *user;

	if (!f->user)
		return true;
	wanted = strtoul(f->user, &end, 10);
	user = *end ? getpwnam(f->user) : NULL;
	if (*end && !user) {
		dp_diag_set(diag, -ESRCH, "uid = %s, and there is no such user",
			    f->user);
		return false;
	}
	if (user)
		wanted = user->pw_uid;
	if (read_line(pid, "status", "Uid:", line) &&
	    sscanf(line, "%lu %lu", &real, &effective) == 2 &&
	    effective == wanted)
		return true;
	dp_diag_set(diag, -ESRCH, "uid = %s, and process %d is another user's",
		    f->user, pid);
	return false;
}

/* Of the unified hierarchy, or of the first one that there is */
static bool is_in_group(const struct dp_lang_filter *f, pid_t pid,
			struct dp_diag *diag)
{
	char line[LINE_LEN] = "", *path = line;

	if (!f->cgroup)
		return true;
	if (read_line(pid, "cgroup", "0:", line) ||
	    read_line(pid, "cgroup", "", line))
		path = strchr(line, '/') ?: line;
	if (!fnmatch(f->cgroup, path, 0))
		return true;
	dp_diag_set(diag, -ESRCH, "cgroup = %s, and process %d is in \"%.64s\"",
		    f->cgroup, pid, path);
	return false;
}

bool dp_filter_wants(const struct dp_lang_filter *f, pid_t pid,
		     struct dp_diag *diag)
{
	return is_pid(f, pid, diag) && is_named(f, pid, diag) &&
	       is_users(f, pid, diag) && is_in_group(f, pid, diag);
}
