// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * killer: ends the tool at any moment, and looks whether the program goes on.
 *
 *	killer ROUNDS FILE PID TOOL HOW SPEC...
 *
 * FILE has the beats of process PID (tests/victims/beats.c). In each round TOOL is started
 * on it with some of the SPECs, by chance with stat, trace or stat -f, and ended after a time
 * by chance: HOW is kill, or any of kill, stop and int. Then each thread has to beat again.
 * After every tenth round "TOOL detach" must succeed and leave nothing. Prints how many
 * rounds went well and, if it is not all of them, what was wrong with the next. $SEED is
 * where chance begins.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS 512
#define SPECS_MAX 4
#define BEAT_MS 20000
#define END_MS 30000

static const volatile unsigned long *beats;
static const char *victim, *tool, *arm;
static char **specs;
static size_t nr_specs;
static bool only_kill;
static char line[400];

static void nap(long us)
{
	const struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Return: the descriptor of what it says. */
static pid_t start(char *const argv[])
{
	pid_t pid = fork();
	int null;

	if (pid)
		return pid;
	null = open("/dev/null", O_WRONLY);
	dup2(null, 1);
	if (arm)
		setenv("DPROBES_ARM", arm, 1);
	execv(argv[0], argv);
	_exit(127);
}

static bool ends(pid_t pid, int *status)
{
	long end = now_ms() + END_MS;

	while (!waitpid(pid, status, WNOHANG)) {
		if (now_ms() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, status, 0);
			return false;
		}
		nap(1000);
	}
	return true;
}

/* A verb and some of the specs, in the order of the list. */
static void choose(char **argv)
{
	static char *const verbs[] = { "stat", "trace", "stat", "trace",
				       "stat" };
	long verb = lrand48() % 5;
	size_t want = 1 + (size_t)lrand48() % SPECS_MAX, i, n = 0;

	argv[n++] = (char *)tool;
	argv[n++] = verbs[verb];
	argv[n++] = "-q";
	if (verb == 4)
		argv[n++] = "-f";
	for (i = 0; i < nr_specs && want; i++)
		if ((size_t)lrand48() % (nr_specs - i) < want) {
			argv[n++] = specs[i];
			want--;
		}
	argv[n++] = "-p";
	argv[n++] = (char *)victim;
	argv[n] = NULL;
}

/* Early or late in what the tool does. */
static void wait_by_chance(void)
{
	static const double longest[] = { 50000, 150000, 600000 };

	nap((long)(drand48() * longest[lrand48() % 3]));
}

static const char *end_by_chance(pid_t pid)
{
	long how = only_kill ? 0 : lrand48() % 5;

	if (how < 3) {
		kill(pid, SIGKILL);
		return "SIGKILL";
	}
	if (how == 3) {
		kill(pid, SIGINT);
		return "SIGINT";
	}
	kill(pid, SIGSTOP);
	nap((long)(drand48() * 300000));
	kill(pid, SIGKILL);
	return "SIGSTOP and SIGKILL";
}

static bool is_over(void)
{
	char path[64], text[512];
	ssize_t n = -1;
	char *p;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/stat", victim);
	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (n <= 0)
		return true;
	text[n] = '\0';
	p = strrchr(text, ')');
	return !p || p[2] == 'Z' || p[2] == 'X';
}

/* Return: NULL or what is wrong. */
static const char *all_beat(void)
{
	size_t nr = beats[WORDS - 1], i = 0;
	unsigned long was[WORDS];
	long end = now_ms() + BEAT_MS;
	static char text[64];

	memcpy(was, (const void *)beats, sizeof(was));
	while (i < nr) {
		if (is_over())
			return "the program is over";
		if (now_ms() > end) {
			snprintf(text, sizeof(text), "thread %zu stands still",
				 i);
			return text;
		}
		if (beats[i] != was[i])
			i++;
		else
			nap(2000);
	}
	return is_over() ? "the program is over" : NULL;
}

static void describe(char *const argv[], const char *how)
{
	size_t n;

	n = (size_t)snprintf(line, sizeof(line), "%s after", how);
	for (; *argv && n < sizeof(line); argv++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, " %s", *argv);
	if (arm && n < sizeof(line))
		snprintf(line + n, sizeof(line) - n, ", %s", arm);
}

static const char *round_once(void)
{
	static const char *const arms[] = { "interior", "interior", "quiesce",
					    "trap" };
	char *argv[SPECS_MAX + 8];
	pid_t pid;
	int status;

	choose(argv);
	if (!getenv("DPROBES_ARM"))
		arm = arms[lrand48() % 4];
	pid = start(argv);
	wait_by_chance();
	describe(argv, end_by_chance(pid));
	if (!ends(pid, &status))
		return "the tool does not end";
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL &&
	    WTERMSIG(status) != SIGINT)
		return "the tool has died";
	return all_beat();
}

static bool has_remains(void)
{
	char path[64], text[1024];
	bool has = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/maps", victim);
	f = fopen(path, "re");
	while (f && fgets(text, sizeof(text), f))
		has |= strstr(text, "memfd:dprobes") != NULL;
	if (f)
		fclose(f);
	return has;
}

static const char *detach(void)
{
	char *argv[] = { (char *)tool, "detach", "-p", (char *)victim, NULL };
	int status;

	describe(argv, "nothing");
	if (!ends(start(argv), &status))
		return "detach does not end";
	if (status)
		return "detach fails";
	return has_remains() ? "something is left" : all_beat();
}

static bool map_beats(const char *path)
{
	int fd = open(path, O_RDONLY);
	void *at = mmap(NULL, WORDS * sizeof(*beats), PROT_READ, MAP_SHARED, fd,
			0);

	beats = at;
	return at != MAP_FAILED;
}

int main(int argc, char **argv)
{
	const char *seed = getenv("SEED"), *bad = NULL;
	long rounds, n, begin = seed ? atol(seed) : (long)time(NULL);

	if (argc < 7 || !map_beats(argv[2]))
		return 2;
	rounds = atol(argv[1]);
	victim = argv[3];
	tool = argv[4];
	only_kill = !strcmp(argv[5], "kill");
	specs = argv + 6;
	nr_specs = (size_t)argc - 6;
	srand48(begin);
	for (n = 0; n < rounds && !bad; n++) {
		bad = round_once();
		if (!bad && n % 10 == 9)
			bad = detach();
	}
	if (!bad) {
		printf("%ld rounds\n", n);
		return 0;
	}
	printf("%ld rounds, then, by %s: %s (SEED=%ld)\n", n - 1, line, bad,
	       begin);
	return 1;
}
