// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * uprobe-count: what the kernel's own uprobes count, as an oracle.
 *
 * uprobe-count -o OUT FILE:OFFSET[%return]... -- CMD ARGS. The events are opened on a
 * child that waits, follow its threads but not its child processes, and start
 * at its exec. Prints "COUNT FILE:OFFSET" lines; exits as CMD does. The kernel says nothing of an
 * instruction it cannot probe (some with a VEX prefix) if it sees that only as CMD maps it; so
 * it is asked of a mapping of our own: "refused FILE:OFFSET".
 *
 * uprobe-count -o OUT FILE:OFFSET[%return]... -p PID: on the threads that a process has now.
 * Says "ready" when they count, and ends with its stdin.
 */
#include "bench/pmu.h"
#include "tests/tools/held.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MAX_EVENTS 64
#define MAX_THREADS 64

/* FILE:OFFSET, perhaps with %return behind it. Return: the file, malloc()ed, or NULL. */
static char *take_apart(const char *spec, uint64_t *offset)
{
	const char *colon = strrchr(spec, ':');

	if (!colon)
		return NULL;
	*offset = strtoull(colon + 1, NULL, 0);
	return strndup(spec, (size_t)(colon - spec));
}

static int open_event(int type, const char *spec, pid_t pid, bool exec)
{
	bool returns = strstr(spec, "%return") != NULL;
	uint64_t offset;
	char *file = take_apart(spec, &offset);
	/* As the device's format/retprobe says. */
	int fd = file ? held_probe(type, returns, file, offset, pid, exec) : -1;

	free(file);
	return fd;
}

/* Return: how many, or -1. */
static int threads_of(const char *pid, pid_t *tids)
{
	struct dirent *d;
	char path[64];
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	while (dir && n < MAX_THREADS && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			tids[n++] = atoi(d->d_name);
	if (dir)
		closedir(dir);
	return dir ? n : -1;
}

static int refused(const char *spec)
{
	fprintf(stderr, "%s: %s\n", spec, strerror(errno));
	return 77;
}

static void *map_place(const char *spec)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t offset;
	char *file = take_apart(spec, &offset);
	void *code = MAP_FAILED;
	int fd;

	if (file) {
		fd = open(file, O_RDONLY | O_CLOEXEC);
		code = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			    (off_t)(offset & -page));
		close(fd);
	}
	free(file);
	return code;
}

/* An error number that no program is meant to see. */
#define KERNEL_ENOTSUPP 524

static bool is_refused(int type, char *spec)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *code = map_place(spec);
	int fd = open_event(type, spec, 0, false);
	bool refused = fd < 0 && errno == KERNEL_ENOTSUPP;

	if (fd >= 0)
		close(fd);
	if (code != MAP_FAILED)
		munmap(code, page);
	return refused;
}

static int print_counts(const char *out, int type, char **specs, int n,
			int (*fds)[MAX_THREADS], int threads)
{
	FILE *f = out ? fopen(out, "w") : stdout;
	uint64_t count, sum;
	int i, t;

	for (i = 0; f && i < n; i++) {
		for (sum = 0, t = 0; t < threads; t++) {
			if (read(fds[i][t], &count, sizeof(count)) !=
			    sizeof(count))
				return 77;
			sum += count;
		}
		if (is_refused(type, specs[i]))
			fprintf(f, "refused %s\n", specs[i]);
		else
			fprintf(f, "%llu %s\n", (unsigned long long)sum,
				specs[i]);
	}
	return f ? fclose(f) : 77;
}

static int count_running(const char *out, int type, char **specs, int n,
			 const char *pid)
{
	static int fds[MAX_EVENTS][MAX_THREADS];
	pid_t tids[MAX_THREADS];
	int threads = threads_of(pid, tids), i, t;
	char c;

	if (threads <= 0)
		return refused(pid);
	for (i = 0; i < n; i++)
		for (t = 0; t < threads; t++) {
			fds[i][t] = open_event(type, specs[i], tids[t], false);
			if (fds[i][t] < 0)
				return refused(specs[i]);
		}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return print_counts(out, type, specs, n, fds, threads);
}

static int count_command(const char *out, int type, char **specs, int n,
			 char **cmd)
{
	static int fds[MAX_EVENTS][MAX_THREADS];
	int i, go = -1, status, err;
	pid_t pid = held_start(cmd, &go);

	for (i = 0; i < n; i++) {
		fds[i][0] = open_event(type, specs[i], pid, true);
		if (fds[i][0] < 0)
			return refused(specs[i]);
	}
	status = held_end(pid, go);
	err = print_counts(out, type, specs, n, fds, 1);
	if (err)
		return err;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	int n = 0, type = pmu_uprobe_type();
	const char *out = NULL;
	char **specs;

	if (argc > 2 && !strcmp(argv[1], "-o")) {
		out = argv[2];
		argv += 2;
	}
	specs = ++argv;
	while (*argv && argv[0][0] != '-')
		argv++, n++;
	if (!*argv || n > MAX_EVENTS || type < 0) {
		fprintf(stderr, type < 0 ? "no uprobe PMU\n" : "usage\n");
		return 77;
	}
	if (!strcmp(*argv, "-p") && argv[1])
		return count_running(out, type, specs, n, argv[1]);
	return count_command(out, type, specs, n, argv + 1);
}
