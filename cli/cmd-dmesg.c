// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-dmesg: dprobes dmesg. */
#include "cli/command.h"

static const char help[] =
	"Usage: dprobes dmesg [options] -p PID\n"
	"Shows the last messages, 512 at most, of the probe modules of a process, each\n"
	"with its level.\n"
	"\n"
	"  -p, --pid PID     the process, which uses libdprobes\n"
	"  -w, --follow      show those that come, too, until ^C or the process's end\n"
	"  --duration TIME   then until TIME is over: a number and s, ms, us, m or h\n"
	"  -o, --output FILE write to FILE\n"
	"  -h, --help        this text\n";

static int run(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	int err;

	dp_diag_clear(&diag);
	if (opt->nr_specs || !opt->pid)
		return dp_usage_error("dmesg needs -p PID, and nothing else");
	if (opt->duration > 0 && !opt->watch)
		return dp_usage_error("dmesg: --duration goes with -w");
	err = dp_tracer_dmesg(opt, &diag);
	return err ? dp_complain(err, NULL, &diag) : DP_EXIT_OK;
}

const struct dp_command dp_cmd_dmesg = {
	.name = "dmesg",
	.summary = "show what the probe modules of a process said",
	.help = help,
	.examples = "  dprobes dmesg -p 1234\n"
		    "  dprobes dmesg -w --duration 10s -p 1234\n",
	.options = "pwo" DP_TAKES_DURATION,
	.run = run,
};
