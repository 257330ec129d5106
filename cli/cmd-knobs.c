// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-knobs: dprobes enabled, dprobes sysctl. */
#include "cli/command.h"
#include "tracer/system.h"
#include <string.h>

static const char enabled_help[] =
	"Usage: dprobes enabled [0|1] [kernel | -p PID]\n"
	"Stands for the kernel's kprobes/enabled: 0 disarms all probes of a process that\n"
	"uses libdprobes, 1 arms those that are not disabled. Without a value it is shown.\n"
	"Without -p it is for every such process, a line each, with its id; with kernel for\n"
	"all probes that dprobes.ko has.\n"
	"\n"
	"  -p, --pid PID     this process only\n"
	"  -o, --output FILE write to FILE\n"
	"  -h, --help        this text\n";

static const char sysctl_help[] =
	"Usage: dprobes sysctl debug.kprobes_optimization[=0|1|n|y] [kernel | -p PID]\n"
	"Stands for sysctl(8) and the kernel's debug.kprobes-optimization, which is spelt\n"
	"so, too: 0 turns the jumps of a process that uses libdprobes into breakpoints, 1\n"
	"turns them back. Without a value it is shown. Without -p it is for every such\n"
	"process, a line each, with its id; with kernel for the probes of dprobes.ko.\n"
	"\n"
	"  -p, --pid PID     this process only\n"
	"  -o, --output FILE write to FILE\n"
	"  -h, --help        this text\n";

static const char *const names[] = { "debug.kprobes_optimization",
				     "debug.kprobes-optimization",
				     "kprobes_optimization",
				     "kprobes-optimization" };

/* Return: 0, 1; -2: @text is neither. */
static int value_of(const char *text)
{
	if (!strcmp(text, "0") || !strcmp(text, "n"))
		return 0;
	return !strcmp(text, "1") || !strcmp(text, "y") ? 1 : -2;
}

/** struct words - what stands behind the verb: @value: NULL: it is only shown; @n: how many others */
struct words {
	const char *value;
	size_t n;
	bool kernel;
};

static struct words take_words(const struct dp_tracer_options *opt)
{
	struct words w = { 0 };
	size_t i;

	for (i = 0; i < opt->nr_specs; i++)
		if (!strcmp(opt->specs[i], "kernel")) {
			w.kernel = true;
		} else {
			w.value = opt->specs[i];
			w.n++;
		}
	return w;
}

static int turn(const struct dp_tracer_options *opt, bool kernel,
		bool optimization, int value, const char *name)
{
	struct dp_diag diag;
	int err;

	if (kernel && opt->pid)
		return dp_usage_error(
			"the kernel is no process: leave -p away");
	dp_diag_clear(&diag);
	err = kernel ? dp_system_knob(opt->out, optimization, value, name,
				      &diag) :
		       dp_tracer_knob(opt, optimization, value, name, &diag);
	return err ? dp_complain(err, NULL, &diag) : DP_EXIT_OK;
}

static int run_enabled(const struct dp_tracer_options *opt)
{
	const struct words w = take_words(opt);
	int value = -1;

	if (w.n > 1)
		return dp_usage_error("enabled takes 0 or 1");
	if (w.n)
		value = value_of(w.value);
	if (value == -2)
		return dp_usage_error("enabled takes 0 or 1, not \"%s\"",
				      w.value);
	return turn(opt, w.kernel, false, value, "");
}

static bool is_named(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], text, len))
			return true;
	return false;
}

static int run_sysctl(const struct dp_tracer_options *opt)
{
	const struct words w = take_words(opt);
	const char *equals;
	int value = -1;
	size_t len;

	if (w.n != 1)
		return dp_usage_error(
			"sysctl takes debug.kprobes_optimization, perhaps with a value");
	len = strcspn(w.value, "=");
	equals = w.value + len;
	if (!is_named(w.value, len))
		return dp_usage_error("there is no knob \"%.*s\"", (int)len,
				      w.value);
	if (*equals)
		value = value_of(equals + 1);
	if (value == -2)
		return dp_usage_error("\"%s\" is not 0, 1, n or y", equals + 1);
	return turn(opt, w.kernel, true, value, names[0]);
}

const struct dp_command dp_cmd_enabled = {
	.name = "enabled",
	.summary = "switch all probes of a process off and on",
	.help = enabled_help,
	.examples = "  dprobes enabled\n"
		    "  dprobes enabled 0 -p 1234\n"
		    "  dprobes enabled 0 kernel\n",
	.options = "po",
	.run = run_enabled,
};

const struct dp_command dp_cmd_sysctl = {
	.name = "sysctl",
	.summary = "switch jumps of a process off and on",
	.help = sysctl_help,
	.examples = "  dprobes sysctl debug.kprobes_optimization\n"
		    "  dprobes sysctl debug.kprobes_optimization=0 -p 1234\n",
	.options = "po",
	.run = run_sysctl,
};
