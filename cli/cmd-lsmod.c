// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-lsmod: dprobes lsmod. */
#include "cli/command.h"

static const char help[] =
	"Usage: dprobes lsmod [options] [-p PID]\n"
	"Shows the probe modules of a process, or of all processes that use libdprobes:\n"
	"process, name, size in bytes, how often it is in use, and Live, or Forked where\n"
	"the module, but none of its probes, came with a fork.\n"
	"\n"
	"  -p, --pid PID     of this process only\n"
	"  -o, --output FILE write to FILE\n"
	"  -v, --verbose     add the module's file\n"
	"  -h, --help        this text\n";

static int run(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	int err;

	dp_diag_clear(&diag);
	if (opt->nr_specs)
		return dp_usage_error("lsmod takes no names (\"%s\")",
				      opt->specs[0]);
	err = dp_tracer_lsmod(opt, &diag);
	return err ? dp_complain(err, NULL, &diag) : DP_EXIT_OK;
}

const struct dp_command dp_cmd_lsmod = {
	.name = "lsmod",
	.summary = "show the probe modules of processes",
	.help = help,
	.examples = "  dprobes lsmod\n"
		    "  dprobes lsmod -v -p 1234\n",
	.options = "pov",
	.run = run,
};
