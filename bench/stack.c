// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stack: what a hit costs that is counted by a stack of ten frames, which is known, as it is typed. */
#include "bench/bench.h"
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS \
	20000 /* the median is of parts that are shorter than a slice of time */
#define WARM 1000
#define FRAMES 10
#define LIMIT_MS 5000
#define NAP_US 2000

/** struct told - what a command has printed: hits, and frames of their stack */
struct told {
	unsigned long long hits;
	unsigned int frames;
};

static int fail(struct bench_run *run, const char *text)
{
	snprintf(run->absent, sizeof(run->absent), "%.150s", text);
	return -1;
}

/* Return: 0, and *@out is the end of a pipe from its output. */
static int start(const struct bench_run *run, uint64_t at, pid_t *pid, int *out)
{
	char path[4096], victim[16], spec[64];
	char *argv[] = { path, "stat", "-q", "-p", victim, spec, NULL };
	posix_spawn_file_actions_t files;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	snprintf(path, sizeof(path), "%.*s../dprobes", run->folder,
		 run->victim);
	snprintf(victim, sizeof(victim), "%d", (int)run->pid);
	snprintf(spec, sizeof(spec), "0x%llx{count() by stack}",
		 (unsigned long long)at);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	err = posix_spawn(pid, path, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	*out = ends[0];
	if (err)
		close(ends[0]);
	return err;
}

static uint64_t text_at(const struct bench_run *run, uint64_t at)
{
	uint64_t text = 0;
	struct iovec to = { &text, sizeof(text) };
	struct iovec from = { (void *)at, sizeof(text) };

	process_vm_readv(run->pid, &to, 1, &from, 1, 0);
	return text;
}

/* Until the probe is in the text. */
static int wait_for(const struct bench_run *run, uint64_t at, uint64_t before)
{
	double begin = bench_now();

	while (text_at(run, at) == before) {
		if (bench_now() - begin > LIMIT_MS)
			return -1;
		usleep(NAP_US);
	}
	return 0;
}

/* End it, and read what it says: a line with the hits, and one for each frame. */
static int end(pid_t pid, int fd, struct told *told)
{
	FILE *out = fdopen(fd, "r");
	char line[512];
	int status;

	*told = (struct told){ 0 };
	kill(pid, SIGINT);
	while (out && fgets(line, sizeof(line), out))
		if (sscanf(line, "count()=%llu", &told->hits) != 1 &&
		    !strncmp(line, "    ", 4))
			told->frames++;
	if (out)
		fclose(out);
	return waitpid(pid, &status, 0) == pid && !status ? 0 : -1;
}

static int measure(struct bench_run *run, const struct bench *b, double *ns,
		   struct told *told)
{
	uint64_t at = run->shared->addr[b->function], before = text_at(run, at);
	bool there;
	pid_t pid;
	int out;

	*ns = -bench_calls(run, b->function, CALLS);
	if (start(run, at, &pid, &out))
		return fail(run, "the command cannot be started");
	there = !wait_for(run, at, before);
	if (there) {
		bench_calls(run, b->function, WARM);
		*ns += bench_calls(run, b->function, CALLS);
	}
	if (end(pid, out, told) || !there || told->hits < CALLS ||
	    told->hits > CALLS + WARM)
		return fail(run, "the command has not counted the calls");
	return 0;
}

/* How many frames lie around the calls is the compiler's choice: it is tried. */
int bench_stack_known(struct bench_run *run, const struct bench *b, double *ns)
{
	static uint32_t deep;
	struct told told;
	int err;

	run->shared->deep = deep;
	err = measure(run, b, ns, &told);
	if (!err && told.frames < FRAMES) {
		deep += FRAMES - told.frames;
		run->shared->deep = deep;
		err = measure(run, b, ns, &told);
	}
	run->shared->deep = 0;
	if (err)
		return err;
	snprintf(run->note, sizeof(run->note), "%u frames", told.frames);
	return told.frames == FRAMES ? 0 :
				       fail(run, "these are not ten frames");
}
