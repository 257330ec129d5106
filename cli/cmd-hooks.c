// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-hooks: dprobes hooks. */
#include "cli/command.h"
#include "tracer/system.h"
#include <string.h>

static const char help[] =
	"Usage: dprobes hooks [options] -p PID | kernel\n"
	"Shows the hooks of a process: name, active or idle, hits while it was active;\n"
	"and behind each its exits, in the order in which they are called: place, name,\n"
	"1 if it is armed, and whether it may be armed from outside. A process that does\n"
	"not use libdprobes, as a static program, has no exits. With kernel: the hooks of\n"
	"modules, by dprobes.ko.\n"
	"A probe at a hook, in any process, is hook:[MODULE:]NAME for stat, trace and run.\n"
	"\n"
	"      --arm HOOK:EXIT     have the hook call this exit\n"
	"      --disarm HOOK:EXIT  have the hook call it no more\n"
	"  -p, --pid PID           the process\n"
	"  -o, --output FILE       write to FILE\n"
	"  -h, --help              this text\n";

static int run(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	int err;

	bool kernel = opt->nr_specs == 1 && !strcmp(opt->specs[0], "kernel");

	if (opt->nr_specs && !kernel)
		return dp_usage_error("hooks takes no names (\"%s\")",
				      opt->specs[0]);
	if (!opt->pid == !kernel)
		return dp_usage_error(
			"hooks needs a process, -p PID, or the word kernel");
	dp_diag_clear(&diag);
	err = kernel ? dp_system_hooks(opt, &diag) :
		       dp_tracer_hooks(opt, &diag);
	return err ? dp_complain(err, NULL, &diag) : DP_EXIT_OK;
}

const struct dp_command dp_cmd_hooks = {
	.name = "hooks",
	.summary = "show the hooks of a process, arm and disarm exits",
	.help = help,
	.examples = "  dprobes hooks -p 1234\n"
		    "  dprobes hooks --arm request:log_request -p 1234\n",
	.options = "poXQ",
	.run = run,
};
