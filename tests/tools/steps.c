// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* steps: end the tool without warning at the Nth protocol step ($DPROBES_STEP), and who
 * is on an errand for it. */
#include "proc/step.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t tool;

__attribute__((constructor)) static void note_tool(void)
{
	tool = getpid();
}

void dp_step(const char *name)
{
	static int left = -1;

	if (left < 0)
		left = atoi(getenv("DPROBES_STEP") ? getenv("DPROBES_STEP") :
						     "0");
	if (left && --left == 0) {
		fprintf(stderr, "steps: killed after %s\n", name);
		kill(tool, SIGKILL);
		raise(SIGKILL);
	}
}
