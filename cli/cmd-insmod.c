// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-insmod: dprobes insmod. */
#include "cli/command.h"
#include <errno.h>

static const char help[] =
	"Usage: dprobes insmod [options] MODULE.so [NAME=VALUE...] -- CMD [ARGS]\n"
	"       dprobes insmod [options] MODULE.so [NAME=VALUE...] -p PID\n"
	"Starts a command, which is linked dynamically with glibc, with a probe module in\n"
	"it: a kernel module that uses kprobes, jprobes, return probes or uprobes, built\n"
	"as a shared object. Its messages go to standard output, each with its level. When\n"
	"the command ends, the module's exit is run.\n"
	"With -p it is loaded into a process that uses libdprobes already, and stays there:\n"
	"what its init says is shown, and later messages are for dprobes dmesg.\n"
	"\n"
	"  -a, --alias NAME=FUNCTION\n"
	"                    where the module names NAME, take FUNCTION (do_fork=fork)\n"
	"  -p, --pid PID     load it into this process\n"
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
	if (!opt->argv && !opt->pid)
		return dp_usage_error("insmod needs -- CMD or -p PID");
	if (opt->pid) {
		ret = dp_tracer_insmod_pid(opt, &diag);
		return ret ? dp_complain(ret, NULL, &diag) : DP_EXIT_OK;
	}
	ret = dp_tracer_insmod(opt, &sig, &diag);
	return ret < 0 ? dp_complain(ret, NULL, &diag) :
			 dp_finish(opt, ret, sig, NULL, &diag);
}

const struct dp_command dp_cmd_insmod = {
	.name = "insmod",
	.summary = "run a command with a probe module in it",
	.help = help,
	.examples =
		"  dprobes insmod malloc_sizes.so min=1024 -- git --version\n"
		"  dprobes insmod ./probe.so symbol=work -p 1234\n",
	.options = "apo" DP_TAKES_COMMAND,
	.run = run,
};
