/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* points: the addresses that a spec stands for. */
#ifndef DP_RESOLVE_POINTS_H
#define DP_RESOLVE_POINTS_H

#include "resolve/spec.h"
#include "sym/types.h"

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
/** dp_point_refuse() - it cannot be probed: words for its reason. Return: @err */
int dp_point_refuse(struct dp_point *point, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void dp_points_free(struct dp_points *points);
/** dp_points_copy() - of another process, where the same is at the same addresses; but
 *  nothing of where tail jumps lead. @to begins as zeros. Return: 0 or -ENOMEM. */
int dp_points_copy(struct dp_points *to, const struct dp_points *from);

#endif
