// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* status: read what /proc tells of a process and its threads. */
#include "proc/ptrace/process.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Only lines that are not read are longer: lists of groups and CPUs. */
#define TEXT_MAX 4096

static void read_ids(const char *value, u32 ids[3])
{
	char *at = (char *)value;
	int i;

	for (i = 0; i < 3; i++)
		ids[i] = (u32)strtoul(at, &at, 10);
}

/* Called about a thousand times per file, so the first byte is compared inline. */
static inline bool is(const char *key, const char *name)
{
	return *key == *name && !strcmp(key, name);
}

/* NSpid lists the ids from the outermost namespace inwards. */
static u32 innermost(const char *value)
{
	const char *last = strrchr(value, '\t');

	return (u32)atoi(last ? last : value);
}

static void read_field(struct dp_status *st, const char *key, const char *value)
{
	if (is(key, "State"))
		st->state = value[strspn(value, " \t")];
	else if (is(key, "Tgid"))
		st->group = atoi(value);
	else if (is(key, "TracerPid"))
		st->tracer = (u32)atoi(value);
	else if (is(key, "NSpid"))
		st->ns_pid = innermost(value);
	else if (is(key, "Uid"))
		read_ids(value, st->uids);
	else if (is(key, "Gid"))
		read_ids(value, st->gids);
	else if (is(key, "CapPrm"))
		st->cap_permitted = strtoull(value, NULL, 16);
	else if (is(key, "CapEff"))
		st->cap_effective = strtoull(value, NULL, 16);
	else if (is(key, "NoNewPrivs"))
		st->no_new_privs = atoi(value);
	else if (is(key, "Seccomp"))
		st->seccomp = (u32)atoi(value);
	else if (is(key, "Seccomp_filters"))
		st->filters = (u32)atoi(value);
	else if (is(key, "SigPnd"))
		st->pending = strtoull(value, NULL, 16);
	else if (is(key, "ShdPnd"))
		st->shared_pending = strtoull(value, NULL, 16);
	else if (is(key, "SigBlk"))
		st->blocked = strtoull(value, NULL, 16);
	else if (is(key, "SigIgn"))
		st->ignored = strtoull(value, NULL, 16);
	else if (is(key, "SigCgt"))
		st->caught = strtoull(value, NULL, 16);
	else if (is(key, "x86_Thread_features"))
		st->shadow_stack = strstr(value, "shstk") != NULL;
}

/* Return: how many bytes of @text were whole lines. */
static size_t read_lines(struct dp_status *st, char *text, size_t n)
{
	char *line = text, *end, *colon;

	while ((end = memchr(line, '\n', (size_t)(text + n - line)))) {
		*end = '\0';
		colon = strchr(line, ':');
		if (colon) {
			*colon = '\0';
			read_field(st, line, colon + 1);
		}
		line = end + 1;
	}
	return (size_t)(line - text);
}

/* Of a line that does not fit only the end is parsed, which matches no field. */
static void read_all(struct dp_status *st, int fd)
{
	char text[TEXT_MAX];
	size_t had = 0, done;
	ssize_t n;

	while ((n = read(fd, text + had, sizeof(text) - had)) > 0) {
		had += (size_t)n;
		done = read_lines(st, text, had);
		if (!done && had == sizeof(text))
			done = had;
		had -= done;
		memmove(text, text + done, had);
	}
}

int dp_status_read(pid_t pid, pid_t tid, struct dp_status *st)
{
	char path[64];
	int fd;

	memset(st, 0, sizeof(*st));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ESRCH;
	read_all(st, fd);
	close(fd);
	st->uid = st->uids[0];
	return st->state ? 0 : -ESRCH;
}

int dp_tasks_list(pid_t pid, pid_t **tids, size_t *n)
{
	size_t cap = 0;
	char path[64];
	struct dirent *d;
	DIR *dir;

	*tids = NULL;
	*n = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	while ((d = readdir(dir))) {
		pid_t tid = atoi(d->d_name);
		pid_t *bigger;

		if (tid <= 0)
			continue;
		if (*n == cap) {
			cap = cap ? cap * 2 : 16;
			bigger = realloc(*tids, cap * sizeof(**tids));
			if (!bigger) {
				closedir(dir);
				free(*tids);
				*tids = NULL;
				*n = 0;
				return -ENOMEM;
			}
			*tids = bigger;
		}
		(*tids)[(*n)++] = tid;
	}
	closedir(dir);
	return 0;
}

#define PF_KTHREAD 0x00200000u /* linux/sched.h */

/* linux/pidfd.h since Linux 6.15, its first version. */
struct pidfd_info {
	u64 mask;
	u64 cgroup;
	u32 ids[11];
	s32 exit_code;
};
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT (1u << 3)

const char *dp_stat_read(pid_t pid, char *text, size_t size)
{
	char path[64], *p;
	ssize_t n = -1;
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	else
		snprintf(path, sizeof(path), "/proc/thread-self/stat");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	/* The name may hold any byte, and ends at the last parenthesis. */
	p = strrchr(text, ')');
	return p && p[1] == ' ' ? p + 2 : NULL;
}

bool dp_status_kernel(pid_t pid)
{
	char text[1024];
	const char *fields = dp_stat_read(pid, text, sizeof(text));
	unsigned int flags;

	return fields &&
	       sscanf(fields, "%*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
	       flags & PF_KTHREAD;
}

/* The status of a process that its parent has not waited for. The kernel shows 0 to a tool that
 * may not read the process's links either. */
static bool zombie_status(pid_t pid, int *status)
{
	char text[1024], path[64], link;
	const char *fields;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	if (readlink(path, &link, 1) < 0)
		return false;
	fields = dp_stat_read(pid, text, sizeof(text));
	/* exit_code is the last field */
	return fields && *fields == 'Z' &&
	       sscanf(strrchr(fields, ' '), "%d", status) == 1;
}

bool dp_status_exit(pid_t pid, int pidfd, int *status)
{
	struct pidfd_info info = { .mask = PIDFD_INFO_EXIT };

	if (zombie_status(pid, status))
		return true;
	if (ioctl(pidfd, PIDFD_GET_INFO, &info) ||
	    !(info.mask & PIDFD_INFO_EXIT))
		return false;
	*status = info.exit_code;
	return true;
}

bool dp_line_read(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(line, (int)size, f);

	if (f)
		fclose(f);
	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

u64 dp_stat_number(pid_t pid, int field)
{
	char text[1024];
	const char *p = dp_stat_read(pid, text, sizeof(text));
	unsigned long long number = 0;
	int i;

	/* @text begins with field 3. */
	for (i = 3; p && i < field; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (p)
		sscanf(p, "%llu", &number);
	return number;
}

u64 dp_tool_start(pid_t pid)
{
	return dp_stat_number(pid, 22);
}

u32 dp_status_filters(const struct dp_status *st)
{
	return st->seccomp && !st->filters ? 1 : st->filters;
}
