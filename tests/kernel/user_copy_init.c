// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* user_copy_init: copies of the guest's first program, and processes that execute them. */
#include "tests/kernel/user_init.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

int dp_user_copy_to(int to)
{
	int from = open(DP_USER_FILE, O_RDONLY);
	char buffer[65536];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, (size_t)n) != n)
			break;
	close(from);
	return n != 0;
}

int dp_user_copy(const char *path)
{
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700),
	    bad = dp_user_copy_to(to);

	return close(to) || bad;
}

int dp_user_execute(const char *path, const char *first, const char *second)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		execl(path, path, first, second, NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (status & 127);
}
