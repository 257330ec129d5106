// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * steps: end the tool without warning at the Nth protocol step ($DPROBES_STEP), or at
 * the first one of that name, and who is on an errand for it. Or interrupt whatever it
 * waits for by a signal, every so many microseconds ($DPROBES_TICK). Or have what the
 * kernel is asked by the name in $DPROBES_FAIL fail, as it does where it is too old.
 */
#include "proc/step.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t tool;

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
	if (every)
		tick(atol(every));
}

static bool is_the_one(const char *name)
{
	const char *wanted = getenv("DPROBES_STEP");
	static int left = -1;

	if (left < 0)
		left = wanted ? atoi(wanted) : 0;
	return left ? --left == 0 : wanted && !strcmp(wanted, name);
}

bool dp_step_fails(const char *name)
{
	const char *wanted = getenv("DPROBES_FAIL");

	return wanted && !strcmp(wanted, name);
}

void dp_step(const char *name)
{
	if (!is_the_one(name))
		return;
	fprintf(stderr, "steps: killed after %s\n", name);
	kill(tool, SIGKILL);
	raise(SIGKILL);
}
