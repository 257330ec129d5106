// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-stacks: dprobes stacks. */
#include "cli/command.h"
#include "tracer/system.h"

static const char help[] =
	"Usage: dprobes stacks [options] SPEC... (-p PID | -- CMD [ARGS])\n"
	"       dprobes stacks [options] kernel:SPEC... [-- CMD [ARGS]]\n"
	"Count hits by the stacks of their threads, and print these at the end as a tree: a\n"
	"frame with how often it was on the stack of a hit, and below it what it had called.\n"
	"Frames are in order of their counts; \"+\" begins each where a frame has called several.\n"
	"\n"
	"  SPEC              [r:][MODULE:]POINT[ if COND], as in dprobes stat --help; what is in\n"
	"                    braces there, {sum(v) by stack}, is for dprobes stat\n"
	"  -p, --pid PID     in a running process\n"
	"  -- CMD [ARGS]     start a command\n"
	"  -f, --children    also in processes that it forks, and in what they execute\n"
	"      --folded      instead of the tree, a line a stack: COMM;OUTERMOST;...;INNERMOST N\n"
	"      --flame FILE  instead of the tree, write a flame graph, an SVG that a browser shows:\n"
	"                    search (Ctrl-F), click on a frame to see it alone\n"
	"      --depth N     N levels of frames, at most, from the outermost one on\n"
	"      --map-size N  different stacks, at most: 4096\n"
	"      --pending     wait also for libraries that are nowhere to be found yet\n"
	"      --duration T  stop after T (2s, 500ms, 1m); ^C stops at any time\n"
	"  -o, --output FILE write to FILE\n"
	"      --json        one JSON object a stack: probe hits by (comm stack stack_end)\n"
	"  -q, --quiet       no summary\n"
	"  -v, --verbose     tell of refused matches\n"
	"      --inlined     of a function that SPEC names, also the copies that were inlined\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n"
	"\n"
	"With -- CMD the exit status is the command's own, but 1 instead of 0 where a flame graph\n"
	"could not be written. Where a stack ends before its outermost frame, [unknown] or another\n"
	"word for why stands in place of what is not known.\n";

static int run(const struct dp_tracer_options *opt)
{
	const char *bad_spec = NULL;
	struct dp_diag diag;
	int status, sig = 0;

	if (!opt->nr_specs)
		return dp_usage_error("stacks needs a SPEC: which hits");
	if (!opt->pid && !opt->argv && !dp_system_wanted(opt))
		return dp_usage_error("stacks needs -p PID or -- CMD");
	if (opt->json && opt->folded)
		return dp_usage_error("--json and --folded: one of them");
	if (opt->flame && dp_option_writable(opt->flame))
		return DP_EXIT_FAILURE;
	dp_diag_clear(&diag);
	status = dp_tracer_stacks(opt, &bad_spec, &sig, &diag);
	return dp_finish(opt, status, sig, bad_spec, &diag);
}

const struct dp_command dp_cmd_stacks = {
	.name = "stacks",
	.summary = "count hits by the stacks of their threads",
	.help = help,
	.examples =
		"  dprobes stacks libc.so.6:malloc -- sort /etc/hostname\n"
		"  dprobes stacks --duration 10s --flame out.svg libc.so.6:write -p 1234\n",
	.options = "pofqv" DP_TAKES_STACKS DP_TAKES_COMMAND DP_TAKES_JSON
		DP_TAKES_DURATION DP_TAKES_PENDING DP_TAKES_MANGLED
			DP_TAKES_INLINED DP_TAKES_SPEC_FILES,
	.run = run,
};
