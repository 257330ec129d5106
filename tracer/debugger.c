// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * debugger: a process is stopped at a probe (exit 1), and a debugger takes it over.
 *
 * The process stops when the record is read, and the run ends, with -f for this process alone. The
 * debugger comes when the probes have been taken out, and no thread is traced: it sees the program as
 * it is without them.
 */
#include "tracer/facility.h"
#include "tracer/output.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAILED_EXEC 127 /* of sh(1): it has not found the command */
#define DESCRIPTORS 3 /* the standard ones */

/* The last debugger that runs beside the tool, by a pidfd; -1: none does */
static int last = -1;

const char *dp_tracer_debugger_bad(const char *command)
{
	const char *p;

	for (p = command; *p; p++)
		if (*p == '%' && (!*++p || !strchr("pi%", *p)))
			return p - 1;
	return NULL;
}

static int halt(const struct dp_session *s, const struct dp_stamp *stamp,
		u32 inside, bool *there, struct dp_diag *outcome)
{
	struct dp_diag words = { .text = "" };
	int err;

	err = s->ops->halt(s->source, stamp->tid, inside, there, &words);
	return err ? dp_diag_set(outcome, err,
				 "the debugger, which was not called: %s",
				 words.text) :
		     0;
}

/* A process that probes itself takes a tool's probes out itself. Stopped, it could not. */
static int say_late(const struct dp_session *s, struct dp_diag *outcome)
{
	return dp_diag_set(
		outcome, 0,
		"the debugger: process %d probes itself, and is stopped when the probes of dprobes are out; this thread goes on until then",
		s->debugged.pid);
}

int dp_debugger_halt(struct dp_session *s, const struct dp_stamp *stamp,
		     const char *probe, u32 inside, struct dp_diag *outcome)
{
	bool there = false, late = !s->ops->halt;
	int err;

	if (s->debugged.pid)
		return dp_diag_set(
			outcome, -EBUSY,
			"the debugger, which has been called for another hit");
	err = late ? 0 : halt(s, stamp, inside, &there, outcome);
	if (err)
		return err;
	s->debugged =
		(struct dp_debugged){ s->source->pid, stamp->tid, probe, late };
	if (late)
		return say_late(s, outcome);
	dp_diag_set(outcome, 0, "the debugger: process %d is stopped, %s",
		    s->debugged.pid,
		    there ? "this thread in front of the instruction" :
			    "but this thread had gone on");
	return 0;
}

static char *command_of(const char *pattern, const struct dp_debugged *d)
{
	const char *p;
	char *command = NULL;
	size_t len;
	FILE *f = open_memstream(&command, &len);

	for (p = pattern; f && *p; p++)
		if (*p != '%')
			fputc(*p, f);
		else if (*++p == 'p')
			fprintf(f, "%d", d->pid);
		else if (*p == 'i')
			fprintf(f, "%u", d->tid);
		else
			fputc('%', f);
	return f && !fclose(f) ? command : NULL;
}

/* The terminal, and what is typed there, is the debugger's until it ends. */
static void run(const char *pattern, const struct dp_debugged *d)
{
	char *command = command_of(pattern, d);
	int status;

	fflush(NULL);
	status = command ? system(command) : -1;
	if (status < 0)
		dp_output_say("--debugger: cannot make a process: %s",
			      strerror(command ? errno : ENOMEM));
	else if (WIFEXITED(status) && WEXITSTATUS(status) == FAILED_EXEC)
		dp_output_say("--debugger: %s: there is no such command",
			      command);
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		dp_output_say("--debugger: %s: exited with status %d", command,
			      WEXITSTATUS(status));
	free(command);
}

/* In a child: this one's turn is when the one before has ended. */
static void run_in_turn(const char *pattern, const struct dp_debugged *d)
{
	struct pollfd before = { .fd = DESCRIPTORS, .events = POLLIN };
	sigset_t child;

	if (last < 0 || dup2(last, DESCRIPTORS) < 0)
		before.fd = -1;
	close_range(before.fd < 0 ? DESCRIPTORS : DESCRIPTORS + 1, ~0u, 0);
	while (before.fd >= 0 && poll(&before, 1, -1) < 0 && errno == EINTR)
		continue;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_UNBLOCK, &child, NULL);
	run(pattern, d);
	_exit(0);
}

static void run_beside(const char *pattern, const struct dp_debugged *d)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		run_in_turn(pattern, d);
	if (pid < 0) {
		dp_output_say("--debugger: cannot make a process: %s",
			      strerror(errno));
		return;
	}
	if (last >= 0)
		close(last);
	last = (int)syscall(SYS_pidfd_open, pid, 0);
}

bool dp_debugger_runs(void)
{
	struct pollfd p = { .fd = last, .events = POLLIN };

	return last >= 0 && !poll(&p, 1, 0);
}

void dp_debugger_wait(bool (*over)(void))
{
	struct pollfd p = { .fd = last, .events = POLLIN };

	while (last >= 0 && !over() && poll(&p, 1, -1) < 1)
		continue;
	if (last >= 0)
		close(last);
	last = -1;
}

void dp_debugger_call(const struct dp_session *s)
{
	const struct dp_tracer_options *opt = s->opt;
	const struct dp_debugged *d = &s->debugged;
	int err = d->late ? s->ops->stop(s->source) : 0;

	if (err) {
		dp_output_say("process %d is not stopped: %s", d->pid,
			      strerror(-err));
		return;
	}
	dp_output_say("process %d is stopped at %s, thread %u: gdb -p %d",
		      d->pid, d->probe, d->tid, d->pid);
	if (opt->debugger && opt->children)
		run_beside(opt->debugger, d);
	else if (opt->debugger)
		run(opt->debugger, d);
}
