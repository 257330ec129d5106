// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-detach: dprobes detach. */
#include "cli/command.h"
#include "tracer/output.h"

static const char help[] =
	"Usage: dprobes detach -p PID\n"
	"Take out of a process what a dprobes that was killed has left in it: its probes,\n"
	"which do no harm, and the memory that they use. Any other dprobes on the process\n"
	"does the same before it begins.\n"
	"\n"
	"  -p, --pid PID     the process\n"
	"  -q, --quiet       do not say what was done\n"
	"  -h, --help        this text\n"
	"\n"
	"Where a dprobes is still at work nothing is touched, and the exit status is 1.\n";

static int run(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	int done;

	if (opt->nr_specs)
		return dp_usage_error("detach takes no SPEC (\"%s\")",
				      opt->specs[0]);
	if (!opt->pid)
		return dp_usage_error("detach needs -p PID");
	dp_diag_clear(&diag);
	done = dp_tracer_detach(opt, &diag);
	if (done < 0)
		return dp_complain(done, NULL, &diag);
	if (!opt->quiet)
		dp_output_print(
			stderr,
			done ? "dprobes: what was left in process %d has been taken out\n" :
			       "dprobes: nothing was left in process %d\n",
			opt->pid);
	return DP_EXIT_OK;
}

const struct dp_command dp_cmd_detach = {
	.name = "detach",
	.summary = "take out what a killed dprobes has left in a process",
	.help = help,
	.examples = "  dprobes detach -p 1234\n",
	.options = "pq",
	.run = run,
};
