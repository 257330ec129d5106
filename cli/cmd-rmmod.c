// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-rmmod: dprobes rmmod. */
#include "cli/command.h"

static const char help[] =
	"Usage: dprobes rmmod [options] NAME -p PID\n"
	"Runs the exit of a probe module and unloads it. Probes that it leaves behind are\n"
	"taken away, and handlers that still run are waited for. What its exit says goes\n"
	"to standard output.\n"
	"\n"
	"  -p, --pid PID     the process, which uses libdprobes\n"
	"  -o, --output FILE write its messages to FILE\n"
	"  -h, --help        this text\n";

static int run(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	int err;

	dp_diag_clear(&diag);
	if (opt->nr_specs != 1)
		return dp_usage_error("rmmod needs the name of one module");
	if (!opt->pid)
		return dp_usage_error("rmmod needs -p PID");
	err = dp_tracer_rmmod(opt, &diag);
	return err ? dp_complain(err, NULL, &diag) : DP_EXIT_OK;
}

const struct dp_command dp_cmd_rmmod = {
	.name = "rmmod",
	.summary = "unload a probe module from a process",
	.help = help,
	.examples = "  dprobes rmmod malloc_sizes -p 1234\n",
	.options = "po",
	.run = run,
};
