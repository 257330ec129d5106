// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-inject: dprobes inject. */
#include "cli/command.h"

static const char help[] =
	"Usage: dprobes inject [options] 'SPEC = VALUE[, errno E][ if COND]' (-p PID | -- CMD [ARGS])\n"
	"       dprobes inject [options] 'SPEC: ARG = VALUE[, ...][ if COND]' (-p PID | -- CMD [ARGS])\n"
	"Have calls of a function return VALUE to their callers, with errno E, without being\n"
	"executed; or change their arguments. The calls that got it are listed at the end.\n"
	"\n"
	"  SPEC              [MODULE:]FUNCTION, as in dprobes stat --help; VALUE and COND: values\n"
	"                    and conditions as in dprobes trace --help; ARG: arg0 to arg5, or\n"
	"                    the name of an argument; E: a name as ENOMEM, or a number\n"
	"  -p, --pid PID     in a running process\n"
	"  -- CMD [ARGS]     start a command\n"
	"      --nth N       only the Nth call of each function\n"
	"      --every N     only each Nth call\n"
	"      --prob P      only so many calls, 0.01: one of a hundred, as is drawn by\n"
	"      --seed S      a number: with the same one each thread draws the same for its calls.\n"
	"                    Without it, it is drawn, and told at the end\n"
	"      --pending     wait also for libraries that are nowhere to be found yet\n"
	"      --buffer SIZE room for records of each CPU, as 256k; 64M at most\n"
	"      --block       hits wait while there is no room; else their records are lost\n"
	"      --coarse-time a hit does not read the clock: the time is when its record was read\n"
	"      --duration T  stop after T (2s, 500ms, 1m); ^C stops at any time\n"
	"  -o, --output FILE write the list to FILE\n"
	"      --json        one JSON object a line: time pid tid comm probe call, ret or args,\n"
	"                    errno\n"
	"  -q, --quiet       no summary\n"
	"  -v, --verbose     tell of refused matches\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n"
	"\n"
	"With -- CMD the exit status is the command's own.\n";

static int run(const struct dp_tracer_options *opt)
{
	const char *bad_spec = NULL;
	struct dp_diag diag;
	int status, sig = 0;

	if (!opt->nr_specs)
		return dp_usage_error("inject needs 'SPEC = VALUE'");
	if (!opt->pid && !opt->argv)
		return dp_usage_error("inject needs -p PID or -- CMD");
	if (!!opt->nth + !!opt->every + (opt->prob > 0) > 1)
		return dp_usage_error("--nth, --every and --prob: one of them");
	if (opt->seed && !(opt->prob > 0))
		return dp_usage_error("--seed is for --prob");
	dp_diag_clear(&diag);
	status = dp_tracer_inject(opt, &bad_spec, &sig, &diag);
	return dp_finish(opt, status, sig, bad_spec, &diag);
}

const struct dp_command dp_cmd_inject = {
	.name = "inject",
	.summary = "have calls fail, or return or get other values",
	.help = help,
	.examples =
		"  dprobes inject --prob 0.01 'libc.so.6:malloc = 0, errno ENOMEM' -- ./server\n"
		"  dprobes inject 'libc.so.6:read: count = 1 if count > 1' -- sort /etc/hostname\n",
	.options = "poqv" DP_TAKES_INJECTION DP_TAKES_COMMAND DP_TAKES_JSON
		DP_TAKES_DURATION DP_TAKES_RINGS DP_TAKES_PENDING
			DP_TAKES_MANGLED DP_TAKES_SPEC_FILES,
	.run = run,
};
