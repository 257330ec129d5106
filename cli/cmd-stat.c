// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-stat: dprobes stat. */
#include "cli/command.h"
#include "tracer/system.h"

static const char help[] =
	"Usage: dprobes stat [options] SPEC... (-p PID | -- CMD [ARGS])\n"
	"       dprobes stat [options] kernel:SPEC... [-- CMD [ARGS]]\n"
	"Count how often instructions of a process are executed, exactly.\n"
	"\n"
	"  SPEC              [r:][MODULE:]POINT; MODULE is a soname, path, file name or\n"
	"                    glob, empty for the program itself; POINT is func,\n"
	"                    func+0x1c, ns::func or \"ns::func(int)\" of C++ and Rust,\n"
	"                    a glob, FILE:LINE, 0xADDR or +FILEOFFSET; it may end in\n"
	"                    \" if COND\": ==, !=, <, <=, >, >=, && and || on arg0 to arg5,\n"
	"                    registers and numbers, and only such hits count; with r:\n"
	"                    the calls of func are followed, and the summary says how\n"
	"                    they ended. w:[MODULE:]VARIABLE[/LEN][:rw|:x] counts accesses to\n"
	"                    a variable, by a debug register; usdt:[MODULE:]PROVIDER:NAME is\n"
	"                    a static tracepoint; kernel:[MODULE:]FUNCTION is in the kernel,\n"
	"                    whoever executes it, by dprobes.ko, without -p, also with r:,\n"
	"                    see dprobes(4)\n"
	"                    SPEC{AGG, ... by KEY, ...} keeps values of hits, by keys: AGG is\n"
	"                    count() sum(v) avg(v) min(v) max(v) hist(v) first(v) last(v)\n"
	"                    distinct(v) lhist(v,LO,HI,STEP); with r: also of latency, retval;\n"
	"                    by stack: for each stack of the threads that hit\n"
	"  @FILE             the SPECs in a file, a line each; lines that begin with # are none\n"
	"  -p, --pid PID     count in a running process\n"
	"  -- CMD [ARGS]     start a command, counting before its first own code\n"
	"  -f, --children    also in processes that it forks, and in what they execute;\n"
	"                    libraries to come are waited for in each; rows are sums over\n"
	"                    processes of the same program, with -v one process each\n"
	"      --pending     wait also for libraries that are nowhere to be found yet\n"
	"      --duration T  stop after T (2s, 500ms, 1m); ^C stops at any time\n"
	"  -i, --interval T  every T, print what has come since: as many rows as have any;\n"
	"                    on a terminal in place of the rows before. At the end, all\n"
	"      --top N       only the N rows with most hits, and the sums of the others\n"
	"      --maxactive N with r:kernel: follow N calls of each function at a time; as usual\n"
	"                    10, or 2 for each CPU; others are counted as missed\n"
	"      --map-size N  keys of a table of values, at most: 4096\n"
	"      --all         also the matches of a glob that had no hit\n"
	"  -o, --output FILE write the counts to FILE\n"
	"      --json        one JSON object a line: probe hits missed mode; with -f pid and\n"
	"                    program, of an interval time and interval, in seconds\n"
	"  -q, --quiet       no summary\n"
	"  -v, --verbose     addresses, modes with their reasons, refused matches\n"
	"      --inlined     of a function that SPEC names, also the copies that were inlined\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n"
	"\n"
	"The probes with most hits come first; with --json, which has every match, they are\n"
	"in the order of SPECs unless --top is given.\n"
	"\n"
	"With -- CMD the exit status is the command's own. Without -f child processes run\n"
	"on correctly and are not counted.\n"
	"\n"
	"A probe is a jump to generated code (mode \"jump\") or, where that cannot be, a\n"
	"breakpoint (mode \"trap\", about 1000 times as slow); -v says why.\n"
	"\n"
	"Limit: a breakpoint kills a thread that has SIGTRAP blocked by a system call of\n"
	"its own rather than through libc. dprobes says so when it happens.\n";

static int run(const struct dp_tracer_options *opt)
{
	const char *bad_spec = NULL;
	struct dp_diag diag;
	int status, sig = 0;

	if (!opt->nr_specs)
		return dp_usage_error("stat needs a SPEC: what to count");
	if (!opt->pid && !opt->argv && !dp_system_wanted(opt))
		return dp_usage_error("stat needs -p PID or -- CMD");
	dp_diag_clear(&diag);
	status = dp_tracer_stat(opt, &bad_spec, &sig, &diag);
	return dp_finish(opt, status, sig, bad_spec, &diag);
}

const struct dp_command dp_cmd_stat = {
	.name = "stat",
	.summary = "count how often instructions are executed",
	.help = help,
	.examples =
		"  dprobes stat libc.so.6:malloc libc.so.6:free -- sort /etc/services\n"
		"  dprobes stat -i 1s --top 10 'libc.so.6:*' -p 1234\n"
		"  dprobes stat 'r:libc.so.6:read{hist(latency) by fd}' -p 1234\n",
	.options = "poifqv" DP_TAKES_COMMAND DP_TAKES_JSON DP_TAKES_DURATION
		DP_TAKES_PENDING DP_TAKES_TABLE DP_TAKES_MANGLED
			DP_TAKES_INLINED DP_TAKES_SPEC_FILES DP_TAKES_MAXACTIVE,
	.run = run,
};
