// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exits: where the function of a return point is left. */
#include "tracer/exits.h"
#include <errno.h>
#include <string.h>

static int refuse(struct dp_point *p, int err, const char *why)
{
	p->refused = err;
	snprintf(p->reason, sizeof(p->reason), "%s", why);
	return err;
}

static int open_module(struct dp_exit_reader *r, struct dp_modules *mods,
		       const struct dp_module *m)
{
	int err;

	if (r->module == m)
		return r->exits ? 0 : -EOPNOTSUPP;
	dp_exit_reader_close(r);
	r->module = m;
	err = dp_code_map_open(mods, m, &r->map, NULL);
	if (err)
		r->map = NULL;
	else if (dp_exits_open(mods, m, r->map, &r->exits, NULL))
		r->exits = NULL;
	return r->exits ? 0 : -EOPNOTSUPP;
}

int dp_exit_reader_find(struct dp_exit_reader *r, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *p)
{
	struct dp_exit_list list = { 0 };
	const char *why = "nothing is known of its code";
	int err = open_module(r, mods, m);

	if (!err)
		err = dp_exits_find(r->exits, p->addr, &list, &why);
	if (err == -ENOMEM)
		return refuse(p, err, "out of memory");
	if (err == -ENOENT)
		return refuse(p, -EINVAL, "no function begins there");
	if (err) {
		p->refused = err;
		snprintf(p->reason, sizeof(p->reason),
			 "its exits are not known: %s", why);
		return err;
	}
	p->exits = list.v;
	p->nr_exits = list.n;
	return 0;
}

void dp_exit_reader_close(struct dp_exit_reader *r)
{
	dp_exits_close(r->exits);
	dp_code_map_close(r->map);
	memset(r, 0, sizeof(*r));
}
