// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cmd-classic: the commands that DProbes had: --insert, --remove, --query and their like. */
#include "cli/words.h"
#include "tracer/output.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char insert_help[] =
	"Usage: dprobes {-i | --insert} FILE -P PID [options]\n"
	"       dprobes {-i | --insert} FILE [options]    into the kernel, or all processes\n"
	"Insert a probe program into a running process, or into the kernel. It stays there when\n"
	"the command has ended, until --remove, or the end of the process: a process\n"
	"\"dprobes hold\" holds it.\n"
	"\n"
	"  -P, --pid PID     into this process. Programs with \"modtype = kernel\", or kmod, need\n"
	"                    none; with \"modtype = user\" and none, the program is in all processes\n"
	"                    that map its file. One of all these is held at a time\n"
	"  -m, --merge       if there is a program of this name, add to it; where both have a\n"
	"                    probe, the new one counts; local variables stay\n"
	"  -c, --replace     if there is a program of this name, put this one in its place\n"
	"  -u, --group LIST  only points of these groups: 1,4-6\n"
	"  -t, --type LIST   only points of these types\n"
	"  -s, --sym FILE    the program's symbols are in this ELF file\n"
	"      --dont-verify-opcodes  whatever instruction is there will do\n"
	"      --stop-cpus   accepted; no hit is missed without it\n"
	"  -D, --define K=V  put V in the place of %K% in the program, and define the macro K\n"
	"      --include DIR look there, too, for what #include names\n"
	"      --allow LIST  what the program may ask for: write, reg, io, call; none; all by default\n"
	"      --log-target T  records go to T: syslog (where there is one, by default), klog, file, ring\n"
	"  -l, --log LIST    with these in front of each in a log: PROCNAME, PID, UID, CSEIP, TSC, ALL\n"
	"  -f, --unformatted-output  a log has the bytes of a record on one line\n"
	"      --facility N=CMD  run CMD for each \"exit N\", N from 16 to 255\n"
	"      --core PATTERN, --minidump  of core dumps, as for dprobes run\n"
	"  -o, --output FILE records go to FILE\n"
	"      --json        there, one JSON object a line\n"
	"      --buffer SIZE, --block  of the room for records, as for dprobes run\n"
	"  -q, --quiet       only errors\n"
	"  -h, --help        this text\n"
	"\n"
	"Points that cannot be armed are told, and do not keep the others from being armed; the\n"
	"exit status is then 1. \"dprobes --query --all\" shows them all.\n";

static const char apply_help[] =
	"Usage: dprobes {-p | --apply-ppdf} FILE.ppdf -P PID [options]\n"
	"Insert a program that --build-ppdf has made into a running process, which need not\n"
	"have symbols.\n"
	"\n"
	"  -P, --pid PID     into this process\n"
	"  -m, --merge       if there is a program of this name, add to it\n"
	"  -c, --replace     if there is a program of this name, put this one in its place\n"
	"  -u, --group LIST  only points of these groups: 1,4-6\n"
	"  -t, --type LIST   only points of these types\n"
	"      --dont-verify-opcodes  whatever instruction is there will do\n"
	"  -h, --help        this text\n"
	"\n"
	"The other options, and the exit status, are those of --insert but for -D, --include\n"
	"and --sym: \"dprobes --insert --help\" tells of them.\n"
	"\n"
	"Where the module is of another build, or other instructions are at a point, that point\n"
	"is not armed, which is told.\n";

static const char build_help[] =
	"Usage: dprobes {-b | --build-ppdf} FILE [options]\n"
	"Make a probe program definition file: the program of FILE, with its symbols resolved,\n"
	"for --apply-ppdf on a machine, or in a process, that has none. It has the build-id of\n"
	"the module, and the instructions at each point, which are compared there.\n"
	"\n"
	"  -o, --outfile FILE  write to FILE; by default FILE.ppdf in the place of FILE.dp\n"
	"  -s, --sym FILE    symbols are in this ELF file; by default in the one that \"name =\"\n"
	"                    is the path of\n"
	"  -D, --define K=V  put V in the place of %K% in the program, and define the macro K\n"
	"      --include DIR look there, too, for what #include names\n"
	"      --allow LIST  what the program may ask for\n"
	"  -h, --help        this text\n";

static const char remove_help[] =
	"Usage: dprobes {-r | --remove} {-a | --all | --name NAME} [-P PID]\n"
	"Take programs out that --insert has put into processes.\n"
	"\n"
	"  -a, --all         all of them\n"
	"      --name NAME   those that probe this module\n"
	"  -P, --pid PID     of this process only\n"
	"  -h, --help        this text\n"
	"\n"
	"The exit status is 1 when there are none.\n";

static const char query_help[] =
	"Usage: dprobes {-q | --query} {-a | --all | --name NAME} [-P PID] [options]\n"
	"Show the programs that --insert has put into processes: for each of their points its\n"
	"status and its counts.\n"
	"\n"
	"  -a, --all         all of them\n"
	"      --name NAME   those that probe this module\n"
	"  -P, --pid PID     of this process only\n"
	"  -x, --extended    their variables and their code, too\n"
	"  -o, --output FILE write to FILE\n"
	"      --json        one JSON object a line: pid hold name major minor probe status flags\n"
	"                    hits run passed over missed mode why\n"
	"  -h, --help        this text\n"
	"\n"
	"The exit status is 1 when there are none.\n";

static int take_merge(struct words *w, const char *value)
{
	w->classic.merge = true;
	return 0;
}

static int take_replace(struct words *w, const char *value)
{
	w->classic.replace = true;
	return 0;
}

static int take_any_opcode(struct words *w, const char *value)
{
	w->classic.any_opcode = true;
	return 0;
}

static int take_stop_cpus(struct words *w, const char *value)
{
	w->stop_cpus = true;
	return 0;
}

static int take_extended(struct words *w, const char *value)
{
	w->classic.extended = true;
	return 0;
}

static int take_all(struct words *w, const char *value)
{
	w->all = true;
	return 0;
}

static int take_name(struct words *w, const char *value)
{
	w->classic.name = strdup(value);
	return w->classic.name ? 0 : DP_EXIT_FAILURE;
}

static int take_list(const char *value, const char *what, const char **list)
{
	const char *bad = dp_tracer_list_bad(value);

	if (bad)
		return dp_usage_error(
			"--%s is a list of numbers, as 1,4-6; \"%s\" is not of it",
			what, bad);
	*list = strdup(value);
	return *list ? 0 : DP_EXIT_FAILURE;
}

static int take_groups(struct words *w, const char *value)
{
	return take_list(value, "group", &w->classic.groups);
}

static int take_types(struct words *w, const char *value)
{
	return take_list(value, "type", &w->classic.types);
}

static int take_symbols(struct words *w, const char *value)
{
	w->classic.symbols = realpath(value, NULL);
	if (w->classic.symbols)
		return 0;
	dp_output_print(stderr, "dprobes: --sym %s: %s\n", value,
			strerror(errno));
	return DP_EXIT_FAILURE;
}

static const struct option_word insert_words[] = {
	{ 'P', "pid", true, "--pid", NULL },
	{ 'm', "merge", false, NULL, take_merge },
	{ 'c', "replace", false, NULL, take_replace },
	{ 'u', "group", true, NULL, take_groups },
	{ 't', "type", true, NULL, take_types },
	{ 's', "sym", true, NULL, take_symbols },
	{ 0, "dont-verify-opcodes", false, NULL, take_any_opcode },
	{ 0, "stop-cpus", false, NULL, take_stop_cpus },
	{ 'f', "unformatted-output", false, "--unformatted-output", NULL },
	{ 'l', "log", true, "--log", NULL },
	{ 0, NULL, false, NULL, NULL },
};

static const struct option_word build_words[] = {
	{ 's', "sym", true, NULL, take_symbols },
	{ 'o', "outfile", true, "--output", NULL },
	{ 0, NULL, false, NULL, NULL },
};

static const struct option_word name_words[] = {
	{ 'P', "pid", true, "--pid", NULL },
	{ 'a', "all", false, NULL, take_all },
	{ 0, "name", true, NULL, take_name },
	{ 'x', "extended", false, NULL, take_extended },
	{ 0, NULL, false, NULL, NULL },
};

static int parse(const struct dp_command *cmd, struct words *w,
		 struct dp_tracer_options *opt, bool *done)
{
	int err = dp_options_parse(cmd, w->n, w->v, opt, done);

	opt->classic = &w->classic;
	return err;
}

static int insert(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	char *bad_line;
	int err;

	if (opt->nr_specs != 1)
		return dp_usage_error(
			opt->nr_specs ? "one program is inserted at a time" :
					"which program is to be inserted?");
	if (!opt->pid && opt->classic->ppdf)
		return dp_usage_error("--apply-ppdf needs -P PID");
	if (opt->classic->merge && opt->classic->replace)
		return dp_usage_error("--merge and --replace are two things");
	dp_diag_clear(&diag);
	err = dp_tracer_insert(opt, &bad_line, &diag);
	if (err < 0)
		err = dp_complain(err, bad_line, &diag);
	free(bad_line);
	return err;
}

/* prog.dp ─► prog.ppdf, beside it */
static char *name_beside(const char *path)
{
	size_t n = strlen(path);
	char *to = malloc(n + sizeof(".ppdf"));

	if (!to)
		return NULL;
	if (n > 3 && !strcmp(path + n - 3, ".dp"))
		n -= 3;
	memcpy(to, path, n);
	strcpy(to + n, ".ppdf");
	return to;
}

static int cannot_write(const char *to)
{
	dp_output_print(stderr, "dprobes: cannot write %s: %s\n", to,
			strerror(errno));
	return DP_EXIT_FAILURE;
}

static int write_beside(const char *path, const char *text, size_t n)
{
	char *to = name_beside(path);
	FILE *out = to ? fopen(to, "we") : NULL;
	size_t done = 0;
	int err = 0;

	if (out)
		done = fwrite(text, 1, n, out);
	if (!out || fclose(out) || done != n)
		err = cannot_write(to ?: path);
	free(to);
	return err;
}

static int build_to(const struct dp_tracer_options *opt)
{
	struct dp_diag diag;
	char *bad_line;
	int err;

	dp_diag_clear(&diag);
	err = dp_tracer_build(opt, &bad_line, &diag);
	if (err)
		err = dp_complain(err, bad_line, &diag);
	free(bad_line);
	return err;
}

/* What is there stays if nothing comes in its place. */
static int build_beside(const struct dp_tracer_options *opt)
{
	struct dp_tracer_options to = *opt;
	char *bytes = NULL;
	size_t n = 0;
	int err;

	to.out = open_memstream(&bytes, &n);
	if (!to.out)
		return cannot_write("the output");
	err = build_to(&to);
	if (fclose(to.out) && !err)
		err = cannot_write("the output");
	if (!err)
		err = write_beside(opt->specs[0], bytes, n);
	free(bytes);
	return err;
}

static int build(const struct dp_tracer_options *opt)
{
	if (opt->nr_specs != 1)
		return dp_usage_error("--build-ppdf needs a FILE");
	return opt->out == stdout ? build_beside(opt) : build_to(opt);
}

static int by_name(const struct dp_tracer_options *opt, const char *command,
		   int (*how)(const struct dp_tracer_options *opt,
			      struct dp_diag *diag))
{
	struct dp_diag diag;
	int err;

	if (opt->nr_specs)
		return dp_usage_error("%s takes no name (\"%s\")", command,
				      opt->specs[0]);
	dp_diag_clear(&diag);
	err = how(opt, &diag);
	if (err > 0 && !opt->quiet)
		dp_output_print(stderr,
				"dprobes: no process holds such a program; "
				"dprobes --insert FILE -P PID inserts one\n");
	return err < 0 ? dp_complain(err, NULL, &diag) : err;
}

static int remove_programs(const struct dp_tracer_options *opt)
{
	return by_name(opt, "--remove", dp_tracer_remove);
}

static int query(const struct dp_tracer_options *opt)
{
	return by_name(opt, "--query", dp_tracer_query);
}

static const struct dp_command insert_command = {
	.name = "--insert",
	.help = insert_help,
	.examples = "  dprobes --insert examples/malloc.dp -P 1234\n",
	.options = "poqv" DP_TAKES_JSON DP_TAKES_RINGS DP_TAKES_MANGLED
		DP_TAKES_SOURCES DP_TAKES_FACILITIES,
	.run = insert,
};

static const struct dp_command apply_command = {
	.name = "--apply-ppdf",
	.help = apply_help,
	.examples = "  dprobes --apply-ppdf malloc.ppdf -P 1234\n",
	.options = "poqv" DP_TAKES_JSON DP_TAKES_RINGS DP_TAKES_MANGLED
		   "W" DP_TAKES_FACILITIES,
	.run = insert,
};

static const struct dp_command build_command = {
	.name = "--build-ppdf",
	.help = build_help,
	.examples =
		"  dprobes --build-ppdf prog.dp --sym /usr/lib/debug/prog -o prog.ppdf\n",
	.options = "o" DP_TAKES_SOURCES,
	.run = build,
};

static const struct dp_command remove_command = {
	.name = "--remove",
	.help = remove_help,
	.examples = "  dprobes --remove --all\n",
	.options = "pq",
	.run = remove_programs,
};

static const struct dp_command query_command = {
	.name = "--query",
	.help = query_help,
	.examples = "  dprobes --query --all --extended\n",
	.options = "poq" DP_TAKES_JSON,
	.run = query,
};

/** struct classic - a command; @file: it takes one */
static const struct classic {
	char brief;
	const char *full;
	bool file;
	const struct dp_command *cmd;
	const struct option_word *words;
} commands[] = {
	{ 'i', "insert", true, &insert_command, insert_words },
	{ 'p', "apply-ppdf", true, &apply_command, insert_words },
	{ 'b', "build-ppdf", true, &build_command, build_words },
	{ 'r', "remove", false, &remove_command, name_words },
	{ 'q', "query", false, &query_command, name_words },
};

static bool is_command(const struct classic *c, const char *word,
		       const char **value)
{
	const struct option_word o = { .brief = c->brief,
				       .full = c->full,
				       .value = c->file };

	return dp_words_is(&o, word, value) && (c->file || !*value);
}

static void explain_stop_cpus(const struct words *w,
			      const struct dp_tracer_options *opt)
{
	if (w->stop_cpus && !opt->quiet)
		dp_output_print(
			stderr,
			"dprobes: --stop-cpus is not needed: probed instructions run elsewhere, so that no hit is missed\n");
}

static int run(const struct classic *c, struct words *w,
	       struct dp_tracer_options *opt)
{
	bool done = false;
	int err = parse(c->cmd, w, opt, &done);

	if (!opt->mangled)
		dp_demangle_names();
	if (err || done)
		return err;
	if (!c->file && w->all == (w->classic.name != NULL))
		return dp_usage_error("%s needs --all or --name NAME",
				      c->cmd->name);
	w->classic.ppdf = c->cmd == &apply_command;
	explain_stop_cpus(w, opt);
	return c->cmd->run(opt);
}

bool dp_classic(int argc, char **argv, struct dp_tracer_options *opt,
		int *status)
{
	size_t i, n = sizeof(commands) / sizeof(commands[0]);
	static struct words w; /* the options point into it */
	const char *file = NULL;
	int at = 2;

	for (i = 0; i < n && !is_command(&commands[i], argv[1], &file);)
		i++;
	if (i == n)
		return false;
	*status = dp_words_begin(&w, argc, argv);
	if (commands[i].file && !file && argc > 2 && *argv[2] != '-')
		file = argv[at++];
	if (!*status && file)
		*status = dp_words_put(&w, file);
	if (!*status)
		*status = dp_words_sort(&w, commands[i].words,
					commands[i].cmd->name, argv + at);
	if (!*status)
		*status = run(&commands[i], &w, opt);
	return true;
}
