// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kill_points: end the tool without warning at the Nth kill point ($DPROBES_KILL_POINT), or at
 * the first one of that name, or the $DPROBES_NTH, and the tracer children that work for it, unless
 * $DPROBES_KILL_TOOL says that these go on. Or stop it there, until it
 * gets SIGCONT ($DPROBES_HALT). Or interrupt whatever it waits for by a signal, every so many
 * microseconds ($DPROBES_TICK). None counts before there is the file $DPROBES_FROM. Or have what the kernel is asked by the name in
 * $DPROBES_FAIL fail, as it does where it is too old.
 */
#include "proc/ptrace/process.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t tool, session;

static void on_tick(int sig)
{
}

static void tick(suseconds_t every)
{
	const struct sigaction sa = { .sa_handler = on_tick };
	const struct itimerval t = { { 0, every }, { 0, every } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &t, NULL);
}

__attribute__((constructor)) static void begin(void)
{
	const char *every = getenv("DPROBES_TICK");

	tool = getpid();
	session = getsid(0);
	if (every)
		tick(atol(every));
}

/** struct wanted - a kill point to do something at
 *  @left: how many are to be passed until it comes, that one included; -1: not read yet
 *  @nth: which of those that have the name; @seen: of these so far */
struct wanted {
	const char *variable;
	int left, nth, seen;
};

static bool is_the_one(struct wanted *w, const char *name)
{
	const char *which = getenv(w->variable), *nth = getenv("DPROBES_NTH");

	if (w->left < 0) {
		w->left = which ? atoi(which) : 0;
		w->nth = nth ? atoi(nth) : 1;
	}
	if (w->left || !which)
		return w->left && --w->left == 0;
	return !strcmp(which, name) && ++w->seen == w->nth;
}

bool dp_kill_point_fails(const char *name)
{
	const char *wanted = getenv("DPROBES_FAIL");

	return wanted && !strcmp(wanted, name);
}

/* A hold has a session of its own. */
static pid_t tool_now(void)
{
	return getsid(0) == session ? tool : getsid(0);
}

static bool counts(void)
{
	const char *from = getenv("DPROBES_FROM");

	return !from || !access(from, F_OK);
}

void dp_kill_point(const char *name)
{
	static struct wanted halt = { .variable = "DPROBES_HALT", .left = -1 },
			     end = { .variable = "DPROBES_KILL_POINT",
				     .left = -1 };

	if (!counts())
		return;
	if (is_the_one(&halt, name)) {
		fprintf(stderr, "steps: stopped after %s\n", name);
		raise(SIGSTOP);
	}
	if (!is_the_one(&end, name))
		return;
	fprintf(stderr, "steps: killed after %s\n", name);
	kill(tool_now(), SIGKILL);
	if (!getenv("DPROBES_KILL_TOOL"))
		raise(SIGKILL);
}
