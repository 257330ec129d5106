// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-graph: dprobes graph. */
#include "cli/command.h"

static const char help[] =
	"Usage: dprobes graph [options] SPEC... (-p PID | -- CMD [ARGS])\n"
	"Print the calls of functions as trees, each thread's in the order of time, with the\n"
	"time that each call took. Which call made which is known when the outer one ends, so\n"
	"the trees are printed at the end: of the program, by ^C, or after --duration.\n"
	"\n"
	"  SPEC              [MODULE:]FUNCTION[(VALUES)][ if COND], as of r: in dprobes trace\n"
	"                    --help; a glob means all functions that match. With VALUES these,\n"
	"                    and what the call returned, are shown, too\n"
	"  -p, --pid PID     in a running process\n"
	"  -- CMD [ARGS]     start a command\n"
	"  -f, --children    also in processes that it forks, and in what they execute\n"
	"  -t, --time-filter T\n"
	"                    without the calls that took less than T (10us, 1ms)\n"
	"      --depth N     N levels, at most\n"
	"      --format FMT  text, json, or chrome (perfetto is the same): a file of trace\n"
	"                    events, for chrome://tracing and for Perfetto\n"
	"      --pending     wait also for libraries that are nowhere to be found yet\n"
	"      --buffer SIZE room for records of each CPU, as 256k; 64M at most\n"
	"      --block       calls wait while there is no room; else their records are lost\n"
	"      --duration T  stop after T (2s, 500ms, 1m); ^C stops at any time\n"
	"  -n, --records N   stop after N calls\n"
	"  -o, --output FILE write to FILE\n"
	"      --json        one JSON object a call, callers first: time (of its entry) pid tid\n"
	"                    comm probe depth latency_ns exit; with VALUES also args, ret;\n"
	"                    own_stack, of a coroutine's call that outlives or interleaves\n"
	"  -q, --quiet       no summary\n"
	"  -v, --verbose     tell of refused matches\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n"
	"\n"
	"With -- CMD the exit status is the command's own. A call that has not ended is not\n"
	"shown; one that ended otherwise has = tail, = unwound or = abandoned behind it.\n";

static int run(const struct dp_tracer_options *opt)
{
	const char *bad_spec = NULL;
	struct dp_diag diag;
	int status, sig = 0;

	if (!opt->nr_specs)
		return dp_usage_error("graph needs a SPEC: which functions");
	if (!opt->pid && !opt->argv)
		return dp_usage_error("graph needs -p PID or -- CMD");
	if (opt->json && opt->format == DP_FORMAT_CHROME)
		return dp_usage_error(
			"--json and --format chrome: one of them");
	dp_diag_clear(&diag);
	status = dp_tracer_graph(opt, &bad_spec, &sig, &diag);
	return dp_finish(opt, status, sig, bad_spec, &diag);
}

const struct dp_command dp_cmd_graph = {
	.name = "graph",
	.summary = "print calls as trees, with the time that each took",
	.help = help,
	.examples =
		"  dprobes graph libc.so.6:setlocale 'libc.so.6:malloc(size)' -- sort /etc/hostname\n"
		"  dprobes graph -t 1ms --format chrome 'handle_*' -p 1234\n",
	.options = "ponfqv" DP_TAKES_GRAPH DP_TAKES_COMMAND DP_TAKES_JSON
		DP_TAKES_DURATION DP_TAKES_PENDING DP_TAKES_MANGLED
		   "BK" DP_TAKES_SPEC_FILES,
	.run = run,
};
