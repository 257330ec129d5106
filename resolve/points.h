/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* points: the addresses that a spec stands for. */
#ifndef DP_RESOLVE_POINTS_H
#define DP_RESOLVE_POINTS_H

#include <dprobes/diag.h>
#include "port_types.h"
#include "proc/watch.h"
#include "sym/types.h"

struct dp_exit;
struct dp_modules;
struct dp_tail_targets;
struct dp_process;
struct dp_prototype;

/* spec: [KIND:][MODULE:]POINT[(ARGS)][ if COND], by which a user names points. */

/** enum dp_spec_kind - the KIND of a spec; all but 'j' can be armed so far */
enum dp_spec_kind {
	DP_SPEC_PROBE, /* p (default) */
	DP_SPEC_RETURN, /* r, or func%return */
	DP_SPEC_JPROBE, /* j */
	DP_SPEC_USDT, /* usdt: [MODULE:]PROVIDER:NAME, a static tracepoint */
	DP_SPEC_HOOK, /* hook: all places of the hooks of that name */
	DP_SPEC_WATCH, /* w: POINT[/LEN][:rw|:w|:x] */
};

/** enum dp_point_form - how the POINT of a spec is written */
enum dp_point_form {
	DP_POINT_SYMBOL, /* func, func+0x1c, globs */
	DP_POINT_ADDRESS, /* 0xADDR */
	DP_POINT_FILE_OFFSET, /* +FILEOFFSET */
	DP_POINT_LINE, /* file.c:42 */
	DP_POINT_TRACEPOINT, /* of usdt: */
};

/** enum dp_inlines - are the inlined copies of a function its points, too? */
enum dp_inlines {
	DP_INLINES_NEVER,
	DP_INLINES_ALONE, /* if no symbol has its name */
	DP_INLINES_TOO,
};

/**
 * struct dp_asked - what debug information has told of one place in a file
 * @dev, @ino, @time: of the file, and when it was changed; @offset: of the place, from the
 *                    file's first address; @bias: where it is loaded
 * @note: of a tracepoint: which of the file's notes tells of it
 * @prototype: for free()
 */
struct dp_asked {
	struct dp_asked *next;
	u64 dev, ino, time, offset, bias, note;
	struct dp_prototype *prototype;
};

/**
 * struct dp_spec - [KIND:][MODULE:]POINT[(ARGS)][ if COND], taken apart
 *
 * A watchpoint's POINT is SYMBOL[+OFF][/LEN] or 0xADDR/LEN, and :rw, :w or :x may follow it.
 * Strings are the object's own; dp_spec_free() frees them. Columns are 0-based
 * offsets into @text, for carets.
 */
struct dp_spec {
	char *text;
	enum dp_spec_kind kind;
	char *module; /* "" = main program */
	char *name; /* symbol or glob; source file for LINE */
	/* of a tracepoint, or a glob. Without @module, it may be a module's name as well. Else NULL */
	char *provider;
	enum dp_point_form form;
	u64 value; /* address, file offset or line */
	u64 offset; /* +off of a symbol */
	bool has_offset; /* for a line, only its column counts */
	bool glob;
	enum dp_inlines inlines;
	bool stack; /* with the stack of each hit */
	bool bare; /* nothing is known of arguments: it has inlined copies, or is a hook */
	char *args; /* text between the parentheses, or NULL */
	char *aggs; /* text between the braces, or NULL */
	char *cond; /* text after "if", or NULL */
	bool counted; /* of its calls nothing but their number is wanted */
	bool records; /* its hits make records */
	bool found; /* in at least one process */
	struct dp_type ret; /* type of retval among @args, if they give it */
	u32 log; /* bytes of a record, at most */
	const struct dp_prototype
		*prototype; /* of its function; NULL: none is known */
	const struct dp_prototype *table; /* what a table has of it, or NULL */
	struct dp_asked
		*asked; /* what debug information has told, of each place */
	bool asks; /* it has a name that only debug information may know */
	enum dp_watch_access access; /* of a watchpoint */
	u64 len; /* bytes that it watches; 0: those of its variable */
	int module_col, point_col, offset_col, args_col, aggs_col, cond_col,
		len_col;
};

/** dp_list_line_spec() - the spec of a line of kprobes/list, malloc()ed; NULL: @text is no
 *  such line */
char *dp_list_line_spec(const char *text);

/**
 * dp_spec_parse() - take a spec apart
 *
 * A whole line of "dprobes list" is a spec too; columns then count in the spec that the
 * line means.
 * Return: 0; -EINVAL malformed, with a caret in @diag; -ENOMEM.
 */
int dp_spec_parse(const char *text, struct dp_spec *spec, struct dp_diag *diag);
void dp_spec_free(struct dp_spec *spec);

/** dp_spec_is_glob() - is its module or its name a glob, which may have any number of matches? */
bool dp_spec_is_glob(const struct dp_spec *spec);

/**
 * dp_spec_supported() - can this version do what the spec asks for?
 * Return: 0; -EOPNOTSUPP with the name of the form that is missing and a caret.
 */
int dp_spec_supported(const struct dp_spec *spec, struct dp_diag *diag);

/** dp_spec_colon() - the first colon of @text that separates, or NULL. "::" is part of a
 *  name. */
const char *dp_spec_colon(const char *text);

/** dp_spec_reserved() - would a spec read this module name as something else? */
bool dp_spec_reserved(const char *module);

/**
 * struct dp_early_start - where the jump of an exit's probe may begin before the exit
 * @addr: 0: nowhere
 * @better: a jump at the exit would be worse, if there is room for one. Nothing else branches to
 *          what is between @addr and the exit's end; or the other jump reaches into another function
 * @exact: a jump from there ends with the exit, and nothing else branches to it, so it needs no
 *         breakpoints inside
 */
struct dp_early_start {
	u64 addr;
	bool better, exact;
};

/**
 * struct dp_branch - a branch to an exit, which may be displaced together with what is behind it
 * @addr: of the branch; @size: bytes from there on to which nothing else branches, the first excepted
 * @exit: index of the exit
 */
struct dp_branch {
	u64 addr;
	u32 size, exit;
};

/**
 * struct dp_point - one address that a spec stands for
 * @name: canonical, pasteable spec, "libc.so.6:malloc+0x4"; of a line, an inlined copy and a
 *        tracepoint, where that is, too, if there are several: "prog:prog.c:23[main+0x4]"; owned
 * @canonical: the pasteable spec of such a point, else NULL; @place: more of where it is, or NULL; owned
 * @probe: its number in the engine, ascending over the points; a refused point has that
 *         of the point before it. @program: number of the program that it runs
 */
struct dp_point {
	char *name, *canonical, *place;
	u64 addr;
	const struct dp_spec *spec;
	u32 probe, program;
	/* parts of @name for `list` */
	char *symbol; /* may be "" */
	u64 offset; /* into symbol */
	char *module; /* basename of the module */
	bool several; /* its spec has others, too: that it is refused is no error */
	bool bare; /* debug information has led to it, and it is no function's entry */
	bool gone; /* its module has been unloaded */
	bool retired; /* what it was probed for has been taken out, for good */
	u8 len; /* bytes that a watchpoint watches */
	char *arguments; /* of a tracepoint, as its note has them; owned */
	u32 note; /* its number among the notes of its file */
	u64 semaphore; /* its address; 0: it has none */
	int refused; /* negative errno if it cannot be probed */
	char reason[160]; /* words for @refused */
	/* of a return probe: the exits of its function */
	struct dp_exit *exits;
	struct dp_early_start *early_starts; /* per exit */
	struct dp_branch *branches; /* branches to exits without room */
	size_t nr_exits, nr_branches;
	const struct dp_prototype *
		names; /* that its spec's values have here; NULL: those of the spec */
	struct dp_type ret; /* what its function returns, once @typed */
	const struct dp_prototype
		*prototype; /* what else is known of it, or NULL */
	bool typed;
};

/**
 * struct dp_points - a list of points
 * @skipped: matches of globs that have no address, as IFUNCs whose
 *           implementation the process has not chosen
 * @tail_targets: functions that tracked ones jump to: see resolve/exits.h; owned
 */
struct dp_points {
	struct dp_point *v;
	size_t n, cap;
	size_t skipped;
	struct dp_tail_targets *tail_targets;
};

/**
 * dp_points_resolve() - the addresses of one spec in one process
 *
 * Checks all that can be known without touching the process: the address is text, an
 * instruction boundary, relocatable, no breakpoint, outside restartable sequences. The
 * exits of a function to be tracked pass the same checks. An exact spec fails with words
 * and a caret; matches of a glob that cannot be probed are kept with @refused set.
 * Return: 0; -ENOENT, -EINVAL, -EILSEQ, -EBUSY, -EOPNOTSUPP, -ENOMEM.
 */
int dp_points_resolve(struct dp_process *proc, struct dp_modules *mods,
		      const struct dp_spec *spec, struct dp_points *points,
		      struct dp_diag *diag);
/** dp_points_find() - the same without any check: only @name, @addr and @symbol count. For
 *  text that is probed already. Return: -ENOENT, -EINVAL, -ENOMEM. */
int dp_points_find(struct dp_process *proc, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag);
/** dp_points_renew() - find out again where tail jumps of all points lead. Return: 0 or -ENOMEM. */
int dp_points_renew(struct dp_process *proc, struct dp_modules *mods,
		    struct dp_points *points);
/** dp_spec_has_tracepoints() - is there any that the spec, a usdt:, means? */
bool dp_spec_has_tracepoints(struct dp_modules *mods,
			     const struct dp_spec *spec);
/** dp_point_refuse() - note why @point cannot be probed. Return: @err */
int dp_point_refuse(struct dp_point *point, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** dp_points_cut() - forget those from the @n-th on */
void dp_points_cut(struct dp_points *points, size_t n);
void dp_points_free(struct dp_points *points);
/** dp_points_copy() - copy the points for a process with the same modules at the same
 *  addresses, without tail targets. @to begins as zeros. Return: 0 or -ENOMEM. */
int dp_points_copy(struct dp_points *to, const struct dp_points *from);

#endif
