// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-doctor: dprobes doctor. */
#include "cli/command.h"

static const char help[] =
	"Usage: dprobes doctor [options] [-p PID]\n"
	"Say what stands in the way of probing a process, and what would help: its user,\n"
	"capabilities, Yama, namespaces, security modules, tracers, seccomp, its libc, and\n"
	"the kernel. Without -p it is about the machine and about you. Nothing is touched.\n"
	"\n"
	"A line a fact: ok, note (it does not matter) or no, what is, and behind a semicolon\n"
	"what to do. The last line is the answer.\n"
	"\n"
	"  -p, --pid PID     this process\n"
	"  -o, --output FILE write to FILE\n"
	"      --json        one JSON object a line: check state text remedy; in the end\n"
	"                    check (\"verdict\") state pid\n"
	"  -q, --quiet       only what stands in the way, and the answer\n"
	"  -h, --help        this text\n"
	"\n"
	"The exit status is 0 if nothing stands in the way, else 1.\n";

static int run(const struct dp_tracer_options *opt)
{
	if (opt->nr_specs)
		return dp_usage_error("doctor takes no SPEC (\"%s\")",
				      opt->specs[0]);
	return dp_tracer_doctor(opt) ? DP_EXIT_FAILURE : DP_EXIT_OK;
}

const struct dp_command dp_cmd_doctor = {
	.name = "doctor",
	.summary = "say what stands in the way of probing",
	.help = help,
	.examples = "  dprobes doctor\n"
		    "  dprobes doctor -p 1234\n",
	.options = "poq" DP_TAKES_JSON,
	.run = run,
};
