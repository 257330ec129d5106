// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * debugger: a process is stopped at a probe (exit 1), and a debugger takes it over.
 *
 * The process stops when the record is read, and the run ends. The debugger comes when the probes have
 * been taken out: it sees the program as it is without them.
 */
#include "tracer/facility.h"
#include "tracer/output.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FAILED_EXEC 127 /* of sh(1): it has not found the command */

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

	if (!s->ops->halt)
		return dp_diag_set(
			outcome, -EOPNOTSUPP,
			"the debugger, which cannot be called for a process that probes itself; set a breakpoint of its own");
	/* All threads of the process tree are traced, up to the end of the run. */
	if (s->opt->children)
		return dp_diag_set(
			outcome, -EOPNOTSUPP,
			"the debugger, which cannot be called with -f, because -f traces the process itself; use -p %d",
			s->source->pid);
	err = s->ops->halt(s->source, stamp->tid, inside, there, &words);
	return err ? dp_diag_set(outcome, err,
				 "the debugger, which was not called: %s",
				 words.text) :
		     0;
}

int dp_debugger_halt(const struct dp_session *s, const struct dp_stamp *stamp,
		     const char *probe, u32 inside, struct dp_debugged *d,
		     struct dp_diag *outcome)
{
	bool there = false;
	int err;

	if (d->pid)
		return dp_diag_set(
			outcome, -EBUSY,
			"the debugger, which has been called for another hit");
	err = halt(s, stamp, inside, &there, outcome);
	if (err)
		return err;
	*d = (struct dp_debugged){ .pid = s->source->pid, .tid = stamp->tid };
	snprintf(d->probe, sizeof(d->probe), "%s", probe);
	dp_diag_set(outcome, 0, "the debugger: process %d is stopped, %s",
		    d->pid,
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

void dp_debugger_call(const struct dp_tracer_options *opt,
		      const struct dp_debugged *d)
{
	dp_output_say("process %d is stopped at %s, thread %u: gdb -p %d",
		      d->pid, d->probe, d->tid, d->pid);
	if (opt->debugger)
		run(opt->debugger, d);
}
