// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-switch: dprobes disable, dprobes enable. */
#include "cli/command.h"
#include "tracer/system.h"
#include <errno.h>
#include <string.h>

static const char disable_help[] =
	"Usage: dprobes disable SPEC... -p PID\n"
	"       dprobes disable kernel\n"
	"Disarms probes that a running dprobes stat, trace or run has in PID, at once: the\n"
	"text is as it was before. Their counts stay, and dprobes list -p PID shows them as\n"
	"[DISABLED]. A call that a return probe was following counts as inside.\n"
	"With kernel: all probes that dprobes.ko has, as dprobes enabled 0 kernel does.\n"
	"\n"
	"  -p, --pid PID     the probed process\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n";

static const char enable_help[] =
	"Usage: dprobes enable SPEC... -p PID\n"
	"       dprobes enable kernel\n"
	"Arms probes again that dprobes disable has disarmed. They count on from where they\n"
	"were.\n"
	"\n"
	"  -p, --pid PID     the probed process\n"
	"      --mangled     take and show linkage names, as nm(1) does\n"
	"  -h, --help        this text\n";

static bool is_kernel(const char *spec)
{
	return !strncmp(spec, "kernel", 6) && (!spec[6] || spec[6] == ':');
}

static int run_kernel(const struct dp_tracer_options *opt, bool on)
{
	struct dp_diag diag;
	FILE *none = fopen("/dev/null", "we");
	int err;

	if (opt->nr_specs > 1 || opt->specs[0][6] || opt->pid || !none) {
		if (none)
			fclose(none);
		return dp_usage_error(
			"probes in the kernel are switched all at once: dprobes %s kernel",
			on ? "enable" : "disable");
	}
	dp_diag_clear(&diag);
	err = dp_system_knob(none, false, on, "", &diag);
	fclose(none);
	return err ? dp_complain(err, NULL, &diag) : DP_EXIT_OK;
}

static int run(const struct dp_tracer_options *opt, bool on)
{
	const char *bad_spec = NULL;
	struct dp_diag diag;
	int err;

	if (opt->nr_specs && is_kernel(opt->specs[0]))
		return run_kernel(opt, on);
	if (!opt->pid)
		return dp_usage_error("%s needs -p PID",
				      on ? "enable" : "disable");
	if (!opt->nr_specs)
		return dp_usage_error("%s which probes?",
				      on ? "enable" : "disable");
	dp_diag_clear(&diag);
	err = dp_tracer_switch(opt, on, &bad_spec, &diag);
	if (!err)
		return DP_EXIT_OK;
	dp_complain(err, bad_spec, &diag);
	/* A probe that is not there is an answer, not misuse. */
	return bad_spec && err != -ENOENT ? DP_EXIT_USAGE : DP_EXIT_FAILURE;
}

static int run_disable(const struct dp_tracer_options *opt)
{
	return run(opt, false);
}

static int run_enable(const struct dp_tracer_options *opt)
{
	return run(opt, true);
}

const struct dp_command dp_cmd_disable = {
	.name = "disable",
	.summary = "disarm some probes of a running dprobes",
	.help = disable_help,
	.examples = "  dprobes disable libc.so.6:malloc -p 1234\n",
	.options = "p" DP_TAKES_MANGLED DP_TAKES_SPEC_FILES,
	.run = run_disable,
};

const struct dp_command dp_cmd_enable = {
	.name = "enable",
	.summary = "arm them again",
	.help = enable_help,
	.examples = "  dprobes enable libc.so.6:malloc -p 1234\n",
	.options = "p" DP_TAKES_MANGLED DP_TAKES_SPEC_FILES,
	.run = run_enable,
};
