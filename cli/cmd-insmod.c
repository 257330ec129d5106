// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-insmod: dprobes insmod. */
#include "cli/command.h"
#include <errno.h>

static const char help[] =
	"Usage: dprobes insmod [options] MODULE.so [NAME=VALUE...] -- CMD [ARGS]\n"
	"Starts a command with a probe module in it: a kernel module that uses kprobes,\n"
	"jprobes or return probes, built as a shared object. Its messages go to standard\n"
	"output, each with its level. When the command ends, the module's exit is run.\n"
	"\n"
	"  -a, --alias NAME=FUNCTION\n"
	"                    where the module names NAME, take FUNCTION (do_fork=fork)\n"
	"  -o, --output FILE write its messages to FILE\n"
	"  -h, --help        this text\n"
	"\n"
	"A module is built by\n"
	"  cc -shared -fPIC $(pkg-config --cflags dprobes-module) -o MODULE.so MODULE.c\n"
	"\n"
	"The exit status is the command's own; 1 if the module was refused, and then the\n"
	"command has not run.\n";

static int run(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	int ret, sig = 0;

	dp_diag_clear(&diag);
	if (!opt->nr_specs)
		return dp_usage_error("insmod needs a module");
	if (opt->pid)
		return dp_usage_error(
			"insmod -p is not there yet: start the command with -- CMD");
	if (!opt->argv)
		return dp_usage_error("insmod needs -- CMD");
	ret = dp_tracer_insmod(opt, &sig, &diag);
	return ret < 0 ? dp_complain(ret, NULL, &diag) :
			 dp_finish(opt, ret, sig, NULL, &diag);
}

const struct dp_command dp_cmd_insmod = {
	.name = "insmod",
	.summary = "run a command with a probe module in it",
	.help = help,
	.run = run,
};
