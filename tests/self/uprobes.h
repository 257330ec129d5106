/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* uprobes: a program that is probed, for tests of those who probe it. */
#ifndef TESTS_UPROBES_H
#define TESTS_UPROBES_H

#include <dprobes/uprobes.h>
#include "tests/self/self.h"
#include <semaphore.h>
#include <sys/prctl.h>

/** struct victim - tests/victims/uprobed, and where things are in it */
struct victim {
	pid_t pid;
	FILE *to, *from;
	unsigned long twice, number, text, getppid, nest, signals;
};

static char victim_path[600];

/* It is built beside us. */
static void find_victim(void)
{
	char *end;
	ssize_t n = readlink("/proc/self/exe", victim_path,
			     sizeof(victim_path) - 64);

	victim_path[n > 0 ? n : 0] = '\0';
	end = strstr(victim_path, "/tests/self/");
	strcpy(end ? end : victim_path, "/tests/victims/uprobed");
}

static bool __attribute__((unused)) read_places(struct victim *v)
{
	char line[160] = "";

	return fgets(line, sizeof(line), v->from) &&
	       sscanf(line, "%lx %lx %lx %lx %lx %lx", &v->twice, &v->number,
		      &v->text, &v->getppid, &v->nest, &v->signals) == 6;
}

static void __attribute__((unused)) begin(struct victim *v)
{
	int in[2], out[2];

	if (!*victim_path)
		find_victim();
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		abort();
	fflush(stdout);
	v->pid = fork();
	if (!v->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(victim_path, "uprobed", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	v->to = fdopen(in[1], "w");
	v->from = fdopen(out[0], "r");
	if (!read_places(v))
		abort();
}

static void __attribute__((unused)) tell(struct victim *v, const char *word)
{
	fprintf(v->to, "%s\n", word);
	fflush(v->to);
}

/* Return: its answer, until the next one. */
static const char *__attribute__((unused)) heard(struct victim *v)
{
	static __thread char line[64];

	if (!fgets(line, sizeof(line), v->from))
		strcpy(line, "nothing");
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static const char *__attribute__((unused))
told(struct victim *v, const char *word)
{
	tell(v, word);
	return heard(v);
}

static bool __attribute__((unused))
says(struct victim *v, const char *word, const char *answer, const char *what)
{
	const char *got = told(v, word);

	if (ok(!strcmp(got, answer), "%s", what))
		return true;
	printf("# \"%s\" instead of \"%s\"\n", got, answer);
	return false;
}

/* Return: wait status. */
static int __attribute__((unused)) end(struct victim *v)
{
	int status = -1;

	fclose(v->to);
	waitpid(v->pid, &status, 0);
	fclose(v->from);
	return status;
}

static void __attribute__((unused))
ends_well(struct victim *v, const char *what)
{
	int status = end(v);

	if (!ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "%s", what))
		printf("# status 0x%x\n", status);
}

/* What the program has mapped, without its heap and stacks. */
static int __attribute__((unused)) mappings(pid_t pid, const char *like)
{
	char path[64], line[512];
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, like) != NULL;
	if (f)
		fclose(f);
	return n;
}

static bool __attribute__((unused))
bytes_at(pid_t pid, unsigned long addr, void *to, size_t n)
{
	char path[64];
	int fd;
	bool all;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	all = pread(fd, to, n, (off_t)addr) == (ssize_t)n;
	close(fd);
	return all;
}

/* Wait for something that is about to be. */
#define SOON(what)                                          \
	({                                                  \
		bool soon_;                                 \
		int naps_ = 0;                              \
		while (!(soon_ = (what)) && naps_++ < 2000) \
			usleep(5000);                       \
		soon_;                                      \
	})

#endif
