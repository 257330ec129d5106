// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * command: a program that runs while the kernel is probed.
 *
 * It is a child as any shell's, which nothing is done to. It waits for a byte before it executes
 * its program; if the tool ends before that, it ends, too.
 */
#include "tracer/system/system.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define USUAL_PATH "/usr/local/bin:/usr/bin:/bin"

/* Return: 0; -ENOENT; -EACCES it is no program. */
static int check(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -ENOENT;
	return S_ISREG(st.st_mode) && !access(path, X_OK) ? 0 : -EACCES;
}

/* As execvp(3) will look for it */
static int find(const char *name)
{
	const char *list = secure_getenv("PATH") ?: USUAL_PATH;
	char path[PATH_MAX];
	int err, worst = -ENOENT;
	size_t n;

	if (strchr(name, '/'))
		return check(name);
	for (;; list += n + 1) {
		n = strcspn(list, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)(n ? n : 1),
			 n ? list : ".", name);
		err = check(path);
		if (!err)
			return 0;
		worst = err == -EACCES ? err : worst;
		if (!list[n])
			return worst;
	}
}

static void run(char *const *argv, int start)
{
	static const char failed[] =
		"dprobes: the command cannot be executed\n";
	char byte;

	if (read(start, &byte, 1) == 1) {
		execvp(argv[0], argv);
		if (write(STDERR_FILENO, failed, sizeof(failed) - 1) < 0)
			_exit(126);
	}
	_exit(126);
}

static int start(struct dp_system_command *c, char *const *argv)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid) {
		close(ends[1]);
		run(argv, ends[0]);
	}
	close(ends[0]);
	c->start = ends[1];
	if (c->pid < 0)
		return -errno;
	c->watch = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return c->watch < 0 ? -errno : 0;
}

int dp_system_command_open(struct dp_system_command *c, char *const *argv,
			   struct dp_diag *diag)
{
	int err;

	*c = (struct dp_system_command){ .watch = -1, .start = -1 };
	if (!argv)
		return 0;
	err = find(argv[0]);
	if (!err)
		err = start(c, argv);
	return err ? dp_diag_set(diag, err, "cannot execute %s: %s", argv[0],
				 strerror(-err)) :
		     0;
}

void dp_system_command_go(struct dp_system_command *c)
{
	/* One that has been killed meanwhile reads nothing: SIGPIPE. */
	void (*was)(int) = signal(SIGPIPE, SIG_IGN);

	if (c->start >= 0 && write(c->start, "", 1) < 0)
		c->status = 0;
	signal(SIGPIPE, was);
	if (c->start >= 0)
		close(c->start);
	c->start = -1;
}

/* It stays a zombie until the end, so that its records have its name. */
static bool has_ended(struct dp_system_command *c)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	    !info.si_pid)
		return false;
	c->status = info.si_code == CLD_EXITED ? info.si_status << 8 :
						 info.si_status;
	return true;
}

bool dp_system_command_wait(struct dp_system_command *c, int ms)
{
	struct pollfd p = { .fd = c->watch, .events = POLLIN };

	if (c->ended)
		return true;
	if (poll(&p, 1, ms) == 1 && c->pid > 0)
		c->ended = has_ended(c);
	return c->ended;
}

void dp_system_command_close(struct dp_system_command *c)
{
	bool waits = c->start >= 0;

	if (waits)
		close(c->start);
	if (c->pid > 0 && (waits || c->ended))
		waitpid(c->pid, NULL, 0);
	if (c->watch >= 0)
		close(c->watch);
	c->start = c->watch = -1;
}
