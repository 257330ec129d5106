// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exits: where the function of a return point is left. */
#include "resolve/exits.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JUMP_SIZE 5

static int refuse(struct dp_point *p, int err, const char *why)
{
	p->refused = err;
	snprintf(p->reason, sizeof(p->reason), "%s", why);
	return err;
}

/*
 * A jump at a ret takes bytes of what is behind it, and whoever arrives there
 * traps. It had better take those before it, if nobody arrives among them.
 */
static u64 find_lead(const struct dp_code_map *map, const struct dp_exit *exit)
{
	u64 lead = exit->addr + 1 - JUMP_SIZE, start, end;

	if (exit->len != 1 ||
	    !dp_code_map_target(map, exit->addr, exit->addr + JUMP_SIZE,
				NULL) ||
	    dp_code_map_target(map, lead, exit->addr + 1, NULL) ||
	    !dp_code_map_boundary(map, lead) ||
	    dp_code_map_function(map, exit->addr, &start, &end) || lead < start)
		return 0;
	return lead;
}

int dp_exit_reader_find(struct dp_exit_reader *r, struct dp_modules *mods,
			const struct dp_module *m, struct dp_point *p)
{
	struct dp_exit_list list = { 0 };
	const char *why = "nothing is known of its code";
	size_t i;
	int err = dp_exit_reader_open(r, mods, m, NULL);

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
	p->leads = calloc(list.n + 1, sizeof(*p->leads));
	if (!p->leads)
		return refuse(p, -ENOMEM, "out of memory");
	for (i = 0; i < list.n; i++)
		p->leads[i] = find_lead(r->map, &list.v[i]);
	return 0;
}
