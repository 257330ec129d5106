// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * children: fork inside nested calls, the child returns through them; vfork, exec,
 * posix_spawn, popen and system there; at last the program replaces itself.
 */
#include "torture.h"
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static APART long work(long n)
{
	long sum = n ? n + work(n - 1) : 0;

	STAY();
	return sum;
}

static APART pid_t fork_below(int n)
{
	pid_t pid = n ? fork_below(n - 1) : fork();

	STAY();
	return pid;
}

static APART bool reap(pid_t pid, int wanted)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid &&
	       WIFEXITED(status) && WEXITSTATUS(status) == wanted;
}

/* A child that has come back through all the frames, and made one itself. */
static APART bool generations(int n)
{
	pid_t pid = fork_below(10 * n);

	if (pid)
		return reap(pid, 7);
	if (work(100) != 5050 || (n && !generations(n - 1)))
		_exit(1);
	_exit(7);
}

static void *in_thread(void *arg)
{
	return (void *)(long)generations(2);
}

static bool from_a_thread(void)
{
	void *good;
	pthread_t id;

	pthread_create(&id, NULL, in_thread, NULL);
	pthread_join(id, &good);
	return good != NULL;
}

static APART pid_t vfork_and_exec(void)
{
	static char *const argv[] = { "sh", "-c", "exit 9", NULL };
	pid_t pid = vfork();

	if (pid)
		return pid;
	execv("/bin/sh", argv);
	_exit(127);
}

static APART pid_t vfork_below(int n)
{
	pid_t pid = n ? vfork_below(n - 1) : vfork_and_exec();

	STAY();
	return pid;
}

static APART pid_t spawn_below(int n)
{
	static char *const argv[] = { "sh", "-c", "exit 11", NULL };
	pid_t pid = -1;

	if (n)
		pid = spawn_below(n - 1);
	else if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
		return -1;
	STAY();
	return pid;
}

static APART bool read_below(int n)
{
	char line[32] = "";
	bool good;
	FILE *f;

	if (n) {
		good = read_below(n - 1);
		STAY();
		return good;
	}
	f = popen("echo child", "r");
	good = f && fgets(line, sizeof(line), f) && !strcmp(line, "child\n");
	return f && !pclose(f) && good;
}

static APART int exec_below(int n, char **argv)
{
	int result;

	if (!n)
		return execv("/proc/self/exe", argv);
	result = exec_below(n - 1, argv);
	STAY();
	return result;
}

static APART bool exec_in_child(char **argv)
{
	pid_t pid = fork_below(5);

	if (!pid) {
		exec_below(20, argv);
		_exit(127);
	}
	return reap(pid, 0);
}

int main(int argc, char **argv)
{
	char *again[] = { argv[0], "again", NULL };
	char *last[] = { argv[0], "last", NULL };
	bool good = true;

	if (argc > 1) {
		check(argv[1], work(100) == 5050);
		return verdict();
	}
	for (int i = 0; i < 5; i++)
		good &= generations(3);
	check("fork", good);
	check("fork in a thread", from_a_thread());
	check("vfork", reap(vfork_below(20), 9));
	check("posix_spawn", reap(spawn_below(20), 11));
	check("popen", read_below(20));
	check("system", WEXITSTATUS(system("exit 5")) == 5);
	check("exec in a child", exec_in_child(again));
	check("and work goes on", work(1000) == 500500);
	if (!wrong)
		exec_below(30, last);
	return 1;
}
