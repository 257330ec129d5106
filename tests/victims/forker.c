// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* forker: children of every kind call the probed function; all check themselves. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
long victim_function(long n);
static int failures;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static int call_many(int times)
{
	long i;

	for (i = 0; i < times; i++)
		if (victim_function(i) != i * 3 + 1)
			return 1;
	return 0;
}

static void expect(pid_t pid, int wanted, const char *what)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != wanted) {
		printf("%s: status %x\n", what, status);
		failures++;
	}
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
	_exit(info->si_code == SI_TKILL ? 45 : 46);
}

/* A fork child sets a handler of its own and keeps calling. */
static void child_with_handler(void)
{
	struct sigaction sa = { .sa_sigaction = on_trap,
				.sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &sa, NULL);
	if (call_many(100))
		_exit(1);
	raise(SIGTRAP);
	_exit(2);
}

int main(void)
{
	char *argv[] = { "sh", "-c", "exit 44", NULL };
	pid_t pid, grandchild;
	volatile int i;

	for (i = 0; i < 20; i++) {
		call_many(10);
		pid = fork();
		if (pid == 0) {
			grandchild = fork();
			if (grandchild == 0)
				_exit(call_many(50) ? 1 : 41);
			expect(grandchild, 41, "grandchild");
			_exit(call_many(50) || failures ? 1 : 42);
		}
		expect(pid, 42, "fork");
		pid = vfork();
		if (pid == 0)
			_exit(call_many(5) ? 1 : 43);
		expect(pid, 43, "vfork");
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
			pid = -1;
		expect(pid, 44, "posix_spawn");
		if (WEXITSTATUS(system("exit 7")) != 7)
			failures++;
		pid = fork();
		if (pid == 0)
			child_with_handler();
		expect(pid, 45, "child with a handler");
	}
	printf("%d failures\n", failures);
	return failures;
}
