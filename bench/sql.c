// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sql: what probes on every function of sqlite's library cost a shell that loads a file.
 *
 * Of the shell's time on a CPU only that counts which the file takes. The probes come before that,
 * and go with the process.
 */
#include "bench/bench.h"
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libsqlite3.so"
#define ROWS 40000
#define SELECTS 12
#define LIMIT_MS 20000
#define NAP_US 2000
#define LEAST_HITS 1000000ull

/**
 * struct shell - one that runs, and the tool that probes it
 * @in, @out: to it and from it
 * @text, @size: of the library's code; @before, @now: what that was, and is
 * @begin: the time that it had had when it began to load the file, in ns; @took: what that took
 * @hits: what the tool has counted
 */
struct shell {
	pid_t pid, tool;
	FILE *in, *out;
	uint64_t text;
	size_t size;
	unsigned char *before, *now;
	double begin, took;
	unsigned long long hits;
};

static int fail(struct bench_run *run, const char *text)
{
	snprintf(run->absent, sizeof(run->absent), "%.150s", text);
	return -1;
}

static void write_script(FILE *f)
{
	int i;

	fputs("create table t(a integer primary key, b text, c real);\n"
	      "create index tb on t(b);\nbegin;\n",
	      f);
	for (i = 0; i < ROWS; i++)
		fprintf(f, "insert into t values(%d,'word %d',%d.5);\n", i,
			(i * 7919) % 10007, i);
	fputs("commit;\n", f);
	for (i = 0; i < SELECTS; i++)
		fprintf(f,
			"select count(*), sum(a) from t where b like 'w%%%d';\n"
			"select a, b from t where a %% 7 = %d order by c desc limit 3;\n",
			i, i % 7);
}

/* The file, which shells inherit. Return: its descriptor, or -1. */
static int script(void)
{
	static int fd;
	FILE *f;

	if (fd)
		return fd;
	fd = memfd_create("sql", 0);
	f = fd < 0 ? NULL : fdopen(dup(fd), "w");
	if (!f)
		return -1;
	write_script(f);
	fclose(f);
	return fd;
}

/* Return: true, with a line of @path in /proc/@pid in @line that has both texts in it. */
static bool find_line(pid_t pid, const char *path, const char *one,
		      const char *other, char line[4096])
{
	bool found = false;
	FILE *f;

	snprintf(line, 4096, "/proc/%d/%s", (int)pid, path);
	f = fopen(line, "re");
	if (!f)
		return false;
	while (!found && fgets(line, 4096, f))
		found = strstr(line, one) && strstr(line, other);
	fclose(f);
	return found;
}

static bool read_text(const struct shell *s, unsigned char *to)
{
	struct iovec mine = { to, s->size }, its = { (void *)s->text, s->size };

	return to && process_vm_readv(s->pid, &mine, 1, &its, 1, 0) ==
			     (ssize_t)s->size;
}

static bool find_text(struct shell *s)
{
	unsigned long long start, end;
	char line[4096];

	if (!find_line(s->pid, "maps", LIBRARY, " r-xp ", line) ||
	    sscanf(line, "%llx-%llx", &start, &end) != 2)
		return false;
	s->text = start;
	s->size = (size_t)(end - start);
	s->before = malloc(s->size);
	s->now = malloc(s->size);
	return s->now && read_text(s, s->before);
}

/* Starts @path with the two descriptors. Return: its number, or -1. */
static pid_t spawn(const char *path, char **argv, int in, int out)
{
	posix_spawn_file_actions_t files;
	pid_t pid;
	int err;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", 1,
					 0);
	err = posix_spawnp(&pid, path, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return err ? -1 : pid;
}

static int begin(struct shell *s)
{
	char *argv[] = { "sqlite3", "-batch", ":memory:", NULL };
	int in[2], out[2];

	*s = (struct shell){ .tool = -1 };
	if (pipe2(in, O_CLOEXEC))
		return -1;
	if (pipe2(out, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	s->in = fdopen(in[1], "w");
	s->out = fdopen(out[0], "r");
	s->pid = spawn(argv[0], argv, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	return s->pid < 0 ? -1 : 0;
}

/* Until the shell has answered: it has begun then. */
static bool talk(struct shell *s, const char *asked)
{
	char line[256];

	fputs(asked, s->in);
	fflush(s->in);
	return fgets(line, sizeof(line), s->out);
}

static bool is_armed(const struct shell *s)
{
	char line[4096];

	return read_text(s, s->now) && memcmp(s->before, s->now, s->size) &&
	       find_line(s->pid, "status", "TracerPid:", "\t0\n", line);
}

/* @said: where the tool's counts go. Return: true if every probe is live. */
static bool probe(const struct bench_run *run, struct shell *s,
		  const char *kind, int said)
{
	char path[4096], spec[64], pid[16];
	char *argv[] = { path, "stat", "-q", spec, "-p", pid, NULL };
	double begin = bench_now();

	snprintf(path, sizeof(path), "%.*s../dprobes", run->folder,
		 run->victim);
	snprintf(spec, sizeof(spec), "%s:" LIBRARY "*:*", kind);
	snprintf(pid, sizeof(pid), "%d", (int)s->pid);
	s->tool = find_text(s) ? spawn(path, argv, STDIN_FILENO, said) : -1;
	if (s->tool < 0)
		return false;
	while (!is_armed(s)) {
		usleep(NAP_US);
		if (bench_now() - begin > LIMIT_MS)
			return false;
	}
	return true;
}

static double cpu_time(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double used(const struct rusage *r)
{
	return ((double)r->ru_utime.tv_sec + (double)r->ru_stime.tv_sec) * 1e9 +
	       ((double)r->ru_utime.tv_usec + (double)r->ru_stime.tv_usec) *
		       1e3;
}

/* Return: true if the shell has loaded the file and ended well. */
static bool load(struct shell *s)
{
	struct rusage r;
	char line[256];
	int status;

	s->begin = cpu_time(s->pid);
	fprintf(s->in, ".read /proc/self/fd/%d\n", script());
	fclose(s->in);
	s->in = NULL;
	while (fgets(line, sizeof(line), s->out))
		;
	if (wait4(s->pid, &status, 0, &r) != s->pid)
		return false;
	s->pid = -1;
	s->took = used(&r) - s->begin;
	return !status;
}

static unsigned long long sum_of(int said)
{
	unsigned long long sum = 0, hits;
	FILE *f = fdopen(said, "r");
	char line[4096];

	if (!f) {
		close(said);
		return 0;
	}
	rewind(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%llu", &hits) == 1)
			sum += hits;
	fclose(f);
	return sum;
}

static void reap(pid_t pid)
{
	if (pid < 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The tool notices that the shell has ended. */
static void end(struct shell *s, bool good, int said)
{
	if (good && s->tool >= 0)
		waitpid(s->tool, NULL, 0);
	else
		reap(s->tool);
	reap(s->pid);
	if (s->in)
		fclose(s->in);
	if (s->out)
		fclose(s->out);
	free(s->before);
	free(s->now);
	s->hits = said < 0 ? 0 : sum_of(said);
}

/* @kind: of the probes, NULL for none. Return: what the file takes, in ns, or a negative number. */
static double shell(const struct bench_run *run, const char *kind,
		    unsigned long long *hits)
{
	int said = kind ? memfd_create("counts", MFD_CLOEXEC) : -1;
	struct shell s;
	bool good;

	if (script() < 0 || begin(&s))
		return -1;
	good = talk(&s, "select 1;\n") &&
	       (!kind || probe(run, &s, kind, said)) && load(&s);
	end(&s, good, said);
	*hits = s.hits;
	return good ? s.took : -1;
}

static int against_bare(struct bench_run *run, const char *kind, double *times)
{
	unsigned long long hits;
	double bare = shell(run, NULL, &hits), probed;

	if (bare <= 0)
		return fail(run, "there is no sqlite3 with a shared library");
	probed = shell(run, kind, &hits);
	if (probed < 0 || hits < LEAST_HITS)
		return fail(run, "the command did not probe it");
	*times = probed / bare;
	snprintf(
		run->note, sizeof(run->note),
		"sqlite3 loads a file in %.0f ms on a CPU, or %.0f ms with %llu hits, attaching not counted",
		bare / 1e6, probed / 1e6, hits);
	return 0;
}

int bench_sql_entries(struct bench_run *run, const struct bench *b,
		      double *times)
{
	return against_bare(run, "p", times);
}

int bench_sql_returns(struct bench_run *run, const struct bench *b,
		      double *times)
{
	return against_bare(run, "r", times);
}
