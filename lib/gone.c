// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gone: find probes whose code is not mapped any more, and update the callers' flags. */
#include "lib/self.h"

/* A library that is loaded again at the same place has none of our bytes. */
static bool has_gone(u32 i)
{
	struct dp_user *u = &dp_self.users[i];

	switch (dp_symbol_map_loaded(dp_self.symbols, u->addr, u->since)) {
	case DP_LOADED_SAME:
		return false;
	case DP_LOADED_MAYBE:
		u->since = dp_symbol_map_generation(dp_self.symbols);
		return !dp_live_intact(dp_self.engine, &dp_self.text.target, i);
	default:
		return true;
	}
}

static bool may_go(const struct dp_user *u, u32 i)
{
	return u->p && !u->gone && !dp_live_is_off(dp_self.engine, i);
}

static void say_gone(struct dp_user *u)
{
	u->gone = true;
	u->p->flags = (u->p->flags & DP_FLAGS_KEPT) | KPROBE_FLAG_GONE |
		      (u->disabled ? KPROBE_FLAG_DISABLED : 0);
}

/* Mark the probes that the engine has found gone. */
static void say_lost(void)
{
	u32 i;

	if (!dp_live_lost(dp_self.engine))
		return;
	for (i = 0; i < dp_self.nr_users; i++)
		if (may_go(&dp_self.users[i], i) &&
		    dp_live_gone(dp_self.engine, i))
			say_gone(&dp_self.users[i]);
}

/* Called when no probe has to be recognised by its bytes any more. */
static void abandon_gone(void)
{
	u32 i;

	for (i = 0; i < dp_self.nr_users; i++)
		if (dp_self.users[i].p && dp_self.users[i].gone)
			dp_live_abandon(dp_self.engine, i);
}

static void notice_unloaded(void)
{
	u32 i;

	for (i = 0; i < dp_self.nr_users; i++) {
		struct dp_user *u = &dp_self.users[i];

		if (may_go(u, i) && !u->unowned && has_gone(i))
			say_gone(u);
	}
}

/* Is something else mapped at the probe, or nothing? */
static bool is_elsewhere(const struct dp_maps *maps, const struct dp_user *u)
{
	const struct dp_map *m = dp_maps_find(maps, u->addr);

	return !m || !dp_origin_same(u->origin, dp_map_origin(m, u->addr));
}

static void notice_unmapped(const struct dp_maps *maps)
{
	u32 i;

	for (i = 0; i < dp_self.nr_users; i++) {
		struct dp_user *u = &dp_self.users[i];

		if (may_go(u, i) && u->unowned && is_elsewhere(maps, u))
			say_gone(u);
	}
}

/* Where the mapping is the same, check that the code is, too. */
static void notice_replaced(void)
{
	bool unowned = false;
	u32 i;

	for (i = 0; i < dp_self.nr_users; i++) {
		const struct dp_user *u = &dp_self.users[i];

		if (!may_go(u, i) || !u->unowned)
			continue;
		unowned = true;
		dp_live_check(dp_self.engine, &dp_self.text.target, i);
	}
	dp_self.unowned = unowned;
}

void dp_probes_notice_gone(void)
{
	struct dp_maps maps;
	bool unowned = dp_self.unowned && !dp_maps_read(0, &maps);

	if (!dp_self.changed && !unowned)
		return;
	if (dp_self.changed)
		notice_unloaded();
	if (unowned)
		notice_unmapped(&maps);
	abandon_gone();
	if (unowned) {
		notice_replaced();
		dp_maps_free(&maps);
		say_lost();
	}
	dp_self.changed = false;
}

static void refresh(void *arg, u32 i)
{
	const struct dp_user *u = &dp_self.users[i];

	if (i >= dp_self.nr_users || !u->p || dp_live_is_off(dp_self.engine, i))
		return;
	u->p->flags = (u->p->flags & DP_FLAGS_KEPT) |
		      (u->gone ? KPROBE_FLAG_GONE : 0) |
		      (u->disabled ? KPROBE_FLAG_DISABLED : 0) |
		      (dp_live_optimized(dp_self.engine, i) ?
			       KPROBE_FLAG_OPTIMIZED :
			       0);
}

void dp_flags_refresh(void)
{
	say_lost();
	dp_live_touched(dp_self.engine, refresh, NULL);
}
