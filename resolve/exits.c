// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exits: the exits of functions that are to be tracked. */
#include "resolve/exits.h"
#include "engine/layout/site.h"
#include <stdlib.h>
#include "sym/exits.h"

/*
 * A jump at a ret displaces bytes behind it, and a thread that arrives there traps. An
 * early start displaces bytes before the ret instead, if no jump leads to them.
 */
static u64 find_early_start(const struct dp_code_map *map,
			    const struct dp_exit *exit)
{
	u64 early_start = exit->addr + 1 - DP_JUMP_SIZE, start, end;

	if (exit->len != 1 ||
	    !dp_code_map_target(map, exit->addr, exit->addr + DP_JUMP_SIZE,
				NULL) ||
	    dp_code_map_target(map, early_start, exit->addr + 1, NULL) ||
	    !dp_code_map_boundary(map, early_start) ||
	    dp_code_map_function(map, exit->addr, &start, &end) ||
	    early_start < start)
		return 0;
	return early_start;
}

int dp_exit_reader_find(struct dp_exit_reader *r, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *p)
{
	struct dp_exit_list list = { 0 };
	struct dp_diag diag = { .text = "" };
	const char *why = diag.text;
	size_t i;
	int err = dp_exit_reader_open(r, mods, m, &diag);

	if (!err)
		err = dp_exits_find(r->exits, p->addr, &list, &why);
	if (err == -ENOMEM)
		return dp_point_refuse(p, err, "out of memory");
	if (err == -ENOENT && why != diag.text)
		return dp_point_refuse(p, -EINVAL, "no function begins there");
	if (err)
		return dp_point_refuse(p, err, "its exits are not known: %s",
				       why);
	p->exits = list.v;
	p->nr_exits = list.n;
	p->early_starts = calloc(list.n + 1, sizeof(*p->early_starts));
	if (!p->early_starts)
		return dp_point_refuse(p, -ENOMEM, "out of memory");
	for (i = 0; i < list.n; i++)
		p->early_starts[i] = find_early_start(r->map, &list.v[i]);
	return 0;
}

int dp_exits_track(struct dp_exit_reader *r, struct dp_modules *mods, u64 addr,
		   struct dp_exit_list *list, struct dp_diag *diag)
{
	const struct dp_module *m = dp_module_at(mods, addr);
	const char *why = "it belongs to no file";
	int err = m ? dp_exit_reader_open(r, mods, m, diag) : -EOPNOTSUPP;

	if (m && err)
		return err == -ENOENT ? -EOPNOTSUPP : err;
	if (!err)
		err = dp_exits_find(r->exits, addr, list, &why);
	if (err)
		return dp_diag_set(
			diag, err == -ENOENT ? -EINVAL : err,
			"where the function at 0x%lx is left is not known: %s",
			addr, why);
	return 0;
}

u32 dp_exit_way(const struct dp_exit *exit)
{
	return (exit->kind == DP_EXIT_TAIL ? DP_WAY_TAIL : 0) |
	       (exit->conditional ? DP_WAY_TAKEN : 0) |
	       (exit->shared ? DP_WAY_SHARED : 0);
}

int dp_exits_begin(struct dp_modules *mods, u64 addr, struct dp_diag *diag)
{
	u64 start, end;

	if (dp_function_bounds(mods, addr, &start, &end) || start == addr)
		return 0;
	return dp_diag_set(diag, -EINVAL,
			   "0x%lx is not the first instruction of a function",
			   addr);
}
