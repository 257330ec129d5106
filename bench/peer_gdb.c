// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * peer_gdb: gdbserver's fast tracepoint, counting. The count is a trace
 * variable in the condition, which the agent compiles; it holds at the last hit
 * only, so that one frame collected is a proof of the count.
 */
#include "bench/peer.h"
#include "bench/twins.h"
#include <stdio.h>

#define SCRIPT "/tmp/script"

static int write_script(void)
{
	FILE *f = fopen(SCRIPT, "we");

	if (!f)
		return peer_fail("gdb's script cannot be written");
	fprintf(f,
		"set pagination off\nset confirm off\nset sysroot /\n"
		"set auto-load off\nfile " PEER_VICTIM "\n"
		"target remote | gdbserver --once --wrapper env "
		"LD_PRELOAD=libinproctrace.so -- - " PEER_VICTIM "\n"
		"break main\ncontinue\ntvariable $n = 0\n"
		"ftrace *twin_probed if ($n = $n + 1) == %d\n"
		"break twins_done\ntstart\ncontinue\ntstop\ntstatus\nkill\n",
		TWINS_HITS);
	return fclose(f) ? -1 : 0;
}

static int steps(void)
{
	static const char *const version[] = { "gdbserver", "--version", NULL };
	static const char *const gdb[] = { "gdb", "-nx",  "-batch",
					   "-x",  SCRIPT, NULL };

	if (write_script() || peer_command(version) || peer_command(gdb))
		return -1;
	if (!peer_logged("Collected 1 trace frame"))
		return peer_fail("gdb has not counted the calls");
	return 0;
}

int bench_gdb(struct bench_run *run, const struct bench *b, double *ns)
{
	static const struct peer gdb = {
		.victim = "twins",
		.absent = "its victim has not been built",
		.note = "fast tracepoint, a count in its compiled condition, "
			"no frame collected",
		.steps = steps,
	};

	return peer_measure(run, &gdb, ns);
}
