/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: where a function that is to be tracked is left. */
#ifndef DP_RESOLVE_EXITS_H
#define DP_RESOLVE_EXITS_H

#include "resolve/points.h"
#include "sym/exits.h"
#include "sym/sym.h"

/**
 * dp_exit_reader_find() - fill in @point->exits
 * @m: the module of the point
 * Return: 0; a negative errno with the reason in @point.
 */
int dp_exit_reader_find(struct dp_exit_reader *reader, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *point);

/**
 * dp_exits_track() - where the function at @addr is left, for the library
 * @list: filled in; free with dp_exits_free()
 * Return: 0; -EINVAL no function begins there; -EOPNOTSUPP where it is left is not known,
 * or not when; -ENOMEM; with words in @diag.
 */
int dp_exits_track(struct dp_exit_reader *reader, struct dp_modules *mods,
		   u64 addr, struct dp_exit_list *list, struct dp_diag *diag);

/** dp_exits_begin() - does a function begin at @addr, as far as is known?
 *  Return: 0; -EINVAL with words in @diag. */
int dp_exits_begin(struct dp_modules *mods, u64 addr, struct dp_diag *diag);

/*
 * tail_targets: functions that tracked ones jump to, and which return in their place.
 *
 * A call that ends in a tail jump ends, for its caller, where the function that is
 * jumped to returns. So the exits of that one are probed, too, and those of the
 * ones that it jumps to, as far as it can be known where the jumps go.
 */

/* More are not looked for: the other jumps are where calls end. */
#define DP_TAIL_TARGETS_MAX 4096
#define DP_READERS 8

/**
 * struct dp_tail_targets - begins as zeros
 * @v: the functions, as points without a name; only @addr, @refused and what is
 *     known of their exits. @seen: their jumps have been looked at
 * @points_seen: so have those of so many points
 * @covered: addresses of functions whose exits are probed, ascending
 * @reader: of exits, of the modules asked for last
 */
struct dp_tail_targets {
	struct dp_point *v;
	size_t n, cap, seen, points_seen;
	u64 *covered;
	size_t n_covered;
	struct dp_exit_reader reader[DP_READERS];
	size_t next_reader;
};

/** dp_tail_targets_of() - that of @points, made if there is none; NULL: out of memory */
struct dp_tail_targets *dp_tail_targets_of(struct dp_points *points);
/** dp_tail_targets_reader() - for the exits of a module's functions */
struct dp_exit_reader *
dp_tail_targets_reader(struct dp_tail_targets *tail_targets,
		       const struct dp_module *m);

/**
 * dp_tail_targets_resolve() - find out where tail jumps go
 * @read: fills in the exits of a function, or refuses it
 *
 * Of points that are new, and of what these lead to. In each @to of an exit is then
 * the function that it jumps to, or 0.
 * Return: 0 or -ENOMEM.
 */
int dp_tail_targets_resolve(struct dp_points *points, struct dp_process *proc,
			    void (*read)(void *arg, struct dp_point *function),
			    void *arg);

/** dp_tail_targets_cover() - which functions' exits will be probed, after the last point
 *  was resolved. Return: 0 or -ENOMEM. */
int dp_tail_targets_cover(struct dp_points *points);
/** dp_tail_targets_is_covered() - are those of the function at @addr? */
bool dp_tail_targets_is_covered(const struct dp_points *points, u64 addr);

void dp_tail_targets_free(struct dp_points *points);

#endif
