// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * order: the registered exits of a hook, in the order in which they are called.
 *
 *   FIRST? ─ LIFO, the latest ahead ─ unspecified, as they came ─ LAST?        or ONLY
 */
#include "engine/hook/hook.h"

static u32 priority(const struct gkh_rec *rec)
{
	return rec->flags & GKH_ONLY;
}

static struct gkh_rec *last_of(struct gkh_rec *rec)
{
	while (rec && rec->priv[0])
		rec = rec->priv[0];
	return rec;
}

static bool conflicts(struct gkh_rec *first, const struct gkh_rec *rec,
		      bool exclusive)
{
	if (!first)
		return false;
	if (exclusive || priority(rec) == GKH_ONLY ||
	    priority(first) == GKH_ONLY)
		return true;
	if (priority(rec) == GKH_FIRST)
		return priority(first) == GKH_FIRST;
	return priority(rec) == GKH_LAST &&
	       priority(last_of(first)) == GKH_LAST;
}

/* Does a record that is new go ahead of @other? */
static bool precedes(const struct gkh_rec *rec, const struct gkh_rec *other)
{
	switch (priority(rec)) {
	case GKH_FIRST:
		return true;
	case GKH_LAST:
		return false;
	default:
		return rec->flags & GKH_LIFO ? priority(other) != GKH_FIRST :
					       priority(other) == GKH_LAST;
	}
}

static void renumber(struct gkh_rec *rec)
{
	u32 i = 0;

	for (; rec; rec = rec->priv[0])
		rec->index = ++i;
}

int dp_hook_order_add(struct gkh_rec **first, struct gkh_rec *rec,
		      bool exclusive)
{
	struct gkh_rec *before = NULL, *r;

	if (conflicts(*first, rec, exclusive))
		return -EBUSY;
	for (r = *first; r && !precedes(rec, r); r = r->priv[0])
		before = r;
	rec->priv[0] = r;
	if (before)
		before->priv[0] = rec;
	else
		*first = rec;
	renumber(*first);
	return 0;
}

void dp_hook_order_remove(struct gkh_rec **first, struct gkh_rec *rec)
{
	struct gkh_rec *r;

	if (*first == rec)
		*first = rec->priv[0];
	for (r = *first; r; r = r->priv[0])
		if (r->priv[0] == rec)
			r->priv[0] = rec->priv[0];
	rec->priv[0] = NULL;
	rec->index = 0;
	renumber(*first);
}

bool dp_hook_list_has(const struct dp_hook_list *list,
		      const struct gkh_rec *rec)
{
	u32 i;

	for (i = 0; i < list->n; i++)
		if (list->rec[i] == rec)
			return true;
	return false;
}
