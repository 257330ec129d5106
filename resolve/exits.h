/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* exits: the exits of functions that are to be tracked. */
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
 * dp_exits_track() - the exits of the function at @addr, for the library
 * @list: filled in; free with dp_exits_free()
 * Return: 0; -EINVAL no function begins there; -EOPNOTSUPP its exits are not known;
 * -ENOMEM, -EMFILE, -ENFILE; with words in @diag.
 */
int dp_exits_track(struct dp_exit_reader *reader, struct dp_modules *mods,
		   u64 addr, struct dp_exit_list *list, struct dp_diag *diag);

/** dp_exit_way() - the DP_WAY_* of an exit; a tail target's exits are the caller's matter */
u32 dp_exit_way(const struct dp_exit *exit);

/** dp_exits_begin() - does a function begin at @addr, as far as is known?
 *  Return: 0; -EINVAL with words in @diag. */
int dp_exits_begin(struct dp_modules *mods, u64 addr, struct dp_diag *diag);

/*
 * tail_targets: functions that tracked ones jump to, and which return in their place.
 *
 * A call that ends in a tail jump ends, for its caller, where the tail target returns.
 * So the tail target's exits are probed too, and those of its own tail targets, as far
 * as it is known where the jumps go.
 */

/* More tail targets are not looked for: calls end at the other tail jumps. */
#define DP_TAIL_TARGETS_MAX 4096
#define DP_READERS 8

/**
 * struct dp_tail_targets - begins as zeros
 * @v: the tail targets, as points without a name: only @addr, @refused and what is
 *     known of their exits. @seen: of so many the jumps have been looked at
 * @points_seen: the same of points
 * @covered: addresses of functions whose exits are probed, ascending
 * @reader: readers of exits, for the modules asked about last
 */
struct dp_tail_targets {
	struct dp_point *v;
	size_t n, cap, seen, points_seen;
	u64 *covered;
	size_t n_covered;
	struct dp_exit_reader reader[DP_READERS];
	size_t next_reader;
};

/** dp_tail_targets_of() - those of @points, made on demand; NULL: out of memory */
struct dp_tail_targets *dp_tail_targets_of(struct dp_points *points);
/** dp_tail_targets_reader() - a reader for the exits of a module's functions */
struct dp_exit_reader *
dp_tail_targets_reader(struct dp_tail_targets *tail_targets,
		       const struct dp_module *m);

/**
 * dp_tail_targets_resolve() - find out where tail jumps go
 * @read: fills in the exits of a function, or refuses it
 *
 * Looks at new points, and at what these lead to. Afterwards each @to of an exit is the
 * entry of its tail target, or 0.
 * Return: 0 or -ENOMEM.
 */
int dp_tail_targets_resolve(struct dp_points *points, struct dp_modules *mods,
			    void (*read)(void *arg, struct dp_point *function),
			    void *arg);

/** dp_tail_targets_cover() - note the functions whose exits will be probed; call after the
 *  last point is resolved. Return: 0 or -ENOMEM. */
int dp_tail_targets_cover(struct dp_points *points);
/** dp_tail_targets_is_covered() - are the exits of the function at @addr probed? */
bool dp_tail_targets_is_covered(const struct dp_points *points, u64 addr);
/** dp_tail_targets_way() - the DP_WAY_* of an exit of @p, with those exits in mind. A call that is
 *  only counted ends with the jump. */
u32 dp_tail_targets_way(const struct dp_points *points,
			const struct dp_point *p, const struct dp_exit *exit);

void dp_tail_targets_free(struct dp_points *points);

#endif
