// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-getvars: dprobes --getvars, as DProbes had it. */
#include "cli/command.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"Usage: dprobes {-g | --getvars} {-a | --all | --name NAME} [options]\n"
	"Show the variables of probe programs that are running, or make them zero.\n"
	"\n"
	"  -a, --all         of all programs\n"
	"      --name NAME   of those that probe this module\n"
	"  -p, --pid PID     in this process only\n"
	"      --local       local variables only\n"
	"      --global      global variables only\n"
	"  -i, --index=I[-J] only those with these numbers\n"
	"      --reset       make them zero instead\n"
	"      --json        one JSON object a line: pid name space index value\n"
	"  -h, --help        this text\n"
	"\n"
	"The exit status is 1 when there are none.\n";

enum { OPT_NAME = 256, OPT_LOCAL, OPT_GLOBAL, OPT_RESET, OPT_JSON };

static const struct option options[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "pid", required_argument, NULL, 'p' },
	{ "local", no_argument, NULL, OPT_LOCAL },
	{ "global", no_argument, NULL, OPT_GLOBAL },
	{ "index", required_argument, NULL, 'i' },
	{ "reset", no_argument, NULL, OPT_RESET },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* Return: what follows the number; NULL: there is none. */
static const char *take_number(const char *text, u32 *number)
{
	unsigned long value;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	value = strtoul(text, &end, 0);
	*number = (u32)value;
	return value == *number ? end : NULL;
}

static int take_index(const char *text, struct dp_tracer_vars_options *opt)
{
	/* The original DProbes takes "-i=2". */
	const char *end = take_number(text + (*text == '='), &opt->first);

	opt->last = opt->first;
	if (end && *end == '-')
		end = take_number(end + 1, &opt->last);
	if (!end || *end || opt->last < opt->first)
		return dp_usage_error(
			"\"%s\" is no index: a number, or two with a '-'",
			text);
	return 0;
}

static int take(int c, struct dp_tracer_vars_options *opt, bool *all)
{
	switch (c) {
	case 'a':
		*all = true;
		return 0;
	case OPT_NAME:
		opt->name = optarg;
		return 0;
	case 'p':
		return dp_option_pid(optarg, &opt->pid);
	case 'i':
		return take_index(optarg, opt);
	case OPT_LOCAL:
		opt->local = true;
		return 0;
	case OPT_GLOBAL:
		opt->global = true;
		return 0;
	case OPT_RESET:
		opt->reset = true;
		return 0;
	case OPT_JSON:
		opt->json = true;
		return 0;
	default:
		return DP_EXIT_USAGE;
	}
}

int dp_getvars(int argc, char **argv)
{
	struct dp_tracer_vars_options opt = { .last = ~0u, .out = stdout };
	struct dp_diag diag;
	bool all = false;
	int c, err;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":ap:i:h", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return DP_EXIT_OK;
		}
		if (c == ':' || c == '?')
			return dp_option_bad("--getvars", options, c,
					     argv[optind - 1]);
		err = take(c, &opt, &all);
		if (err)
			return err;
	}
	if (optind < argc)
		return dp_usage_error("--getvars takes no name (\"%s\")",
				      argv[optind]);
	if (all == (opt.name != NULL))
		return dp_usage_error("--getvars needs --all or --name NAME");
	if (opt.reset && opt.json)
		return dp_usage_error("--getvars --reset does not use --json");
	dp_diag_clear(&diag);
	err = dp_tracer_vars(&opt, &diag);
	if (err > 0)
		fputs("dprobes: no running probe program has such variables; dprobes run starts one\n",
		      stderr);
	return err < 0 ? dp_complain(err, NULL, &diag) : err;
}
