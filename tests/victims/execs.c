// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * execs: execs N: so many vfork children, each of which fails to execute something,
 * works, and executes /bin/true, by syscall(3). Says how often the parent has worked.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

long victim_function(long n);

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void child(void)
{
	char *const argv[] = { "true", NULL };

	if (syscall(SYS_execve, "/nonexistent/x", argv, argv + 1) != -1 ||
	    errno != ENOENT || victim_function(2) != 7)
		_exit(1);
	syscall(SYS_execve, "/bin/true", argv, argv + 1);
	_exit(2);
}

int main(int argc, char **argv)
{
	volatile long n = argc > 1 ? atol(argv[1]) : 1, i, worked = 0;
	int status;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = vfork();
		if (!pid)
			child();
		if (waitpid(pid, &status, 0) != pid || status) {
			printf("child %ld: status %d\n", i, status);
			return 1;
		}
		worked += victim_function(i) == i * 3 + 1;
	}
	printf("%ld\n", worked);
	return 0;
}
