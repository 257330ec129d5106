/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tracer: one run of the tool, from specs to a report. */
#ifndef DP_TRACER_H
#define DP_TRACER_H

#include <stdio.h>
#include <sys/types.h>
#include "engine/layout/aggregate.h"
#include "engine/layout/ring.h"
#include "lang/lang.h"
#include "resolve/points.h"

/** enum dp_log_target - where records of programs go. A ring is read, and its records are printed. */
enum dp_log_target {
	DP_LOG_RING,
	DP_LOG_FILE,
	DP_LOG_SYSLOG,
	DP_LOG_KERNEL,
};

/** enum dp_log_item - what the header of a record in a log has besides the CPU */
enum dp_log_item {
	DP_LOG_PROCNAME = 1,
	DP_LOG_PID = 2,
	DP_LOG_UID = 4,
	DP_LOG_CSEIP = 8,
	DP_LOG_TSC = 16,
	DP_LOG_ALL = 31,
};

/** enum dp_format - how calls are written */
enum dp_format {
	DP_FORMAT_TEXT,
	DP_FORMAT_CHROME, /* Chrome's trace events, which Perfetto reads, too */
};

/** struct dp_facility_command - "--facility N=CMD": takes the records of "exit N" */
struct dp_facility_command {
	u32 number;
	const char *command;
};

/** struct dp_tracer_options - what the command line asked for */
struct dp_tracer_options {
	pid_t pid; /* 0: launch @argv */
	char *const *argv;
	double duration; /* seconds, 0: until the end */
	double interval; /* seconds between tables of stat, 0: only the last one */
	u32 map_size, maxactive; /* keys, calls; 0: as usual */
	u64 top; /* rows of a table, at most; 0: any number */
	bool all; /* rows of probes without a hit, too */
	bool json, quiet, verbose;
	bool show; /* of leaks: print its specs, and do nothing else */
	const char *flame; /* of stacks: a file for a flame graph; or NULL */
	FILE *out;
	const char *const *specs;
	size_t nr_specs;
	const char **aliases; /* of insmod: "name=function" */
	size_t nr_aliases;
	bool watch, pending; /* dmesg: wait for more; wait for any library */
	size_t buffer; /* bytes of each CPU's ring of records, at most DP_RING_MOST; 0: as usual */
	bool block; /* hits wait while it is full */
	bool coarse; /* records have the time at which they are read */
	u64 records; /* end after so many; 0: never */
	const char *output; /* the name of @out's file; NULL: it is stdout */
	size_t keep; /* bytes for the last lines, printed at the end; 0: all are printed */
	const char *until; /* a spec whose hit ends the run; or NULL */
	u64 rotate; /* bytes of a file of output, at most; 0: any number */
	u32 rotate_files;
	struct dp_rotation *rotation; /* behind @out, or NULL */
	struct dp_recorder *recorder; /* in front of @behind; or NULL */
	FILE *behind; /* where what is written to @out goes; NULL: it is @out */
	u64 nth, every; /* of inject: only such calls; 0: all */
	double prob; /* of inject: of so many calls; 0: all */
	u64 seed; /* of what is drawn for @prob */
	u64 least_ns; /* of graph: calls that took less are not shown */
	u32 depth; /* of graph and stacks: so many levels, at most; 0: any number */
	enum dp_format format; /* of graph */
	bool inlined; /* a function's inlined copies, too */
	bool stack, folded; /* with the stack of each hit; a line a stack */
	bool mangled; /* names are linkage names, given and shown */
	bool everybody; /* of run: probes on files are for all processes */
	bool children; /* follow what the target forks and executes */
	/* of run: what texts of programs refer to, and what programs may ask for */
	struct dp_lang_define *defines;
	size_t nr_defines;
	const char **includes;
	size_t nr_includes;
	u32 allow; /* enum dp_vm_allow */
	/* of run: what takes over when a program ends */
	struct dp_facility_command *facilities;
	size_t nr_facilities;
	enum dp_log_target log_target;
	u32 log_items; /* enum dp_log_item */
	const char *
		exit; /* HOOK:EXIT that is armed, or disarmed if @disarms; NULL: none */
	bool disarms;
	const char *core; /* names of core dumps, a pattern; NULL: as usual */
	const char *debugger; /* command for a stopped process; or NULL */
	const char *raw; /* file of binary records; or NULL */
	bool minidump; /* they have only stacks */
	bool unformatted; /* a log has bytes, and no rows */
	const struct dp_classic_options *classic; /* of DProbes' own commands */
};

/**
 * struct dp_classic_options - what DProbes' own commands have besides
 * @merge, @replace: what becomes of a program of that name that is there
 * @any_opcode: opcodes are not compared; @ppdf: the file is one that --build-ppdf has made
 * @targeted: --log-target was given
 * @groups, @types: lists of the points that are wanted, or NULL: all are
 * @symbols: a file with the symbols that points name, or NULL
 * @name: programs for this module; NULL: all; @extended: tell more
 * @title: give the process this name in listings of processes
 */
struct dp_classic_options {
	bool merge, replace, any_opcode, ppdf, targeted, extended;
	const char *groups, *types, *symbols, *name;
	void (*title)(const char *name);
};

struct dp_recorder;
struct dp_rotation;

/** dp_output_left() - has the reader of @out, a pipe, closed it? That is no error: it has what it wanted. */
bool dp_output_left(FILE *out);

/**
 * dp_tracer_stat() - count hits until the target ends, ^C, or @duration
 *
 * Prints the counts to @out and, unless quiet, the summary to stderr. An error about a spec is left in
 * @diag with @bad_spec set to the spec's text. @died_of: the signal that the launched command died of
 * Return: the exit status for the command, 0..255, or a negative errno with words in @diag.
 */
int dp_tracer_stat(const struct dp_tracer_options *opt, const char **bad_spec,
		   int *died_of, struct dp_diag *diag);

/**
 * dp_tracer_trace() - print a line for every hit
 * dp_tracer_stacks() - count hits by the stacks of their threads, and print these as a tree
 * dp_tracer_graph() - print the calls of functions, the specs, as trees
 * dp_tracer_leaks() - show what is taken and not given back; without a spec, memory
 * dp_tracer_inject() - have calls return values, or change their arguments, and list these calls. The
 *   specs are "SPEC = VALUE[, errno E]" or "SPEC: ARGUMENT = VALUE"
 * Otherwise as dp_tracer_stat().
 */
typedef int dp_tracer_verb(const struct dp_tracer_options *opt,
			   const char **bad_spec, int *died_of,
			   struct dp_diag *diag);
dp_tracer_verb dp_tracer_trace, dp_tracer_stacks, dp_tracer_graph,
	dp_tracer_leaks, dp_tracer_inject;

/**
 * dp_tracer_run() - run probe programs and print their records
 * @opt: its specs are the files of the programs
 * @bad_line: on an error that has a place in a file, that line, over the caret
 *            of @diag; free()d by the caller
 * Otherwise as dp_tracer_stat().
 */
int dp_tracer_run(const struct dp_tracer_options *opt, char **bad_line,
		  int *died_of, struct dp_diag *diag);

/**
 * dp_tracer_insert() - put the program of a file into process @pid, where it stays
 * @opt: its spec is the file; @classic is set
 * @bad_line: as for dp_tracer_run()
 *
 * A process of its own holds it, in which this returns, too, when it has ended.
 * Return: 0: all points are armed; 1: some are, or none, and words have been printed; a negative
 * errno with words: -EEXIST a program of that name is there; -EBUSY another dprobes is.
 */
int dp_tracer_insert(const struct dp_tracer_options *opt, char **bad_line,
		     struct dp_diag *diag);
/** dp_tracer_build() - write the program of a file, its spec, to @out as a PPDF file, with its symbols
 *  resolved. @bad_line: as for dp_tracer_run(). Return: 0 or a negative errno with words. */
int dp_tracer_build(const struct dp_tracer_options *opt, char **bad_line,
		    struct dp_diag *diag);
/** dp_tracer_remove() - take out programs that are held. Return: 0; 1: there is none; a negative
 *  errno with words. */
int dp_tracer_remove(const struct dp_tracer_options *opt, struct dp_diag *diag);
/** dp_tracer_query() - print what is held, to @out. Return: as dp_tracer_remove(). */
int dp_tracer_query(const struct dp_tracer_options *opt, struct dp_diag *diag);

/** dp_tracer_allow() - what a list of words lets programs ask for: enum dp_vm_allow. Return: NULL, or a bad word */
const char *dp_tracer_allow(const char *list, u32 *allow);

/** dp_tracer_log_target(), dp_tracer_log_items() - the target of this name; the items of a list.
 *  Return: NULL, or a word that is none. dp_tracer_log_later(): why it is none. */
const char *dp_tracer_log_target(const char *name, enum dp_log_target *target);
const char *dp_tracer_log_items(const char *list, u32 *items);
const char *dp_tracer_log_later(const char *word);
/** dp_tracer_log_listens() - does anybody take what syslog(3) sends? */
bool dp_tracer_log_listens(void);
/** dp_tracer_list_bad() - where is a list of numbers, as "1,4-6", wrong? NULL: nowhere */
const char *dp_tracer_list_bad(const char *list);
/** dp_tracer_core_bad() - where is a pattern for names of core dumps wrong? NULL: nowhere */
const char *dp_tracer_core_bad(const char *pattern);
/** dp_tracer_debugger_bad() - the same of a debugger's command */
const char *dp_tracer_debugger_bad(const char *command);

/**
 * struct dp_tracer_vars_options - which variables to show
 * @pid: of this process, 0: of all
 * @name: of programs for this module, NULL: of all
 * @local, @global: only these; with neither set, both
 * @reset: set them to zero instead
 */
struct dp_tracer_vars_options {
	pid_t pid;
	const char *name;
	bool local, global, reset, json;
	u32 first, last;
	FILE *out;
};

/**
 * dp_tracer_vars() - show variables of programs that any running dprobes has loaded
 * Return: 0, 1 when there are none, or a negative errno with words.
 */
int dp_tracer_vars(const struct dp_tracer_vars_options *opt,
		   struct dp_diag *diag);

/**
 * dp_tracer_doctor() - print what stands in the way of probing @pid, or of any probing (0)
 * Return: 0 if nothing does, else 1.
 */
int dp_tracer_doctor(const struct dp_tracer_options *opt);

/** dp_tracer_list() - print what specs would probe, one pasteable spec a line */
int dp_tracer_list(const struct dp_tracer_options *opt, const char **bad_spec,
		   struct dp_diag *diag);

/** dp_tracer_prepare() - to be called first: with RLIMIT_FSIZE exceeded, writing fails
 *  instead of ending the tool by a signal */
void dp_tracer_prepare(void);

/**
 * dp_tracer_insmod() - run @argv with a probe module in it
 *
 * The first spec is the module, the others are its parameters.
 * @sig: signal that the command died of, or 0
 * Return: exit status of the command; a negative errno if the module was refused.
 */
int dp_tracer_insmod(const struct dp_tracer_options *opt, int *sig,
		     struct dp_diag *diag);

/**
 * dp_tracer_insmod_pid() - load a module into process @pid, which uses libdprobes
 *
 * What the module's init prints is written to @out.
 * Return: 0; a negative errno with words: -EOPNOTSUPP the process does not use
 * libdprobes; -EAGAIN none of its threads can be asked just now; as dp_compat_load().
 */
int dp_tracer_insmod_pid(const struct dp_tracer_options *opt,
			 struct dp_diag *diag);
/**
 * dp_tracer_knob() - show or set a knob of all probes of a process that uses libdprobes,
 * or, without a pid, of every such process
 * @optimization: the knob kprobes-optimization; else enabled
 * @value: 0, 1, or -1: only show it
 * @name: shown before the value, with " = "; "" for none
 * Return: 0 or a negative errno with words.
 */
int dp_tracer_knob(const struct dp_tracer_options *opt, bool optimization,
		   int value, const char *name, struct dp_diag *diag);

/** dp_tracer_hooks() - list the hooks of process @pid and, if it uses libdprobes, their exits; or, with
 *  opt->exit, which is HOOK:EXIT, arm or disarm this one. Return: as dp_tracer_insmod_pid(). */
int dp_tracer_hooks(const struct dp_tracer_options *opt, struct dp_diag *diag);

/** dp_tracer_rmmod() - unload the module that the first spec names from process @pid.
 *  Return: as dp_tracer_insmod_pid(). */
int dp_tracer_rmmod(const struct dp_tracer_options *opt, struct dp_diag *diag);
/** dp_tracer_lsmod() - list the modules of @pid, or of all processes (0); reads only */
int dp_tracer_lsmod(const struct dp_tracer_options *opt, struct dp_diag *diag);
/** dp_tracer_dmesg() - print the last lines of @pid's modules; with @watch also new lines,
 *  until ^C, @duration or the end of @pid; reads only */
int dp_tracer_dmesg(const struct dp_tracer_options *opt, struct dp_diag *diag);

/**
 * dp_tracer_detach() - take out of @pid what a tool that was killed left in it
 * Return: 1 done; 0 there was nothing; as dp_process_attach(), -EBUSY also while
 * the tool lives.
 */
int dp_tracer_detach(const struct dp_tracer_options *opt, struct dp_diag *diag);

/**
 * dp_tracer_switch() - disable or enable probes that another dprobes has in @pid
 * @bad_spec: set if one of the specs is wrong
 * Return: 0; -ENOENT no such probe; -ESRCH, -EPERM, -EBUSY; -EAGAIN the other dprobes does
 * not answer, and nothing has changed.
 */
int dp_tracer_switch(const struct dp_tracer_options *opt, bool on,
		     const char **bad_spec, struct dp_diag *diag);

/** dp_tracer_list_armed() - print kprobes/list of @pid, or of every process (0) */
int dp_tracer_list_armed(const struct dp_tracer_options *opt,
			 struct dp_diag *diag);

#endif
