// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* yield: breakpoints that somebody else has put where jumps of ours begin. */
#include "tracer/session.h"
#include "proc/proc.h"
#include "tracer/output.h"
#include "engine/site/counts.h"
#include <stdio.h>

/* Looking takes a system call a site, and shall not take more than a hundredth. */
#define LEAST_SECONDS 0.1
#define SECONDS_A_SITE 5e-5

static const char *name_of(const struct dp_session *s, u64 addr, char *text,
			   size_t size)
{
	size_t i;

	for (i = 0; i < s->points.n; i++)
		if (s->points.v[i].addr == addr)
			return s->points.v[i].name;
	snprintf(text, size, "0x%llx", (unsigned long long)addr);
	return text;
}

static void tell(void *arg, u64 addr, bool away)
{
	const struct dp_session *s = arg;
	char text[32];

	dp_output_print(
		stderr,
		away ? "dprobes: somebody else has set a breakpoint at %s, maybe a uprobe of the kernel's; what is probed there is not seen until that has gone\n" :
		       "dprobes: the other breakpoint at %s has gone; it is probed again\n",
		name_of(s, addr, text, sizeof(text)));
}

double dp_yield_look(struct dp_session *s, double t)
{
	size_t n = s->engine ? dp_engine_sites(s->engine) : 0;

	if (n)
		dp_process_yield(s->proc, tell, s);
	return t + LEAST_SECONDS + (double)n * SECONDS_A_SITE;
}
