// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-list: dprobes list. */
#include "cli/command.h"
#include "tracer/system.h"
#include <errno.h>

static const char help[] =
	"Usage: dprobes list [options] SPEC... (-p PID | -- CMD [ARGS])\n"
	"       dprobes list [options] kernel:SPEC...\n"
	"       dprobes list [options] [-p PID]\n"
	"With SPECs: what they would probe, one pasteable spec a line; a command is\n"
	"loaded and ended before it runs. Without: the probes that are armed in PID, or in\n"
	"every process, in the format of the kernel's kprobes/list. list 'usdt:*' shows the\n"
	"static tracepoints, with their arguments.\n"
	"\n"
	"  -p, --pid PID     look at this process\n"
	"  -o, --output FILE write to FILE\n"
	"      --json        one JSON object a line: addr kind symbol offset module mode\n"
	"                    reason flags hits missed\n"
	"  -v, --verbose     mode and reason too (and pid, hits, missed of armed probes),\n"
	"                    which matches cannot be probed and why, and of a function that\n"
	"                    a SPEC names what could be printed there\n"
	"      --inlined     of a function that SPEC names, also the copies that were inlined\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n"
	"\n"
	"The exit status is 1 when nothing matched.\n";

static int run(const struct dp_tracer_options *opt)
{
	const char *bad_spec = NULL;
	struct dp_diag diag;
	int err;

	dp_diag_clear(&diag);
	if (!opt->nr_specs) {
		if (opt->argv)
			return dp_usage_error("list -- CMD needs a SPEC");
		err = dp_tracer_list_armed(opt, &diag);
	} else if (!opt->pid && !opt->argv && !dp_system_wanted(opt)) {
		return dp_usage_error("list SPEC needs -p PID or -- CMD");
	} else {
		err = dp_tracer_list(opt, &bad_spec, &diag);
	}
	if (err >= 0)
		return err;
	dp_complain(err, bad_spec, &diag);
	/* A name that is not found is an answer here, not misuse. */
	return bad_spec && err != -ENOENT ? DP_EXIT_USAGE : DP_EXIT_FAILURE;
}

const struct dp_command dp_cmd_list = {
	.name = "list",
	.summary = "show what would be probed, or what is",
	.help = help,
	.examples = "  dprobes list 'libc.so.6:mem*' -p 1234\n"
		    "  dprobes list -v\n",
	.options = "pov" DP_TAKES_COMMAND DP_TAKES_JSON DP_TAKES_MANGLED
		DP_TAKES_INLINED DP_TAKES_SPEC_FILES,
	.run = run,
};
