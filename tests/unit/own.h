/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* own: an engine whose probes come and go, on bytes in an array. */
#ifndef DP_TEST_OWN_H
#define DP_TEST_OWN_H

#include "engine/layout/base.h"
#include "engine/site/reach.h"
#include "port/fake/fake.h"
#include "own_world.h"

static inline void set_up(struct world *w)
{
	*w = (struct world){ .target = { &text_ops },
			     .put_fails = NEVER,
			     .map_fails = NEVER,
			     .text_fails = NEVER,
			     .kill_at = NEVER,
			     .mapped = sizeof(code) };
	memcpy(w->text, code, sizeof(code));
	assert_int_equal(dp_engine_create(&w->e), 0);
	dp_engine_attach_own(w->e, ROOM);
}

/* What a tracer leaves. */
static inline void build(struct world *w)
{
	struct dp_mapping map = { .base = BASE,
				  .intercept_entry = ENTRY,
				  .entries = { .hit = ENTRY + 64 },
				  .owner = 1,
				  .tool = 2 };
	struct dp_layout_need *need = dp_engine_layout(w->e, 2);

	assert_non_null(need);
	w->file_size = DP_FILE_ARENA_OFFSET + need->arena_size;
	map.file = w->file = calloc(1, w->file_size);
	w->file_then = calloc(1, w->file_size);
	assert_non_null(w->file_then);
	assert_int_equal(dp_engine_build(w->e, &map, &growth, w), 0);
	assert_int_equal(dp_engine_plan(w->e), 0);
	assert_int_equal(dp_engine_arm_intercepts(w->e, &w->target), 0);
	w->maps = w->puts = 0;
}

static inline int adopt(struct world *w, u64 size, u32 max_sites)
{
	const struct dp_live_setup setup = {
		.ops = &growth,
		.arg = w,
		.entries = { .hit = ENTRY + 128, .tracked = ENTRY + 192 },
		.size = size,
		.least_pool = DP_LIVE_POOL,
		.max_sites = max_sites
	};
	struct dp_arena *arena = dp_engine_arena(w->e);

	dp_engine_destroy(w->e);
	assert_int_equal(dp_engine_create(&w->e), 0);
	return dp_engine_adopt(w->e, arena, &setup);
}

static inline void begin(struct world *w)
{
	set_up(w);
	build(w);
	assert_int_equal(
		adopt(w, dp_engine_arena(w->e)->control.arena_size, ROOM), 0);
}

static inline void end(struct world *w)
{
	dp_engine_destroy(w->e);
	free(w->file);
	free(w->file_then);
	while (w->nr_pools--)
		free(w->pools[w->nr_pools].written);
	assert_int_equal(dp_fake_live(), 0);
}

static inline u32 add(struct world *w, u32 at)
{
	const struct dp_found found = { .code = code + at,
					.size = sizeof(code) - at,
					.unowned = w->unowned };
	const struct dp_handlers handlers = { .kind = DP_KIND_KPROBE,
					      .user = at + 1,
					      .pre = ENTRY };
	struct dp_reach reach = { .start = TEXT,
				  .code = code,
				  .size = sizeof(code),
				  .function = sizeof(code),
				  .room = sizeof(code) - at };
	const char *why;
	u32 probe;

	assert_int_equal(dp_live_add(w->e, TEXT + at, &found, &handlers, true,
				     &probe, &why),
			 0);
	if (dp_live_is_new(w->e, probe))
		dp_engine_allow_jump(w->e, probe, &reach);
	return probe;
}

static inline void expect_written(const struct world *w, u64 addr, u64 len)
{
	u64 i;

	assert_true(len > 0);
	for (i = 0; i < len; i++) {
		assert_non_null(byte_at(w, addr + i));
		assert_true(*byte_at(w, addr + i));
	}
}

static inline const struct dp_site_entry *entry_of(const struct world *w,
						   u32 at)
{
	const struct dp_site *s = dp_engine_find(w->e, TEXT + at);

	return dp_live_site(w->e, (u32)(s - w->e->sites));
}

/* A thread that hits runs nothing but code that was written. */
static inline void expect_armed(const struct world *w, u32 at, u8 mode)
{
	const struct dp_site *s = dp_engine_find(w->e, TEXT + at);
	const struct dp_site_entry *entry = entry_of(w, at);
	const struct dp_jump *j;
	int b;

	assert_int_equal(dp_view_is_jump(&w->e->view, entry),
			 mode == DP_MODE_JUMP);
	expect_written(w, entry->single, entry->single_len);
	expect_written(w, w->e->need.pools[s->pool].addr, DP_STUBS);
	if (mode != DP_MODE_JUMP) {
		assert_int_not_equal(entry->armed, DP_SITE_OFF);
		assert_int_equal(w->text[at], DP_BREAKPOINT);
		return;
	}
	assert_memory_equal(w->text + at, entry->patch, entry->patch_len);
	j = dp_view_jump(&w->e->view, entry);
	expect_written(w, j->base, j->len);
	assert_false(j->island && !entry->traps);
	for (b = 1; b < DP_JUMP_SIZE - 1; b++)
		if (entry->traps >> b & 1)
			assert_int_equal(entry->patch[b], DP_BREAKPOINT);
	if (j->island)
		expect_written(w, j->island, DP_JUMP_SIZE);
}

static inline const char *reason(const struct world *w, u32 at)
{
	static char text[DP_REASON_SIZE];

	dp_view_reason(&w->e->view, entry_of(w, at), text);
	return text;
}

static inline void commit(struct world *w, const u32 *probes, u32 n)
{
	u32 bad;

	assert_int_equal(dp_live_commit(w->e, &w->target, probes, n, &bad), 0);
}

#endif
