// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* limits: resource limits, and which of them explains an error (facts.h). */
#include "proc/facts.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAP_COUNT "/proc/sys/vm/max_map_count"
/* mappings that the kernel does not list, and those that an attach makes */
#define MAPPINGS_MORE 64
/* what an attach has open at once, and some */
#define DESCRIPTORS 12

static struct sigaction too_large;
static bool survives;

int dp_limits_file(const char *name, u64 size)
{
	struct rlimit l;
	int fd, err;

	if (!getrlimit(RLIMIT_FSIZE, &l) && size > l.rlim_cur)
		return -EFBIG;
	fd = (int)syscall(SYS_memfd_create, name,
			  MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int dp_limits_descriptors(struct dp_diag *diag)
{
	int fds[DESCRIPTORS], n = 0, i, err = 0;
	struct rlimit l = { 0 };

	while (n < DESCRIPTORS && !err) {
		fds[n] = eventfd(0, EFD_CLOEXEC);
		if (fds[n] < 0)
			err = -errno;
		else
			n++;
	}
	for (i = 0; i < n; i++)
		close(fds[i]);
	if (!err || getrlimit(RLIMIT_NOFILE, &l))
		return err;
	return dp_diag_set(
		diag, err,
		"dprobes itself needs %d file descriptors for a moment, and has %d (RLIMIT_NOFILE is %llu)",
		DESCRIPTORS, n, (unsigned long long)l.rlim_cur);
}

void dp_limits_survive(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	survives = !sigaction(SIGXFSZ, &ignore, &too_large);
}

void dp_limits_restore(void)
{
	if (survives)
		sigaction(SIGXFSZ, &too_large, NULL);
}

/* Return: the limit; ~0: there is none */
static u64 limit(pid_t pid, enum __rlimit_resource what)
{
	struct rlimit l;

	return prlimit(pid, what, NULL, &l) || l.rlim_cur == RLIM_INFINITY ?
		       ~0ull :
		       l.rlim_cur;
}

/* Size of the address space, or of data, in bytes. Return: 0: not known */
static u64 pages(pid_t pid, bool data)
{
	unsigned long total = 0, own = 0;
	char line[128];

	if (!dp_line_read(dp_path("/proc/%d/statm", pid).s, line,
			  sizeof(line)) ||
	    sscanf(line, "%lu %*u %*u %*u %*u %lu", &total, &own) != 2)
		return 0;
	return (data ? own : total) * (u64)DP_PAGE;
}

static bool is_beyond(u64 limit, u64 has, u64 more)
{
	return limit != ~0ull && has + more > limit;
}

static bool has_all_mappings(size_t n)
{
	char line[32];

	return dp_line_read(MAP_COUNT, line, sizeof(line)) &&
	       n + MAPPINGS_MORE > strtoul(line, NULL, 10);
}

/* What mlockall(2) and mlock(2) hold, in bytes */
static u64 locked(pid_t pid)
{
	struct dp_status st;

	return dp_status_read(pid, pid, &st) ? 0 : st.locked;
}

bool dp_limits_tight(pid_t pid)
{
	struct rlimit own;

	return limit(pid, RLIMIT_AS) != RLIM_INFINITY || locked(pid) ||
	       getrlimit(RLIMIT_AS, &own) || own.rlim_cur != RLIM_INFINITY;
}

static void why_no_memory(pid_t pid, u64 size, size_t mappings, char *text)
{
	u64 space = limit(pid, RLIMIT_AS), data = limit(pid, RLIMIT_DATA);

	if (is_beyond(space, pages(pid, false), size))
		snprintf(
			text, DP_LIMITS_TEXT,
			"that takes %llu KB, and its address space is limited to %llu KB (RLIMIT_AS)",
			(unsigned long long)size >> 10,
			(unsigned long long)space >> 10);
	else if (is_beyond(data, pages(pid, true), size))
		snprintf(text, DP_LIMITS_TEXT,
			 "its data is limited to %llu KB (RLIMIT_DATA)",
			 (unsigned long long)data >> 10);
	else if (has_all_mappings(mappings))
		snprintf(
			text, DP_LIMITS_TEXT,
			"it has %zu mappings, as many as the kernel permits (vm.max_map_count)",
			mappings);
	else
		snprintf(text, DP_LIMITS_TEXT, "%s", strerror(ENOMEM));
}

const char *dp_limits_why(pid_t pid, int err, u64 size, size_t mappings,
			  char *text)
{
	if (err == -EMFILE)
		snprintf(
			text, DP_LIMITS_TEXT,
			"it has no file descriptor left for a moment (RLIMIT_NOFILE is %llu)",
			(unsigned long long)limit(pid, RLIMIT_NOFILE));
	else if (err == -EAGAIN &&
		 is_beyond(limit(pid, RLIMIT_MEMLOCK), locked(pid), size))
		snprintf(
			text, DP_LIMITS_TEXT,
			"that takes %llu KB, and it locks its memory, at most %llu KB (RLIMIT_MEMLOCK)",
			(unsigned long long)size >> 10,
			(unsigned long long)limit(pid, RLIMIT_MEMLOCK) >> 10);
	else if (err == -ENOMEM)
		why_no_memory(pid, size, mappings, text);
	else
		snprintf(text, DP_LIMITS_TEXT, "%s", strerror(-err));
	return text;
}
