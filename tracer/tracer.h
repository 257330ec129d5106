/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tracer: one run of the tool, from specs to a report.
 */
#ifndef DP_TRACER_H
#define DP_TRACER_H

#include <stdio.h>
#include <sys/types.h>
#include <dprobes/diag.h>
#include "port_types.h"
#include "sym/types.h"

/** enum dp_spec_kind - the KIND of a spec; only 'p' and 'r' can be armed so far */
enum dp_spec_kind {
	DP_SPEC_PROBE, /* p (default) */
	DP_SPEC_RETURN, /* r, or func%return */
	DP_SPEC_JPROBE, /* j */
	DP_SPEC_USDT,
	DP_SPEC_HOOK,
};

/** enum dp_point_form - how the POINT of a spec is written */
enum dp_point_form {
	DP_POINT_SYMBOL, /* func, func+0x1c, globs */
	DP_POINT_ADDRESS, /* 0xADDR */
	DP_POINT_FILE_OFFSET, /* +FILEOFFSET */
	DP_POINT_LINE, /* file.c:42 */
};

/**
 * struct dp_spec - [KIND:][MODULE:]POINT[(ARGS)][ if COND], taken apart
 *
 * Strings are the object's own; dp_spec_free() frees them. Columns are 0-based
 * offsets into @text, for carets.
 */
struct dp_spec {
	char *text;
	enum dp_spec_kind kind;
	char *module; /* "" = main program */
	char *name; /* symbol or glob; source file for LINE */
	enum dp_point_form form;
	u64 value; /* address, file offset or line */
	u64 offset; /* +off of a symbol */
	bool has_offset;
	bool glob;
	char *args; /* text between the parentheses, or NULL */
	char *cond; /* text after "if", or NULL */
	bool found; /* in some process */
	struct dp_type ret; /* of retval among @args, if it says one */
	int module_col, point_col, offset_col, args_col, cond_col;
};

/** dp_list_line_spec() - the spec that a line of kprobes/list means, malloc()ed;
 *  NULL: it is no such line */
char *dp_list_line_spec(const char *text);

/**
 * dp_spec_parse() - take a spec apart
 *
 * A whole line of "dprobes list" is one, too; columns are then those of the spec
 * that it means.
 * Return: 0; -EINVAL malformed, with a caret in @diag; -ENOMEM.
 */
int dp_spec_parse(const char *text, struct dp_spec *spec, struct dp_diag *diag);
void dp_spec_free(struct dp_spec *spec);

/**
 * dp_spec_supported() - can this version do what the spec asks for?
 * Return: 0; -EOPNOTSUPP with the name of the form that is missing and a caret.
 */
int dp_spec_supported(const struct dp_spec *spec, struct dp_diag *diag);

/** dp_spec_reserved() - would a module of this name be read as something else? */
bool dp_spec_reserved(const char *module);

struct dp_process;
struct dp_modules;
struct dp_exit;
struct dp_exit_reader;

/**
 * struct dp_point - one address that a spec stands for
 * @name: canonical, pasteable spec, "libc.so.6:malloc+0x4"; owned
 */
struct dp_point {
	char *name;
	u64 addr;
	const struct dp_spec *spec;
	/* parts of @name for `list` */
	char *symbol; /* may be "" */
	u64 offset; /* into symbol */
	char *module; /* basename of the module */
	bool gone; /* its module has been unloaded */
	int refused; /* negative errno if it cannot be probed */
	char reason[160]; /* words for @refused */
	/* of a return probe: where its function is left */
	struct dp_exit *exits;
	u64 *leads; /* of each where its jump had better begin, or 0 */
	size_t nr_exits;
	struct dp_type ret; /* what it returns, once @typed */
	bool typed;
};

struct dp_onwards;

/**
 * struct dp_points - a list of them
 * @skipped: matches of globs that have no address, as IFUNCs whose
 *           implementation the process has not chosen
 * @onwards: functions that followed ones jump to: see onward.h; owned
 */
struct dp_points {
	struct dp_point *v;
	size_t n, cap;
	size_t skipped;
	struct dp_onwards *onwards;
};

/**
 * dp_points_resolve() - the addresses of one spec in one process
 *
 * Checks everything that can be known without touching the process: that the
 * address is text, an instruction boundary, relocatable, no breakpoint, outside
 * restartable sequences; the same of the exits of a function that is to be
 * followed. An exact spec fails with words and a caret; matches
 * of a glob that cannot be probed are kept with @refused set.
 * Return: 0; -ENOENT, -EINVAL, -EILSEQ, -EBUSY, -EOPNOTSUPP, -ENOMEM.
 */
int dp_points_resolve(struct dp_process *proc, struct dp_modules *mods,
		      const struct dp_spec *spec, struct dp_points *points,
		      struct dp_diag *diag);
/** dp_points_renew() - where tail jumps of all of them lead, looked at again, while none
 *  of them is probed. Return: 0 or -ENOMEM. */
int dp_points_renew(struct dp_process *proc, struct dp_modules *mods,
		    struct dp_points *points);
void dp_points_free(struct dp_points *points);
/** dp_points_copy() - of another process, where the same is at the same addresses; but
 *  nothing of where tail jumps lead. @to begins as zeros. Return: 0 or -ENOMEM. */
int dp_points_copy(struct dp_points *to, const struct dp_points *from);

/** struct dp_tracer_options - what the command line asked for */
struct dp_tracer_options {
	pid_t pid; /* 0: launch @argv */
	char *const *argv;
	double duration; /* seconds, 0: until the end */
	bool json, quiet, verbose;
	FILE *out;
	const char *const *specs;
	size_t nr_specs;
	const char **aliases; /* of insmod: "name=function" */
	size_t nr_aliases;
	bool follow; /* dmesg: wait for more */
	bool pending; /* wait for any library */
	bool children; /* follow what the target forks and executes */
};

/** dp_output_left() - is @out a pipe, or the like, that will not be read any more? That is
 *  no error: its reader has what it wanted. */
bool dp_output_left(FILE *out);

/**
 * dp_tracer_stat() - count hits until the target ends, ^C, or @duration
 *
 * Prints the counts to @out and, unless quiet, the summary to stderr. An error
 * about a spec is left in @diag with @bad_spec set to the spec's text.
 * Return: the exit status for the command, 0..255, or a negative errno with
 * words in @diag.
 * If the launched command died of a signal, @died_of is that signal.
 */
int dp_tracer_stat(const struct dp_tracer_options *opt, const char **bad_spec,
		   int *died_of, struct dp_diag *diag);

/** dp_tracer_trace() - print a line for every hit; else as dp_tracer_stat() */
int dp_tracer_trace(const struct dp_tracer_options *opt, const char **bad_spec,
		    int *died_of, struct dp_diag *diag);

/** struct dp_tracer_run_options - files of probe programs instead of specs */
struct dp_tracer_run_options {
	struct dp_tracer_options common;
	const char *const *files;
	size_t nr_files;
};

/**
 * dp_tracer_run() - run probe programs and print their records
 * @bad_line: on an error that has a place in a file, that line, over the caret
 *            of @diag; free()d by the caller
 * Otherwise as dp_tracer_stat().
 */
int dp_tracer_run(const struct dp_tracer_run_options *opt, char **bad_line,
		  int *died_of, struct dp_diag *diag);

/**
 * struct dp_tracer_vars_options - which variables to show
 * @pid: of this process, 0: of all
 * @name: of programs for this module, NULL: of all
 * @local, @global: neither: both
 * @reset: make them zero instead
 */
struct dp_tracer_vars_options {
	pid_t pid;
	const char *name;
	bool local, global, reset, json;
	u32 first, last;
	FILE *out;
};

/**
 * dp_tracer_vars() - variables of the programs that any dprobes runs
 * Return: 0, 1 when there are none, or a negative errno with words.
 */
int dp_tracer_vars(const struct dp_tracer_vars_options *opt,
		   struct dp_diag *diag);

/**
 * dp_tracer_doctor() - print what stands in the way of probing @pid, or anything (0)
 * Return: 0 if nothing does, else 1.
 */
int dp_tracer_doctor(const struct dp_tracer_options *opt);

/** dp_tracer_list() - print what specs would probe, one pasteable spec a line */
int dp_tracer_list(const struct dp_tracer_options *opt, const char **bad_spec,
		   struct dp_diag *diag);

/** dp_tracer_prepare() - before anything else: a file that must not grow (RLIMIT_FSIZE)
 *  makes writing fail, and does not end the tool by a signal */
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
 * What its init says is written to @out.
 * Return: 0; a negative errno with words: -EOPNOTSUPP it does not use libdprobes;
 * -EAGAIN no thread of it can be asked just now; as dp_compat_load().
 */
int dp_tracer_insmod_pid(const struct dp_tracer_options *opt,
			 struct dp_diag *diag);
/**
 * dp_tracer_knob() - show or turn a knob over all probes of a process that uses
 * libdprobes, or, without a pid, of every such process
 * @optimization: kprobes-optimization; else enabled
 * @value: 0, 1, or -1: only show it
 * @name: shown before the value, with " = "; "" for none
 * Return: 0 or a negative errno with words.
 */
int dp_tracer_knob(const struct dp_tracer_options *opt, bool optimization,
		   int value, const char *name, struct dp_diag *diag);

/** dp_tracer_rmmod() - unload the module that the first spec names; likewise */
int dp_tracer_rmmod(const struct dp_tracer_options *opt, struct dp_diag *diag);
/** dp_tracer_lsmod() - modules of @pid, or of all processes (0); reads only */
int dp_tracer_lsmod(const struct dp_tracer_options *opt, struct dp_diag *diag);
/** dp_tracer_dmesg() - the last lines of @pid's modules; with @follow also those
 *  that come, until ^C, @duration or its end; reads only */
int dp_tracer_dmesg(const struct dp_tracer_options *opt, struct dp_diag *diag);

/**
 * dp_tracer_detach() - take out of @pid what a tool that was ended left in it
 * Return: 1 done; 0 there was nothing; as dp_process_attach(), -EBUSY also while
 * the tool lives.
 */
int dp_tracer_detach(const struct dp_tracer_options *opt, struct dp_diag *diag);

/** dp_tracer_list_armed() - kprobes/list of @pid, or of every process (0) */
int dp_tracer_list_armed(const struct dp_tracer_options *opt,
			 struct dp_diag *diag);

#endif
