// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* steps: end the tool without warning at the Nth protocol step ($DPROBES_STEP), or at
 * the first one of that name, and who is on an errand for it. */
#include "proc/step.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t tool;

__attribute__((constructor)) static void note_tool(void)
{
	tool = getpid();
}

static bool is_the_one(const char *name)
{
	const char *wanted = getenv("DPROBES_STEP");
	static int left = -1;

	if (left < 0)
		left = wanted ? atoi(wanted) : 0;
	return left ? --left == 0 : wanted && !strcmp(wanted, name);
}

void dp_step(const char *name)
{
	if (!is_the_one(name))
		return;
	fprintf(stderr, "steps: killed after %s\n", name);
	kill(tool, SIGKILL);
	raise(SIGKILL);
}
