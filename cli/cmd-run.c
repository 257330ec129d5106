// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-run: dprobes run. */
#include "cli/command.h"
#include <stdlib.h>

static const char help[] =
	"Usage: dprobes run [options] FILE.dp... (-p PID | -- CMD [ARGS])\n"
	"       dprobes run [options] FILE.dp... [-- CMD [ARGS]]    in the kernel\n"
	"       dprobes run [options] FILE.dp...                    in all processes\n"
	"Run probe programs in a process, in the kernel, or in all processes, and print the\n"
	"records that they log.\n"
	"\n"
	"  FILE.dp           programs in the language of dprobes.lang(7); their \"name =\"\n"
	"                    is a module of the process. With \"modtype = kernel\", or kmod,\n"
	"                    they run in the kernel, whoever comes by: see dprobes(1), The kernel.\n"
	"                    Without a process or command, \"name =\" is the path of a file, and\n"
	"                    they run in all processes that map it, by dprobes.ko\n"
	"  -p, --pid PID     in a running process\n"
	"  -- CMD [ARGS]     start a command, probed before its first own code\n"
	"  -f, --children    also in processes that it forks, and in what they execute;\n"
	"                    libraries to come are waited for in each\n"
	"  -D, --define K=V  put V in the place of %K% in the programs, and define the macro K\n"
	"      --include DIR look there, too, for what #include names\n"
	"      --allow LIST  what programs may ask for: write, reg, io, call; none; all by default\n"
	"      --facility N=CMD  run CMD for each \"exit N\", N from 16 to 255; the record is its stdin\n"
	"      --log-target T    records go to T: ring (they are printed), file (printed as DProbes\n"
	"                        wrote them), syslog, klog\n"
	"      --log LIST        with these in front of each in a log: PROCNAME, PID, UID, CSEIP, TSC, ALL\n"
	"      --unformatted-output  a log has the bytes of a record on one line\n"
	"      --raw FILE    write the records to FILE, too, as DProbes sent them: binary, with --log's items\n"
	"      --core PATTERN    file of a core dump (\"exit 3\"): %p process, %n number of the dump, %t\n"
	"                        time, %e name of the thread; core.%p.%n by default\n"
	"      --debugger CMD    \"exit 1\" stops the process and runs CMD, once the probes are out:\n"
	"                        %p process, %i thread; without it \"gdb -p PID\" is only told\n"
	"      --minidump    core dumps have the stacks only, and what names need\n"
	"      --buffer SIZE room for records of each CPU, as 256k; 64M at most\n"
	"      --block       hits wait while there is no room; else their records are lost\n"
	"      --coarse-time a hit does not read the clock: the time is when its record was read\n"
	"      --duration T  stop after T (2s, 500ms, 1m); ^C stops at any time\n"
	"  -n, --records N   stop after N records\n"
	"  -o, --output FILE write the records to FILE\n"
	"      --json        one JSON object a line: time pid tid comm probe minor major\n"
	"                    cpu data exception facility outcome truncated\n"
	"  -q, --quiet       no summary\n"
	"  -v, --verbose     tell of refused matches\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n"
	"\n"
	"A record is printed when the probed instruction has completed. The summary accounts\n"
	"for every hit and shows the programs' variables; \"dprobes --getvars --all\" shows\n"
	"them while they run. With -- CMD the exit status is the command's own.\n";

static int run(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	char *bad_line;
	int status, sig = 0;

	if (!opt->nr_specs)
		return dp_usage_error("run needs a FILE with a probe program");
	dp_diag_clear(&diag);
	status = dp_tracer_run(opt, &bad_line, &sig, &diag);
	status = dp_finish(opt, status, sig, bad_line, &diag);
	free(bad_line);
	return status;
}

const struct dp_command dp_cmd_run = {
	.name = "run",
	.summary = "run probe programs and print what they log",
	.help = help,
	.examples = "  dprobes run examples/malloc.dp -- sort /etc/services\n"
		    "  dprobes run --duration 10s prog.dp -p 1234\n",
	.options = "ponfqv" DP_TAKES_COMMAND DP_TAKES_JSON DP_TAKES_DURATION
		DP_TAKES_RINGS DP_TAKES_MANGLED DP_TAKES_SOURCES
			DP_TAKES_FACILITIES,
	.run = run,
};
