// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* gone: find probes whose code is not mapped any more, and update the callers' flags. */
#include "lib/frames.h"
#include "lib/self.h"

/* A library that is loaded again at the same place has none of our bytes. */
static bool is_unloaded(u32 i, const void *arg)
{
	struct dp_user *u = &dp_self.users[i];

	if (u->unowned)
		return false;
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

/* Is something else mapped at the probe, or nothing? */
static bool is_elsewhere(u32 i, const void *maps)
{
	const struct dp_user *u = &dp_self.users[i];
	const struct dp_map *m = dp_maps_find(maps, u->addr);

	return u->unowned &&
	       (!m || !dp_origin_same(u->origin, dp_map_origin(m, u->addr)));
}

/* Where the mapping is the same, let the engine check that the code is, too. */
static bool is_replaced(u32 i, const void *arg)
{
	if (dp_self.users[i].unowned) {
		dp_self.unowned = true;
		dp_live_check(dp_self.engine, &dp_self.text.target, i);
	}
	return false;
}

/* Has the engine found it gone? */
static bool is_lost(u32 i, const void *arg)
{
	return dp_live_gone(dp_self.engine, i);
}

/* Mark the probes that are gone, says @has_gone. */
static void mark(bool (*has_gone)(u32 i, const void *arg), const void *arg)
{
	u32 i;

	for (i = 0; i < dp_self.nr_users; i++) {
		struct dp_user *u = &dp_self.users[i];

		if (!u->p || u->gone || dp_live_is_off(dp_self.engine, i) ||
		    !has_gone(i, arg))
			continue;
		u->gone = true;
		/* Another unwinder may be there. */
		if (u->own)
			dp_frames_let_pass(NULL, 0);
		u->p->flags = (u->p->flags & DP_FLAGS_KEPT) | KPROBE_FLAG_GONE |
			      (u->disabled ? KPROBE_FLAG_DISABLED : 0);
	}
}

static void mark_lost(void)
{
	if (dp_live_lost(dp_self.engine))
		mark(is_lost, NULL);
}

/* Called when no probe has to be recognised by its bytes any more. */
static void abandon_gone(void)
{
	u32 i;

	for (i = 0; i < dp_self.nr_users; i++)
		if (dp_self.users[i].p && dp_self.users[i].gone)
			dp_live_abandon(dp_self.engine, i);
}

void dp_probes_notice_gone(void)
{
	struct dp_maps maps;
	bool unowned = dp_self.unowned && !dp_maps_read(0, &maps);

	if (!dp_self.changed && !unowned)
		return;
	if (dp_self.changed)
		mark(is_unloaded, NULL);
	if (unowned)
		mark(is_elsewhere, &maps);
	abandon_gone();
	if (unowned) {
		dp_self.unowned = false;
		mark(is_replaced, NULL);
		dp_maps_free(&maps);
		mark_lost();
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
	mark_lost();
	dp_live_touched(dp_self.engine, refresh, NULL);
}
