/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* children: what became of them, for programs that check themselves. */
#ifndef TESTS_CHILDREN_H
#define TESTS_CHILDREN_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>

/* Has a child, which could be made, ended by exit(wanted)? Says so if not. */
static inline bool has_exited(pid_t pid, int wanted, const char *what)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == wanted)
		return true;
	printf("%s: status %x\n", what, (unsigned int)status);
	return false;
}

#endif
