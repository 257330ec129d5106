// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* status: read what /proc tells of a process and its threads. */
#include "proc/ptrace/process.h"
#include "proc/ptrace/procfs.h"
#include "sym/list.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
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
	else if (is(key, "VmLck"))
		st->locked = strtoull(value, NULL, 10) << 10;
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
	int fd = open(dp_path("/proc/%d/task/%d/status", pid, tid).s,
		      O_RDONLY | O_CLOEXEC);

	memset(st, 0, sizeof(*st));
	if (fd < 0)
		return -ESRCH;
	read_all(st, fd);
	close(fd);
	return st->state ? 0 : -ESRCH;
}

struct dp_tasks dp_tasks_of(pid_t pid)
{
	return (struct dp_tasks){ .fd = open(dp_path("/proc/%d/task", pid).s,
					     O_RDONLY | O_DIRECTORY |
						     O_CLOEXEC) };
}

static bool read_entries(struct dp_tasks *tasks)
{
	ssize_t n = tasks->fd < 0 ? 0 :
				    getdents64(tasks->fd, tasks->entries,
					       sizeof(tasks->entries));

	tasks->at = 0;
	tasks->len = n > 0 ? (size_t)n : 0;
	return n > 0;
}

pid_t dp_tasks_next(struct dp_tasks *tasks)
{
	const struct dirent64 *d;
	pid_t tid = 0;

	while (tid <= 0) {
		if (tasks->at >= tasks->len && !read_entries(tasks))
			return 0;
		d = (const void *)((const char *)tasks->entries + tasks->at);
		tasks->at += d->d_reclen;
		tid = atoi(d->d_name);
	}
	return tid;
}

void dp_tasks_free(struct dp_tasks *tasks)
{
	if (tasks->fd >= 0)
		close(tasks->fd);
}

int dp_tasks_list(pid_t pid, pid_t **tids, size_t *n)
{
	struct dp_tasks tasks = dp_tasks_of(pid);
	int err = tasks.fd >= 0 ? 0 : errno == ENOENT ? -ESRCH : -errno;
	size_t room = 0;
	pid_t tid;

	*tids = NULL;
	*n = 0;
	while (!err && (tid = dp_tasks_next(&tasks)))
		err = dp_list_add(tids, n, &room, &tid, sizeof(tid));
	dp_tasks_free(&tasks);
	if (err) {
		free(*tids);
		*tids = NULL;
		*n = 0;
	}
	return err;
}

#define PF_KTHREAD 0x00200000u /* linux/sched.h */
/* proc_pid_stat(5) */
#define STAT_FLAGS 9
#define STAT_START 22

/* linux/pidfd.h since Linux 6.15, its first version. */
struct pidfd_info {
	u64 mask;
	u64 cgroup;
	u32 ids[11];
	s32 exit_code;
};
#define PIDFD_GET_INFO _IOWR(0xff, 11, struct pidfd_info)
#define PIDFD_INFO_EXIT (1u << 3)

/* Return: the fields from the state on, in @text; NULL: not readable */
static const char *stat_read(pid_t pid, char *text, size_t size)
{
	char *p;

	if (dp_text_read(pid ? dp_path("/proc/%d/stat", pid).s :
			       "/proc/thread-self/stat",
			 text, size) <= 0)
		return NULL;
	/* The name may hold any byte, and ends at the last parenthesis. */
	p = strrchr(text, ')');
	return p && p[1] == ' ' ? p + 2 : NULL;
}

bool dp_status_kernel(pid_t pid)
{
	return dp_stat_number(pid, STAT_FLAGS) & PF_KTHREAD;
}

/* The status of a process that its parent has not waited for. The kernel shows 0 to a tool that
 * may not read the process's links either. */
static bool zombie_status(pid_t pid, int *status)
{
	char text[1024], link;
	const char *fields;

	if (readlink(dp_path("/proc/%d/ns/user", pid).s, &link, 1) < 0)
		return false;
	fields = stat_read(pid, text, sizeof(text));
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

struct dp_path dp_path(const char *fmt, ...)
{
	struct dp_path path;
	va_list args;

	va_start(args, fmt);
	vsnprintf(path.s, sizeof(path.s), fmt, args);
	va_end(args);
	return path;
}

ssize_t dp_text_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (fd < 0)
		return n;
	n = read(fd, text, size - 1);
	if (n >= 0)
		text[n] = '\0';
	close(fd);
	return n;
}

bool dp_line_read(const char *path, char *line, size_t size)
{
	bool ok = dp_text_read(path, line, size) > 0;

	if (ok)
		line[strcspn(line, "\n")] = '\0';
	return ok;
}

u64 dp_stat_number(pid_t pid, int field)
{
	char text[1024];
	const char *p = stat_read(pid, text, sizeof(text));
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

/* A tool that has ended may have a parent that does not care. */
u64 dp_tool_start(pid_t pid)
{
	char text[1024];
	const char *state = stat_read(pid, text, sizeof(text));

	return state && *state != 'Z' && *state != 'X' ?
		       dp_stat_number(pid, STAT_START) :
		       0;
}

u32 dp_status_filters(const struct dp_status *st)
{
	return st->seccomp && !st->filters ? 1 : st->filters;
}
