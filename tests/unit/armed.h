/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* armed: text in an array, and an engine whose sites are armed there, as they come. */
#ifndef DP_TEST_ARMED_H
#define DP_TEST_ARMED_H

#include <stdlib.h>
#include <string.h>
#include "engine/insn/region.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "engine/site/reach.h"
#include "engine/text/target.h"
#include "port/fake/fake.h"
#include "memory.h"

#define TEXT 0x10000000ull
#define SIZE 4096
#define NOP 0x90
#define JMP 0xe9
#define INT3 0xcc
#define ROOM 12

struct world {
	struct dp_target target;
	u8 text[SIZE];
	u8 lost[SIZE]; /* 1: unmapped */
	u32 writes, writes_lost;
	struct dp_engine *e;
	void *file;
	struct memory m;
};

static inline struct world *world_of(struct dp_target *t)
{
	return (struct world *)t;
}

static inline int read_text(struct dp_target *t, u64 addr, void *to, size_t len)
{
	if (world_of(t)->lost[addr - TEXT])
		return -EIO;
	memcpy(to, world_of(t)->text + (addr - TEXT), len);
	return 0;
}

static inline int write_text(struct dp_target *t, u64 addr, const void *from,
			     size_t len)
{
	struct world *w = world_of(t);

	w->writes++;
	w->writes_lost += w->lost[addr - TEXT];
	memcpy(w->text + (addr - TEXT), from, len);
	return 0;
}

static const struct dp_target_ops text_ops = { .read = read_text,
					       .write = write_text };

static inline int add(struct world *w, u32 offset, u32 *probe)
{
	u8 code[DP_REGION_MAX];
	const char *why;

	memcpy(code, w->text + offset, sizeof(code));
	dp_engine_originals(w->e, TEXT + offset, code, sizeof(code));
	return dp_engine_add(w->e, TEXT + offset, code, sizeof(code), probe,
			     &why);
}

/* What was added is planned, and the tables are there. */
static inline int plan(struct world *w)
{
	struct dp_mapping map = { .base = 0x70000000, .owner = 1, .tool = 2 };

	return w->file ? dp_engine_plan(w->e) :
			 memory_build(&w->m, w->e, &w->target, &map, &w->file);
}

/* What was added is armed. */
static inline int go(struct world *w)
{
	int err = plan(w);
	u64 bad;

	return err ? err : dp_engine_commit(w->e, &w->target, &bad);
}

static inline void begin_expecting(struct world *w, enum dp_arming arming,
				   const struct dp_expected *more)
{
	memset(w, 0, sizeof(*w));
	memset(w->text, NOP, SIZE);
	w->target.ops = &text_ops;
	w->m.hole[0] =
		(struct dp_hole){ TEXT + 0x100000, TEXT + 0x10000000, false };
	w->m.nr_holes = 1;
	assert_int_equal(dp_engine_create(&w->e), 0);
	dp_engine_set_arming(w->e, arming);
	dp_engine_expect(w->e, more);
}

static inline void begin(struct world *w, enum dp_arming arming)
{
	static const struct dp_expected some = {
		.sites = ROOM, .probes = ROOM, .programs = 2, .log = 64
	};

	begin_expecting(w, arming, &some);
}

static inline void end(struct world *w)
{
	assert_int_equal(w->writes_lost, 0);
	dp_engine_destroy(w->e);
	free(w->file);
	memory_free(&w->m);
	assert_int_equal(dp_fake_live(), 0);
}

static inline const struct dp_site_entry *entry_of(const struct world *w,
						   u32 probe)
{
	return &w->e->view.sites[w->e->view.probes[probe].site];
}

static inline void allow(struct world *w, u32 probe)
{
	u8 code[SIZE];
	const struct dp_reach reach = { .start = TEXT,
					.code = code,
					.size = SIZE,
					.function = SIZE,
					.room = DP_REGION_MAX };

	memcpy(code, w->text, sizeof(code));
	dp_engine_originals(w->e, TEXT, code, sizeof(code));
	dp_engine_allow_jump(w->e, probe, &reach);
}

#endif
