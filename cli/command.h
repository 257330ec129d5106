/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* command: the interface of the tool's verbs, and what they share. */
#ifndef DP_COMMAND_H
#define DP_COMMAND_H

#include "tracer/tracer.h"

#define DP_VERSION "0.1.0"

/* Longer than the longest record. */
#define DP_OUTPUT_BUFFER 65536

enum {
	DP_EXIT_OK = 0,
	DP_EXIT_FAILURE = 1,
	DP_EXIT_USAGE = 2,
	DP_EXIT_NO_EXEC = 126,
	DP_EXIT_NO_COMMAND = 127
};

#define DP_TAKES_JSON "J"
#define DP_TAKES_DURATION "S"
#define DP_TAKES_PENDING "P"
#define DP_TAKES_RINGS "BKT" /* --buffer, --block, --coarse-time */
#define DP_TAKES_MAXACTIVE "x" /* --maxactive */
#define DP_TAKES_TABLE "AMY" /* --all, --top, --map-size */
#define DP_TAKES_RECORDER "dur" /* --keep, --until, --rotate */
#define DP_TAKES_INJECTION "kebs" /* --nth, --every, --prob, --seed */
#define DP_TAKES_GRAPH "gyt" /* --depth, --format, -t */
#define DP_TAKES_STACKS "gYcj" /* --depth, --map-size, --folded, --flame */
#define DP_TAKES_LEAKS "MBKz" /* --top, --buffer, --block, --show-spec */
#define DP_TAKES_SPEC_FILES "@" /* @FILE, in place of a SPEC */
#define DP_TAKES_INLINED "I"
#define DP_TAKES_MANGLED "G"
#define DP_TAKES_STACK "H"
#define DP_TAKES_SOURCES "DCW" /* -D, --include, --allow */
#define DP_TAKES_FACILITIES \
	"FLOURNEZ" /* --facility, --log-target, --log, --unformatted-output, --core, --minidump, --debugger, --raw */
#define DP_TAKES_COMMAND "-" /* -- CMD [ARGS] */

/**
 * struct dp_command - one verb
 * @summary: half a line for the list of verbs
 * @help: the text of --help: usage, options, what else there is to know
 * @examples: one or two command lines behind it, two spaces before each
 * @options: the options it uses besides -h and -V: a letter each, DP_TAKES_* for
 *           options without a letter
 * @run: Return: exit status of the tool
 */
struct dp_command {
	const char *name;
	const char *summary;
	const char *help;
	const char *examples;
	const char *options;
	int (*run)(const struct dp_tracer_options *opt);
};

extern const struct dp_command dp_cmd_stat, dp_cmd_trace, dp_cmd_run,
	dp_cmd_list, dp_cmd_insmod, dp_cmd_lsmod, dp_cmd_rmmod, dp_cmd_enabled,
	dp_cmd_sysctl, dp_cmd_dmesg, dp_cmd_doctor, dp_cmd_detach,
	dp_cmd_disable, dp_cmd_enable, dp_cmd_hooks, dp_cmd_inject,
	dp_cmd_graph, dp_cmd_stacks, dp_cmd_leaks;

/** dp_verb_get() - the verb of this name. Return: 0, or DP_EXIT_USAGE with words on stderr, the
 *  nearest verb among them. */
int dp_verb_get(const char *name, const struct dp_command **cmd);
/** dp_verb_explain() - print help and examples of a verb */
void dp_verb_explain(const struct dp_command *cmd);
/** dp_verb_help() - dprobes help [VERB]; @argv: what stands behind "help". Return: exit status. */
int dp_verb_help(int argc, char *const *argv);

/**
 * dp_options_parse() - parse options, specs and the command behind --
 * @argv: from the word after the verb on
 * @done: set when --help or --version was printed and there is nothing to run
 * Return: 0, or DP_EXIT_USAGE/DP_EXIT_FAILURE with words on stderr.
 */
int dp_options_parse(const struct dp_command *cmd, int argc, char **argv,
		     struct dp_tracer_options *opt, bool *done);

/** dp_option_pid() - read a process id. Return: 0, or DP_EXIT_USAGE with words on stderr. */
int dp_option_pid(const char *text, pid_t *pid);

/** dp_option_size() - read a number of bytes, with k, M or G behind it; @end: what follows.
 *  Return: false: it is none. */
bool dp_option_size(const char *text, const char **end, u64 *bytes);
/** dp_option_keep(), dp_option_rotate(), dp_option_output() - take the value of that option
 *  dp_option_outputs() - open what they ask for together
 *  Return: 0, or DP_EXIT_USAGE or DP_EXIT_FAILURE with words on stderr. */
int dp_option_keep(const char *text, struct dp_tracer_options *opt);
int dp_option_rotate(const char *text, struct dp_tracer_options *opt);
int dp_option_output(const char *path, struct dp_tracer_options *opt);
/** dp_option_writable() - empty a file that will be written. Return: as these */
int dp_option_writable(const char *path);
int dp_option_outputs(struct dp_tracer_options *opt);
/** dp_option_specs() - put what is in a file in place of each "@FILE". Return: as these */
int dp_option_specs(struct dp_tracer_options *opt);

struct option;
/**
 * dp_option_bad() - say what is wrong with an option
 * @verb: whose it is; @options: its long options
 * @c: what getopt_long(3) returned, '?' or ':'; @word: the argument at which it has stopped
 * Return: DP_EXIT_USAGE.
 */
int dp_option_bad(const char *verb, const struct option *options, int c,
		  const char *word);

/** dp_demangle_names() - let names of C++ and Rust be given and shown demangled */
void dp_demangle_names(void);

/** dp_complain() - print a diagnostic with its caret. Return: exit status. */
int dp_complain(int err, const char *bad_spec, const struct dp_diag *diag);

/** dp_classic() - run one of DProbes' own commands, --insert and its like, if @argv[1] is one
 *  @status: exit status. Return: false: it is none. */
bool dp_classic(int argc, char **argv, struct dp_tracer_options *opt,
		int *status);
/** dp_title_begin() - note where the arguments are; dp_title_set() - show the process by this name
 *  from now on. The arguments are gone then. */
void dp_title_begin(int argc, char **argv);
void dp_title_set(const char *name);

/** dp_getvars() - dprobes --getvars. Return: exit status. */
int dp_getvars(int argc, char **argv);

/**
 * dp_finish() - end as the command did, or complain
 * @status: exit status, or a negative errno with words in @diag
 * @sig: signal that the command died of, or 0: then this does not return
 * Return: exit status.
 */
int dp_finish(const struct dp_tracer_options *opt, int status, int sig,
	      const char *bad_spec, const struct dp_diag *diag);

/** dp_usage_error() - print one sentence and a hint at --help. Return: 2. */
int dp_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
