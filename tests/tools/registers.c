// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * registers: the debug registers of a process's threads, as the kernel has them.
 *
 * registers PID prints a line "TID N 0xADDRESS CONTROL" for each that is switched on. Those of a new thread, of
 * which only the control register shows its maker's, are none.
 */
#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

static unsigned long peek(pid_t tid, int n)
{
	return (unsigned long)ptrace(PTRACE_PEEKUSER, tid,
				     offsetof(struct user, u_debugreg[n]), 0);
}

static void print_thread(pid_t tid)
{
	unsigned long control = peek(tid, 7);
	int n;

	for (n = 0; n < 4; n++)
		if (control >> 2 * n & 3 && peek(tid, n))
			printf("%d %d 0x%lx %lx\n", tid, n, peek(tid, n),
			       control >> (16 + 4 * n) & 15);
}

static int look(pid_t tid)
{
	int status;

	if (ptrace(PTRACE_SEIZE, tid, 0, 0) ||
	    ptrace(PTRACE_INTERRUPT, tid, 0, 0))
		return 1;
	while (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status)) {
		if (status >> 16 == PTRACE_EVENT_STOP) {
			print_thread(tid);
			ptrace(PTRACE_DETACH, tid, 0, 0);
			return 0;
		}
		ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	}
	return 0;
}

int main(int argc, char **argv)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int bad = 0;

	snprintf(path, sizeof(path), "/proc/%s/task", argc > 1 ? argv[1] : "");
	dir = opendir(path);
	if (!dir)
		return 2;
	while ((d = readdir(dir)))
		if (atoi(d->d_name) > 0)
			bad |= look(atoi(d->d_name));
	closedir(dir);
	return bad;
}
