// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * command: what the dprobes command costs whoever types it.
 *
 * From its start until the process that it was told has every probe in its text, and
 * from ^C until it has ended.
 */
#include "bench/bench.h"
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPECS BENCH_NAMED
#define SPEC_SIZE 24
#define LIMIT_MS 5000
#define NAP_US 2000
#define FIXED 7 /* arguments beside the specs, and the end of the list */

/**
 * struct typed - one command that runs
 * @first, @nr: what it probes: so many functions, BENCH_MANY_STEP apart
 * @before, @now: their text, before it came and when it was looked at last
 * @begin: when it was started
 */
struct typed {
	pid_t pid;
	uint64_t first;
	size_t nr;
	unsigned char *before, *now;
	double begin;
};

static int fail(struct bench_run *run, const char *text)
{
	snprintf(run->absent, sizeof(run->absent), "%.150s", text);
	return -1;
}

static int look(const struct bench_run *run, const struct typed *t,
		unsigned char *text)
{
	size_t size = t->nr * BENCH_MANY_STEP;
	struct iovec to = { text, size }, from = { (void *)t->first, size };

	return process_vm_readv(run->pid, &to, 1, &from, 1, 0) ==
			       (ssize_t)size ?
		       0 :
		       -1;
}

/* By posix_spawn(3): to fork, this process would copy what it has mapped for all the other
 * figures, and who types a command has none of that. Return: 0. */
static int start(const struct bench_run *run, struct typed *t)
{
	static char specs[SPECS][SPEC_SIZE], path[4096], pid[16];
	static char *argv[SPECS + FIXED];
	posix_spawn_file_actions_t files;
	size_t n = 0, i;
	int fd, err;

	snprintf(path, sizeof(path), "%.*s../dprobes", run->folder,
		 run->victim);
	snprintf(pid, sizeof(pid), "%d", (int)run->pid);
	argv[n++] = path;
	argv[n++] = "stat";
	argv[n++] = "-q";
	argv[n++] = "-p";
	argv[n++] = pid;
	for (i = 0; i < t->nr; i++) {
		snprintf(specs[i], sizeof(specs[i]), "0x%llx",
			 (unsigned long long)t->first + i * BENCH_MANY_STEP);
		argv[n++] = specs[i];
	}
	argv[n] = NULL;
	posix_spawn_file_actions_init(&files);
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null",
						 O_RDWR, 0);
	t->begin = bench_now();
	err = posix_spawn(&t->pid, path, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return err;
}

static size_t live(const struct typed *t)
{
	size_t n = 0, i;

	for (i = 0; i < t->nr; i++)
		n += t->now[i * BENCH_MANY_STEP] !=
		     t->before[i * BENCH_MANY_STEP];
	return n;
}

/* The victim looks at its own text, so that nobody disturbs the command. */
static void watch(const struct bench_run *run, uint64_t first, size_t nr)
{
	struct bench_shared *s = run->shared;

	s->watch = first;
	__atomic_store_n(&s->watched, (uint32_t)nr, __ATOMIC_RELEASE);
	while (__atomic_load_n(&s->watching, __ATOMIC_ACQUIRE) != nr)
		bench_check(run);
}

/* Until every probe is live. */
static int wait_for(const struct bench_run *run, const struct typed *t)
{
	while (!__atomic_load_n(&run->shared->changed, __ATOMIC_ACQUIRE)) {
		usleep(NAP_US);
		if (waitpid(t->pid, NULL, WNOHANG) == t->pid ||
		    bench_now() - t->begin > LIMIT_MS)
			return -1;
	}
	return 0;
}

static void end(struct typed *t)
{
	free(t->before);
	free(t->now);
}

/* Return: milliseconds, or a negative number with @run->absent set. */
static double type(struct bench_run *run, struct typed *t, uint64_t first,
		   size_t nr)
{
	bool failed;

	*t = (struct typed){ .first = first,
			     .nr = nr,
			     .before = malloc(nr * BENCH_MANY_STEP),
			     .now = malloc(nr * BENCH_MANY_STEP) };
	if (look(run, t, t->before)) {
		end(t);
		return fail(run, "the victim cannot be read");
	}
	run->shared->changed = 0;
	watch(run, first, nr);
	failed = start(run, t) || wait_for(run, t);
	watch(run, first, 0);
	if (failed) {
		if (t->pid > 0)
			kill(t->pid, SIGINT);
		end(t);
		return fail(run, "the command did not probe it");
	}
	return (double)run->shared->changed / 1e6 - t->begin;
}

/* Likewise, from now on. */
static double interrupt(struct bench_run *run, struct typed *t)
{
	double begin = bench_now();
	int status;
	double ms;

	kill(t->pid, SIGINT);
	waitpid(t->pid, &status, 0);
	ms = bench_now() - begin;
	if (status || look(run, t, t->now) || live(t))
		ms = fail(run, "the command did not end well");
	end(t);
	return ms;
}

int bench_command(struct bench_run *run, const struct bench *b, double *ms)
{
	struct typed t;

	*ms = type(run, &t, run->shared->addr[b->function], 1);
	return *ms < 0 || interrupt(run, &t) < 0 ? -1 : 0;
}

int bench_command_on(struct bench_run *run, const struct bench *b, double *ms)
{
	struct typed t;

	*ms = type(run, &t, run->shared->many, SPECS);
	return *ms < 0 || interrupt(run, &t) < 0 ? -1 : 0;
}

int bench_command_off(struct bench_run *run, const struct bench *b, double *ms)
{
	struct typed t;

	if (type(run, &t, run->shared->many, SPECS) < 0)
		return -1;
	*ms = interrupt(run, &t);
	return *ms < 0 ? -1 : 0;
}
