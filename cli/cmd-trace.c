// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-trace: dprobes trace. */
#include "cli/command.h"
#include "tracer/system.h"

static const char help[] =
	"Usage: dprobes trace [options] SPEC... (-p PID | -- CMD [ARGS])\n"
	"       dprobes trace [options] kernel:SPEC... [-- CMD [ARGS]]\n"
	"Print a line for every execution of an instruction: time, pid, tid, command name,\n"
	"probe and values; for every end of a followed call also \"= VALUE <SECONDS>\".\n"
	"\n"
	"  SPEC              [r:][MODULE:]POINT[(VALUES)][ if COND], a watchpoint, w:..., or a\n"
	"                    static tracepoint, usdt:[MODULE:]PROVIDER:NAME, with its arg0 ...;\n"
	"                    MODULE and POINT as in dprobes stat --help. VALUES: arg0 to\n"
	"                    arg5 or registers, each with a type if you like: u8 to u64, s8\n"
	"                    to s64, x8 to x64, str;\n"
	"                    [r:]kernel:[MODULE:]FUNCTION is in the kernel: see dprobes(4);\n"
	"                    without VALUES arg0 to arg5. COND: ==, !=, <, <=, >, >=, && and\n"
	"                    || on such values and numbers. r: (or func%return) follows the\n"
	"                    calls of a function to their end, = VALUE, = tail (a jump to\n"
	"                    another function) or = abandoned; VALUES are those at its entry,\n"
	"                    but retval:TYPE is what it returns (f32 and f64, too): without it\n"
	"                    debug information tells the type, or = rax=0x2a is shown\n"
	"  -p, --pid PID     trace a running process\n"
	"  -- CMD [ARGS]     start a command, traced before its first own code\n"
	"  -f, --children    also in processes that it forks, and in what they execute;\n"
	"                    libraries to come are waited for in each\n"
	"      --pending     wait also for libraries that are nowhere to be found yet\n"
	"      --maxactive N with r:kernel: follow N calls of each function at a time; as usual\n"
	"                    10, or 2 for each CPU; others are counted as missed\n"
	"      --buffer SIZE room for records of each CPU, as 256k; 64M at most\n"
	"      --block       hits wait while there is no room; else their records are lost\n"
	"      --coarse-time a hit does not read the clock: the time is when its record was read\n"
	"      --duration T  stop after T (2s, 500ms, 1m); ^C stops at any time\n"
	"      --stack       also the stack of each hit, a line a frame, the innermost first\n"
	"  -n, --records N   stop after N records\n"
	"  -o, --output FILE write the lines to FILE\n"
	"      --rotate SIZE,N\n"
	"                    before it is larger than SIZE, FILE becomes FILE.1, and that FILE.2,\n"
	"                    N files at most\n"
	"      --keep SIZE   keep the last lines in SIZE bytes of memory, and print them at the\n"
	"                    end: of the program, by ^C, or\n"
	"      --until SPEC  stop when this hits, whose line is the last one\n"
	"      --json        one JSON object a line: time pid tid comm probe args (an object),\n"
	"                    truncated; of returns also ret (or rax) latency_ns exit;\n"
	"                    with --stack also stack stack_end\n"
	"  -q, --quiet       no summary\n"
	"  -v, --verbose     tell of refused matches\n"
	"      --inlined     of a function that SPEC names, also the copies that were inlined\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n"
	"\n"
	"With -- CMD the exit status is the command's own. Lines are in the order of time;\n"
	"one that the ring had no room for is counted in the summary as lost.\n";

static int run(const struct dp_tracer_options *opt)
{
	const char *bad_spec = NULL;
	struct dp_diag diag;
	int status, sig = 0;

	if (!opt->nr_specs)
		return dp_usage_error("trace needs a SPEC: what to trace");
	if (!opt->pid && !opt->argv && !dp_system_wanted(opt))
		return dp_usage_error("trace needs -p PID or -- CMD");
	dp_diag_clear(&diag);
	status = dp_tracer_trace(opt, &bad_spec, &sig, &diag);
	return dp_finish(opt, status, sig, bad_spec, &diag);
}

const struct dp_command dp_cmd_trace = {
	.name = "trace",
	.summary = "print a line for every execution, with arguments",
	.help = help,
	.examples =
		"  dprobes trace 'libc.so.6:open(arg0:str, arg1:x32)' -- cat /etc/hostname\n"
		"  dprobes trace 'r:libc.so.6:malloc(arg0:u64) if arg0 > 100000' -p 1234\n",
	.options = "ponfqv" DP_TAKES_RECORDER DP_TAKES_COMMAND DP_TAKES_JSON
		DP_TAKES_DURATION DP_TAKES_RINGS DP_TAKES_PENDING
			DP_TAKES_MANGLED DP_TAKES_INLINED DP_TAKES_STACK
				DP_TAKES_SPEC_FILES DP_TAKES_MAXACTIVE,
	.run = run,
};
