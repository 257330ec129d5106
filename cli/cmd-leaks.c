// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-leaks: dprobes leaks. */
#include "cli/command.h"

static const char help[] =
	"Usage: dprobes leaks [options] [SPEC...] (-p PID | -- CMD [ARGS])\n"
	"Show what a process has taken and not given back, with the stacks that have taken it:\n"
	"memory, unless SPECs say what else.\n"
	"\n"
	"  SPEC              [r:][MODULE:]POINT(WHAT[, HOW MUCH])[ if COND]: here WHAT, a number, is\n"
	"                    taken, as in r:libc.so.6:malloc(retval, size); or\n"
	"                    until:[MODULE:]POINT(WHAT)[ if COND]: here it is given back\n"
	"  @FILE             the SPECs in a file, a line each; lines that begin with # are none\n"
	"      --show-spec   print the SPECs that stand for memory, as a file of specs\n"
	"  -p, --pid PID     in a running process: what it takes from now on\n"
	"  -- CMD [ARGS]     start a command\n"
	"  -f, --children    also in processes that it forks, and in what they execute, each with\n"
	"                    what it has taken itself\n"
	"      --top N       the N stacks with most, and the sums of the others\n"
	"      --pending     wait also for libraries that are nowhere to be found yet\n"
	"      --buffer SIZE room for records of each CPU, as 256k; 64M at most\n"
	"      --block       hits wait while there is no room; else their records are lost, and what\n"
	"                    has been given back may be shown\n"
	"      --duration T  stop after T (2s, 500ms, 1m); ^C stops at any time\n"
	"  -o, --output FILE write to FILE\n"
	"      --json        one JSON object a stack: probe count sum stack stack_end\n"
	"  -q, --quiet       no summary\n"
	"  -v, --verbose     tell of refused matches\n"
	"      --inlined     of a function that SPEC names, also the copies that were inlined\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n"
	"\n"
	"With -- CMD the exit status is the command's own.\n";

static int run(const struct dp_tracer_options *opt)
{
	const char *bad_spec = NULL;
	struct dp_diag diag;
	int status, sig = 0;

	if (!opt->pid && !opt->argv && !opt->show)
		return dp_usage_error("leaks needs -p PID or -- CMD");
	dp_diag_clear(&diag);
	status = dp_tracer_leaks(opt, &bad_spec, &sig, &diag);
	return dp_finish(opt, status, sig, bad_spec, &diag);
}

const struct dp_command dp_cmd_leaks = {
	.name = "leaks",
	.summary = "show what is taken and not given back, with its stacks",
	.help = help,
	.examples =
		"  dprobes leaks -- sort /etc/hostname\n"
		"  dprobes leaks 'r:libc.so.6:open(retval) if retval >= 0' 'until:libc.so.6:close(fd)' -p 1234\n",
	.options = "pofqv" DP_TAKES_LEAKS DP_TAKES_COMMAND DP_TAKES_JSON
		DP_TAKES_DURATION DP_TAKES_PENDING DP_TAKES_MANGLED
			DP_TAKES_INLINED DP_TAKES_SPEC_FILES,
	.run = run,
};
