// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * debug: whether debug registers trap here at all. Some virtual machines take their values, and nothing
 * ever comes of it. A watchpoint there would count nothing and look as if nothing had happened.
 */
#include "proc/ptrace/debug.h"
#include "port_types.h"
#include "arch/debug.h"
#include <dprobes/diag.h>
#include "proc/ptrace/process.h"
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int dp_debug_useless(struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"debug registers do not work on this machine: one was set, and a write did not trap, as happens in some virtual machines; nothing can be watched here");
}

/* Stops for its tracer, writes, and ends. No handler, and nothing of the tool's, runs in it. */
static void write_once(volatile u64 *word)
{
	if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL) && !raise(SIGSTOP))
		*word = 1;
	_exit(0);
}

static bool set(pid_t pid, u64 offset, u64 value)
{
	return !ptrace(PTRACE_POKEUSER, pid, offset, value);
}

static int next_status(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return status;
}

/* The child is about to write. Return: false: it is not known what it will do. */
static bool arm(pid_t pid, volatile u64 *word)
{
	return WIFSTOPPED(next_status(pid)) &&
	       set(pid, dp_debug_at(0), (u64)word) &&
	       set(pid, DP_DEBUG_CONTROL,
		   dp_debug_bits(0, sizeof(*word), false)) &&
	       !ptrace(PTRACE_CONT, pid, NULL, NULL);
}

bool dp_debug_works(void)
{
	static volatile u64 word __attribute__((aligned(8)));
	pid_t pid;

	if (dp_kill_point_fails("debug: works"))
		return false;
	pid = fork();
	if (!pid)
		write_once(&word);
	if (pid < 0)
		return true;
	if (arm(pid, &word) && WIFEXITED(next_status(pid)))
		return false;
	kill(pid, SIGKILL);
	next_status(pid);
	return true;
}
