// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* options: parse the command line, the same way for every verb. */
#include "cli/command.h"
#include "tracer/output.h"
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_LEAST 0.01
#define SECONDS_MAX 1e9 /* in nanoseconds it has to fit into 64 bits */

/* As many as dprobes.ko has stubs */
#define MAXACTIVE_MOST 8192

/* The letters of struct dp_command's options. */
enum {
	OPT_JSON = 'J',
	OPT_DURATION = 'S',
	OPT_PENDING = 'P',
	OPT_BUFFER = 'B',
	OPT_BLOCK = 'K',
	OPT_COARSE = 'T',
	OPT_ALL = 'A',
	OPT_TOP = 'M',
	OPT_MANGLED = 'G',
	OPT_INLINED = 'I',
	OPT_STACK = 'H',
	OPT_INCLUDE = 'C',
	OPT_ALLOW = 'W',
	OPT_FACILITY = 'F',
	OPT_LOG_TARGET = 'L',
	OPT_LOG = 'O',
	OPT_UNFORMATTED = 'U',
	OPT_CORE = 'R',
	OPT_MINIDUMP = 'N',
	OPT_DEBUGGER = 'E',
	OPT_RAW = 'Z',
	OPT_MAP_SIZE = 'Y',
	OPT_ARM = 'X',
	OPT_DISARM = 'Q',
	OPT_KEEP = 'd',
	OPT_UNTIL = 'u',
	OPT_ROTATE = 'r',
	OPT_NTH = 'k',
	OPT_EVERY = 'e',
	OPT_PROB = 'b',
	OPT_SEED = 's',
	OPT_DEPTH = 'g',
	OPT_FORMAT = 'y',
	OPT_FOLDED = 'c',
	OPT_FLAME = 'j',
	OPT_SHOW_SPEC = 'z',
	OPT_MAXACTIVE = 'x',
};
#define WITHOUT_LETTER "JSPBKTAMGIHCWFLOURNEZXYQdurkebsgycjzx"

static const struct option long_options[] = {
	{ "json", no_argument, NULL, OPT_JSON },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "pid", required_argument, NULL, 'p' },
	{ "follow", no_argument, NULL, 'w' },
	{ "pending", no_argument, NULL, OPT_PENDING },
	{ "buffer", required_argument, NULL, OPT_BUFFER },
	{ "block", no_argument, NULL, OPT_BLOCK },
	{ "coarse-time", no_argument, NULL, OPT_COARSE },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "nth", required_argument, NULL, OPT_NTH },
	{ "every", required_argument, NULL, OPT_EVERY },
	{ "prob", required_argument, NULL, OPT_PROB },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "folded", no_argument, NULL, OPT_FOLDED },
	{ "flame", required_argument, NULL, OPT_FLAME },
	{ "show-spec", no_argument, NULL, OPT_SHOW_SPEC },
	{ "time-filter", required_argument, NULL, 't' },
	{ "rotate", required_argument, NULL, OPT_ROTATE },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "top", required_argument, NULL, OPT_TOP },
	{ "map-size", required_argument, NULL, OPT_MAP_SIZE },
	{ "maxactive", required_argument, NULL, OPT_MAXACTIVE },
	{ "inlined", no_argument, NULL, OPT_INLINED },
	{ "stack", no_argument, NULL, OPT_STACK },
	{ "define", required_argument, NULL, 'D' },
	{ "include", required_argument, NULL, OPT_INCLUDE },
	{ "allow", required_argument, NULL, OPT_ALLOW },
	{ "facility", required_argument, NULL, OPT_FACILITY },
	{ "log-target", required_argument, NULL, OPT_LOG_TARGET },
	{ "log", required_argument, NULL, OPT_LOG },
	{ "unformatted-output", no_argument, NULL, OPT_UNFORMATTED },
	{ "core", required_argument, NULL, OPT_CORE },
	{ "raw", required_argument, NULL, OPT_RAW },
	{ "debugger", required_argument, NULL, OPT_DEBUGGER },
	{ "arm", required_argument, NULL, OPT_ARM },
	{ "disarm", required_argument, NULL, OPT_DISARM },
	{ "minidump", no_argument, NULL, OPT_MINIDUMP },
	{ "mangled", no_argument, NULL, OPT_MANGLED },
	{ "interval", required_argument, NULL, 'i' },
	{ "records", required_argument, NULL, 'n' },
	{ "children", no_argument, NULL, 'f' },
	{ "alias", required_argument, NULL, 'a' },
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

int dp_option_pid(const char *text, pid_t *pid)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (*end == ',' && end != text)
		return dp_usage_error(
			"several processes (-p %s) are not there yet", text);
	if (*end || end == text || value <= 0 || value > 0x7fffffff)
		return dp_usage_error("\"%s\" is not a process id", text);
	*pid = (pid_t)value;
	return 0;
}

static int parse_duration(const char *text, double *seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "", 1 },      { "s", 1 },  { "ms", 0.001 },
		      { "us", 1e-6 }, { "m", 60 }, { "h", 3600 } };
	char *end;
	double value = strtod(text, &end);
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (end != text && value > 0 &&
		    value * units[i].seconds < SECONDS_MAX &&
		    !strcmp(end, units[i].unit)) {
			*seconds = value * units[i].seconds;
			return 0;
		}
	return dp_usage_error(
		"\"%s\" is not a duration (a number and s, ms, us, m or h)",
		text);
}

static int parse_interval(const char *text, double *seconds)
{
	int err = parse_duration(text, seconds);

	if (err || *seconds >= INTERVAL_LEAST)
		return err;
	return dp_usage_error("-i %s: an interval is 10 ms at least", text);
}

static int parse_size(const char *text, size_t *bytes)
{
	const char *end;
	u64 n;

	if (!dp_option_size(text, &end, &n) || *end)
		return dp_usage_error(
			"\"%s\" is not a size (a number and k or M)", text);
	if (!n || n > DP_RING_MOST)
		return dp_usage_error(
			"--buffer %s: the ring of a CPU can have 1 byte to %u MiB",
			text, DP_RING_MOST >> 20);
	*bytes = n;
	return 0;
}

static int parse_number(const char *text, const char *what, u64 *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 10);
	if (*text >= '1' && *text <= '9' && !*end && !errno)
		return 0;
	return dp_usage_error("\"%s\" is not a number of %s", text, what);
}

static int parse_least(const char *text, u64 *ns)
{
	double seconds;
	int err = parse_duration(text, &seconds);

	if (!err)
		*ns = (u64)(seconds * 1e9 + 0.5);
	return err;
}

static int parse_depth(const char *text, u32 *depth)
{
	u64 n;
	int err = parse_number(text, "levels", &n);

	if (!err)
		*depth = n < UINT32_MAX ? (u32)n : UINT32_MAX;
	return err;
}

static int parse_format(const char *text, struct dp_tracer_options *opt)
{
	if (!strcmp(text, "json"))
		opt->json = true;
	else if (!strcmp(text, "chrome") || !strcmp(text, "perfetto"))
		opt->format = DP_FORMAT_CHROME;
	else if (strcmp(text, "text"))
		return dp_usage_error(
			"--format is text, json, chrome or perfetto, and not \"%s\"",
			text);
	return 0;
}

static int parse_prob(const char *text, double *prob)
{
	char *end;

	*prob = strtod(text, &end);
	if (end != text && !*end && *prob > 0 && *prob <= 1)
		return 0;
	return dp_usage_error(
		"--prob %s: a probability is more than 0, and 1 at most", text);
}

static int parse_seed(const char *text, u64 *seed)
{
	const char *end;

	if (dp_option_size(text, &end, seed) && !*end && *seed)
		return 0;
	return dp_usage_error("--seed %s: a seed is a number from 1 on", text);
}

static int parse_maxactive(const char *text, u32 *calls)
{
	u64 n;
	int err = parse_number(text, "calls", &n);

	if (!err && n > MAXACTIVE_MOST)
		return dp_usage_error(
			"--maxactive %s: %d calls are followed at a time, of all functions",
			text, MAXACTIVE_MOST);
	*calls = (u32)n;
	return err;
}

static int parse_map_size(const char *text, u32 *keys)
{
	u64 n;
	int err = parse_number(text, "keys", &n);

	if (!err && n > DP_AGGREGATE_MOST)
		return dp_usage_error(
			"--map-size %s: a table has %u keys at most", text,
			DP_AGGREGATE_MOST);
	*keys = (u32)n;
	return err;
}

static int add_alias(const char *alias, struct dp_tracer_options *opt)
{
	const char **more, *equals = strchr(alias, '=');

	if (!equals || equals == alias || !equals[1])
		return dp_usage_error("\"%s\" is no alias: NAME=FUNCTION",
				      alias);
	more = realloc(opt->aliases, (opt->nr_aliases + 1) * sizeof(*more));
	if (!more)
		return DP_EXIT_FAILURE;
	more[opt->nr_aliases++] = alias;
	opt->aliases = more;
	return 0;
}

static int add_define(char *text, struct dp_tracer_options *opt)
{
	char *equals = strchr(text, '=');
	struct dp_lang_define *more;

	if (!equals || equals == text || strchr(text, '\n'))
		return dp_usage_error("-D %s is not KEY=VALUE", text);
	more = realloc(opt->defines, (opt->nr_defines + 1) * sizeof(*more));
	if (!more)
		return DP_EXIT_FAILURE;
	*equals = '\0';
	more[opt->nr_defines++] = (struct dp_lang_define){ text, equals + 1 };
	opt->defines = more;
	return 0;
}

static int add_include(const char *directory, struct dp_tracer_options *opt)
{
	const char **more =
		realloc(opt->includes, (opt->nr_includes + 1) * sizeof(*more));

	if (!more)
		return DP_EXIT_FAILURE;
	more[opt->nr_includes++] = directory;
	opt->includes = more;
	return 0;
}

static int parse_allow(const char *text, u32 *allow)
{
	const char *bad = dp_tracer_allow(text, allow);

	if (!bad)
		return 0;
	return dp_usage_error(
		"--allow is a list of write, reg, io and call, or none; \"%.*s\" is not of it",
		(int)strcspn(bad, ","), bad);
}

static bool has_facility(const struct dp_tracer_options *opt, u32 number)
{
	size_t i;

	for (i = 0; i < opt->nr_facilities; i++)
		if (opt->facilities[i].number == number)
			return true;
	return false;
}

static int add_facility(const char *text, struct dp_tracer_options *opt)
{
	struct dp_facility_command *more;
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '=' || !end[1] || n > 255)
		return dp_usage_error("--facility %s is not N=CMD", text);
	if (n < 16)
		return dp_usage_error(
			"--facility %s: facilities from 16 to 255 can be registered",
			text);
	if (has_facility(opt, (u32)n))
		return dp_usage_error("--facility %lu is given twice", n);
	more = realloc(opt->facilities,
		       (opt->nr_facilities + 1) * sizeof(*more));
	if (!more)
		return DP_EXIT_FAILURE;
	more[opt->nr_facilities++] =
		(struct dp_facility_command){ (u32)n, end + 1 };
	opt->facilities = more;
	return 0;
}

static int parse_target(const char *text, enum dp_log_target *target)
{
	const char *bad = dp_tracer_log_target(text, target), *why;

	if (!bad)
		return 0;
	why = dp_tracer_log_later(bad);
	if (why)
		return dp_usage_error("--log-target %s: %s", bad, why);
	return dp_usage_error(
		"--log-target is ring, file, syslog or klog, and not \"%s\"",
		bad);
}

static int parse_items(const char *text, u32 *items)
{
	const char *bad = dp_tracer_log_items(text, items), *why;

	if (!bad)
		return 0;
	why = dp_tracer_log_later(bad);
	if (why)
		return dp_usage_error("--log %.*s: %s", (int)strcspn(bad, ","),
				      bad, why);
	return dp_usage_error(
		"--log is a list of PROCNAME, PID, UID, CSEIP, TSC and ALL; \"%.*s\" is not of it",
		(int)strcspn(bad, ","), bad);
}

static int parse_core(const char *text, const char **core)
{
	const char *bad = dp_tracer_core_bad(text);

	*core = text;
	if (bad)
		return dp_usage_error(
			"--core %s: \"%.2s\" stands for nothing; %%p, %%n, %%t, %%e and %%%% do",
			text, bad);
	return *text ? 0 : dp_usage_error("--core needs the name of a file");
}

static int parse_debugger(const char *text, const char **debugger)
{
	const char *bad = dp_tracer_debugger_bad(text);

	*debugger = text;
	if (bad)
		return dp_usage_error(
			"--debugger %s: \"%.2s\" stands for nothing; %%p, %%i and %%%% do",
			text, bad);
	return *text ? 0 : dp_usage_error("--debugger needs a command");
}

static int take_exit(const char *text, bool disarms,
		     struct dp_tracer_options *opt)
{
	if (opt->exit)
		return dp_usage_error(
			"one exit at a time is armed or disarmed");
	opt->exit = text;
	opt->disarms = disarms;
	return 0;
}

static int take_until(const char *spec, struct dp_tracer_options *opt)
{
	if (opt->until)
		return dp_usage_error("--until is given twice");
	opt->until = spec;
	return *spec ? 0 : dp_usage_error("--until needs a SPEC");
}

static bool is_used(const struct dp_command *cmd, int c)
{
	return c == 'h' || c == 'V' || strchr(cmd->options, c);
}

static int not_used(const struct dp_command *cmd, int c)
{
	const struct option *o = long_options;

	while (o->val != c)
		o++;
	if (strchr(WITHOUT_LETTER, c))
		return dp_usage_error("%s does not use --%s", cmd->name,
				      o->name);
	return dp_usage_error("%s does not use -%c, --%s", cmd->name, c,
			      o->name);
}

/* Options without a value, and what each sets */
static const struct {
	int c;
	size_t at;
} flags[] = {
	{ 'f', offsetof(struct dp_tracer_options, children) },
	{ 'w', offsetof(struct dp_tracer_options, watch) },
	{ OPT_PENDING, offsetof(struct dp_tracer_options, pending) },
	{ OPT_ALL, offsetof(struct dp_tracer_options, all) },
	{ OPT_BLOCK, offsetof(struct dp_tracer_options, block) },
	{ OPT_STACK, offsetof(struct dp_tracer_options, stack) },
	{ OPT_COARSE, offsetof(struct dp_tracer_options, coarse) },
	{ OPT_UNFORMATTED, offsetof(struct dp_tracer_options, unformatted) },
	{ OPT_MINIDUMP, offsetof(struct dp_tracer_options, minidump) },
	{ OPT_INLINED, offsetof(struct dp_tracer_options, inlined) },
	{ OPT_MANGLED, offsetof(struct dp_tracer_options, mangled) },
	{ OPT_JSON, offsetof(struct dp_tracer_options, json) },
	{ OPT_FOLDED, offsetof(struct dp_tracer_options, folded) },
	{ OPT_SHOW_SPEC, offsetof(struct dp_tracer_options, show) },
	{ 'q', offsetof(struct dp_tracer_options, quiet) },
	{ 'v', offsetof(struct dp_tracer_options, verbose) },
};

static bool take_flag(int c, struct dp_tracer_options *opt)
{
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].c == c) {
			*(bool *)((char *)opt + flags[i].at) = true;
			return true;
		}
	return false;
}

static int take(const struct dp_command *cmd, int c,
		struct dp_tracer_options *opt, bool *done)
{
	if (take_flag(c, opt))
		return 0;
	switch (c) {
	case 'p':
		if (opt->pid)
			return dp_usage_error(
				"several processes (-p twice) are not there yet");
		return dp_option_pid(optarg, &opt->pid);
	case 'o':
		if (opt->out != stdout)
			return dp_usage_error("-o is given twice");
		return dp_option_output(optarg, opt);
	case 'a':
		return add_alias(optarg, opt);
	case OPT_DURATION:
		return parse_duration(optarg, &opt->duration);
	case 'i':
		return parse_interval(optarg, &opt->interval);
	case OPT_BUFFER:
		return parse_size(optarg, &opt->buffer);
	case 'n':
		return parse_number(optarg, "records", &opt->records);
	case OPT_TOP:
		return parse_number(optarg, "rows", &opt->top);
	case OPT_MAXACTIVE:
		return parse_maxactive(optarg, &opt->maxactive);
	case OPT_MAP_SIZE:
		return parse_map_size(optarg, &opt->map_size);
	case OPT_KEEP:
		return dp_option_keep(optarg, opt);
	case OPT_UNTIL:
		return take_until(optarg, opt);
	case OPT_NTH:
		return parse_number(optarg, "a call", &opt->nth);
	case OPT_EVERY:
		return parse_number(optarg, "calls", &opt->every);
	case OPT_PROB:
		return parse_prob(optarg, &opt->prob);
	case OPT_SEED:
		return parse_seed(optarg, &opt->seed);
	case 't':
		return parse_least(optarg, &opt->least_ns);
	case OPT_DEPTH:
		return parse_depth(optarg, &opt->depth);
	case OPT_FORMAT:
		return parse_format(optarg, opt);
	case OPT_FLAME:
		opt->flame = optarg;
		return *optarg ? 0 :
				 dp_usage_error(
					 "--flame needs the name of a file");
	case OPT_ROTATE:
		return dp_option_rotate(optarg, opt);
	case 'D':
		return add_define(optarg, opt);
	case OPT_INCLUDE:
		return add_include(optarg, opt);
	case OPT_ALLOW:
		return parse_allow(optarg, &opt->allow);
	case OPT_FACILITY:
		return add_facility(optarg, opt);
	case OPT_LOG_TARGET:
		return parse_target(optarg, &opt->log_target);
	case OPT_LOG:
		return parse_items(optarg, &opt->log_items);
	case OPT_ARM:
	case OPT_DISARM:
		return take_exit(optarg, c == OPT_DISARM, opt);
	case OPT_CORE:
		return parse_core(optarg, &opt->core);
	case OPT_RAW:
		opt->raw = optarg;
		return *optarg ?
			       0 :
			       dp_usage_error("--raw needs the name of a file");
	case OPT_DEBUGGER:
		return parse_debugger(optarg, &opt->debugger);
	case 'h':
		dp_verb_explain(cmd);
		*done = true;
		return 0;
	case 'V':
		puts("dprobes " DP_VERSION);
		*done = true;
		return 0;
	default:
		return DP_EXIT_USAGE;
	}
}

/* Is it @word, a long option, that getopt complains of? Not if a letter of the next one. */
static bool is_long(const struct option *o, const char *word)
{
	size_t len = strcspn(word, "=");

	if (strncmp(word, "--", 2) || !optopt)
		return !optopt;
	while (o->name && o->val != optopt)
		o++;
	return o->name && !strncmp(o->name, word + 2, len - 2);
}

int dp_option_bad(const char *verb, const struct option *options, int c,
		  const char *word)
{
	char brief[] = { '-', (char)optopt, '\0' };
	bool full = is_long(options, word);

	if (c == ':')
		return dp_usage_error("%s: %s needs a value", verb,
				      full ? word : brief);
	if (full && optopt)
		return dp_usage_error("%s: %.*s takes no value", verb,
				      (int)strcspn(word, "="), word);
	return dp_usage_error("%s: there is no option %s", verb,
			      full ? word : brief);
}

int dp_options_parse(const struct dp_command *cmd, int argc, char **argv,
		     struct dp_tracer_options *opt, bool *done)
{
	int c, err, words = 0;
	size_t nr = 0;

	while (words < argc && strcmp(argv[words], "--"))
		words++;
	if (words < argc) {
		opt->argv = argv + words + 1;
		argv[words] = NULL;
		if (!strchr(cmd->options, *DP_TAKES_COMMAND))
			return dp_usage_error("%s does not use -- CMD",
					      cmd->name);
		if (!*opt->argv || !**opt->argv)
			return dp_usage_error("there is no command after --");
	}
	opt->out = stdout;
	dp_tracer_allow("write,reg,io,call", &opt->allow);
	opterr = 0;
	/* "-": specs come as option 1, in order, whatever POSIXLY_CORRECT says */
	while ((c = getopt_long(words, argv, "-:p:o:a:n:i:D:t:fwqvhV",
				long_options, NULL)) != -1) {
		if (c == 1)
			argv[nr++] = optarg;
		else if (c == '?' || c == ':')
			return dp_option_bad(cmd->name, long_options, c,
					     argv[optind - 1]);
		else if (!is_used(cmd, c))
			return not_used(cmd, c);
		else if ((err = take(cmd, c, opt, done)) || *done)
			return err;
	}
	opt->specs = (const char *const *)argv;
	opt->nr_specs = nr;
	if (opt->pid && opt->argv)
		return dp_usage_error("give either -p PID or -- CMD, not both");
	if (strchr(cmd->options, *DP_TAKES_SPEC_FILES)) {
		err = dp_option_specs(opt);
		if (err)
			return err;
	}
	return dp_option_outputs(opt);
}
