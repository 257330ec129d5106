// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* view: what is read from tables of an arena, and what is disarmed by them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/site/view.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/text/target.h"

#define TEXT 0x401000ull
#define COPY(i) (0x70000000ull + (i)*0x100)
#define JUMP 0x71000000ull
#define ISLAND 0x72000000ull
#define BASE 0x73000000ull
#define INT3 0xcc
#define NOP 0x90

/* Sites, the last of which the view does not have */
enum { ATOMIC, SPLIT, JUMPS, OBSERVED, LINKER, SITES, NONE = SITES };

static struct dp_arena arena;
static struct dp_site_entry sites[SITES + 1];
static struct dp_jump jumps[3];
static struct dp_probe_entry probes[2];
static u64 shards[4][2];
static u8 text[SITES + 1];
static struct dp_view view;
static struct {
	u32 site;
	u8 byte;
} written[2 * SITES];
static u32 writes;

static int read_text(struct dp_target *t, u64 addr, void *to, size_t len)
{
	memset(to, text[(addr - TEXT) / 16], len);
	return 0;
}

static int write_text(struct dp_target *t, u64 addr, const void *from,
		      size_t len)
{
	u32 site = (u32)(addr - TEXT) / 16;

	assert_int_equal(len, 1);
	text[site] = *(const u8 *)from;
	written[writes].site = site;
	written[writes++].byte = text[site];
	return 0;
}

static const struct dp_target_ops ops = { .read = read_text,
					  .write = write_text };
static struct dp_target target = { &ops };

static int begin(void **state)
{
	const struct dp_jump jump = { .base = JUMP,
				      .island = ISLAND,
				      .len = 0x80,
				      .start = 4,
				      .size = 7,
				      .nr = 3,
				      .offset = { 0, 3, 5 },
				      .at = { 8, 20, 40, 60 },
				      .insn = { 10, 22, 42 } };
	u32 i;

	memset(&arena, 0, sizeof(arena));
	memset(probes, 0, sizeof(probes));
	memset(shards, 0, sizeof(shards));
	arena.control.base = BASE;
	for (i = 0; i <= SITES; i++) {
		sites[i] = (struct dp_site_entry){
			.addr = TEXT + i * 16,
			.single = COPY(i),
			.single_len = 16,
			.single_body = 4,
			.insn_len = 3,
			.orig = { NOP, NOP, NOP, NOP, NOP },
			.patch = { INT3 },
			.patch_len = 1,
			.armed = DP_SITE_THERE,
			.wanted = DP_WANT_PLAN,
			.mode = DP_MODE_TRAP,
		};
		text[i] = INT3;
	}
	sites[ATOMIC].single_atomic = 1;
	sites[ATOMIC].post = COPY(ATOMIC) + 0x40;
	sites[ATOMIC].post_len = 16;
	sites[ATOMIC].post_body = 6;
	jumps[1] = jumps[2] = jump;
	jumps[1].site = JUMPS;
	jumps[2].site = OBSERVED;
	jumps[2].base += 0x1000;
	jumps[2].island = 0;
	sites[JUMPS].jump = 1;
	sites[OBSERVED].jump = 2;
	sites[OBSERVED].intercept = DP_INTERCEPT_OBSERVED;
	sites[LINKER].first_probe = 2;
	probes[1].kind = DP_KIND_LINKER;
	view = (struct dp_view){ .arena = &arena,
				 .sites = sites,
				 .jumps = jumps,
				 .nr_jumps = 3,
				 .probes = probes,
				 .nr_sites = SITES,
				 .nr_probes = 2,
				 .counters = (const char *)shards,
				 .shard_stride = sizeof(shards[0]),
				 .nr_shards = 4 };
	writes = 0;
	return 0;
}

/* What instruction of the program does a pc in a copy stand for? */
static void originals(void **state)
{
	static const struct {
		u64 pc;
		int err;
		u64 orig;
	} cases[] = {
		{ COPY(ATOMIC), 0, TEXT },
		{ COPY(ATOMIC) + 1, -EAGAIN, 0 },
		{ COPY(ATOMIC) + 4, 0, TEXT + 3 },
		{ COPY(ATOMIC) + 15, 0, TEXT + 3 },
		{ COPY(ATOMIC) + 16, -ENOENT, 0 },
		{ COPY(ATOMIC) - 1, -ENOENT, 0 },
		{ COPY(ATOMIC) + 0x40, 0, TEXT },
		{ COPY(ATOMIC) + 0x45, -EAGAIN, 0 },
		{ COPY(ATOMIC) + 0x46, 0, TEXT + 3 },
		{ COPY(SPLIT), 0, TEXT + 16 },
		{ COPY(SPLIT) + 4, -EAGAIN, 0 },
		{ ISLAND, 0, TEXT + 32 },
		{ JUMP + 4, 0, TEXT + 32 },
		{ JUMP + 8, -EAGAIN, 0 },
		{ JUMP + 10, 0, TEXT + 32 },
		{ JUMP + 20, 0, TEXT + 35 },
		{ JUMP + 22, 0, TEXT + 35 },
		{ JUMP + 21, -EAGAIN, 0 },
		{ JUMP + 40, 0, TEXT + 37 },
		{ JUMP + 42, 0, TEXT + 37 },
		{ JUMP + 42 + DP_SYSCALL_SIZE, -EAGAIN, 0 },
		{ JUMP + 60, 0, TEXT + 39 },
		{ JUMP + 61, -EAGAIN, 0 },
		{ JUMP + 0x80, -ENOENT, 0 },
		{ JUMP + 0x1000 + 42 + DP_SYSCALL_SIZE, 0, TEXT + 48 + 7 },
		{ COPY(NONE), -ENOENT, 0 },
		{ 0, -ENOENT, 0 },
	};
	u64 orig;
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err = dp_view_original(&view, cases[i].pc, &orig);

		if (err != cases[i].err || (!err && orig != cases[i].orig))
			fail_msg("case %u: %d, %#llx", i, err,
				 (unsigned long long)orig);
	}
}

static void whose_address(void **state)
{
	arena.control.nr_pools = 2;
	arena.control.pools[1].start = JUMP;
	arena.control.pools[1].size = 0x1000;
	arena.control.pools[2].start = ISLAND;
	arena.control.pools[2].size = 16;
	assert_true(dp_view_owns(&view, BASE));
	assert_true(dp_view_owns(&view, BASE + DP_AGENT_TEXT - 1));
	assert_false(dp_view_owns(&view, BASE + DP_AGENT_TEXT));
	assert_true(dp_view_owns(&view, JUMP));
	assert_true(dp_view_owns(&view, JUMP + 0xfff));
	assert_false(dp_view_owns(&view, JUMP + 0x1000));
	assert_false(dp_view_owns(&view, ISLAND));
	/* A number of pools that only a hostile process can have written */
	arena.control.nr_pools = ~0u;
	assert_false(dp_view_owns(&view, 5));
	assert_true(dp_view_intercepts(&view, JUMP + 0x1000));
	assert_false(dp_view_intercepts(&view, JUMP));
	assert_false(dp_view_intercepts(&view, COPY(SPLIT)));
	sites[NONE].intercept = DP_INTERCEPT_MADE;
	assert_false(dp_view_intercepts(&view, COPY(NONE)));
}

static void reasons(void **state)
{
	char(*all)[DP_REASON_SIZE] = arena.control.reasons;
	static const struct {
		u8 reason, len;
	} cases[] = { { 0, 0 },
		      { 1, 2 },
		      { DP_REASONS, DP_REASON_SIZE - 1 },
		      { DP_REASONS + 1, 0 } };
	char told[DP_REASON_SIZE + 1];
	u32 i;

	strcpy(all[0], "no");
	memset(all[DP_REASONS - 1], 'x', DP_REASON_SIZE);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(told, '?', sizeof(told));
		sites[SPLIT].reason = cases[i].reason;
		dp_view_reason(&view, &sites[SPLIT], told);
		assert_int_equal(strnlen(told, sizeof(told)), cases[i].len);
		assert_int_equal(told[DP_REASON_SIZE], '?');
	}
}

static void counters(void **state)
{
	struct dp_probe_state states[2] = { 0 };
	u32 i;

	for (i = 0; i < 4; i++) {
		shards[i][0] = 1;
		shards[i][1] = 10;
	}
	assert_int_equal(dp_view_hits(&view, 0), 4);
	assert_int_equal(dp_view_hits(&view, 1), 40);
	assert_int_equal(dp_view_hits(&view, 2), 0);
	probes[1].site = LINKER;
	assert_ptr_equal(dp_view_site_of(&view, 1), &sites[LINKER]);
	assert_null(dp_view_site_of(&view, 2));
	probes[1].site = SITES;
	assert_null(dp_view_site_of(&view, 1));
	/* The first probe of its site has the count; of none, or of one that lies, 0. */
	view.states = states;
	states[1].tally[DP_TALLY_MIDDLE] = 6;
	probes[0].site = LINKER;
	assert_int_equal(dp_view_middle(&view, 0), 6);
	sites[LINKER].first_probe = 3;
	assert_int_equal(dp_view_middle(&view, 0), 0);
	sites[LINKER].first_probe = 0;
	assert_int_equal(dp_view_middle(&view, 0), 0);
	states[0].tally[DP_TALLY_MIDDLE] = 7;
	assert_int_equal(dp_view_middle(&view, 1), 0);
}

/* A probe has the hits of its site while that is counted for it, and those of before. One that
 * tracks calls by exits has a counter of its own. */
static void hits_of_probes(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		shards[i][0] = i, shards[i][1] = 100 * i;
	probes[1].site = 0;
	probes[1].earlier = 1000;
	probes[1].since = 2;
	assert_int_equal(dp_view_probe_hits(&view, 1), 1000);
	probes[1].counting = 1;
	assert_int_equal(dp_view_probe_hits(&view, 1), 1004);
	view.probe_counters = 0;
	probes[1].kind = DP_KIND_ENTER;
	assert_int_equal(dp_view_probe_hits(&view, 1), 1600);
	probes[1].kind = DP_KIND_EXIT;
	assert_int_equal(dp_view_probe_hits(&view, 1), 1600);
	view.probe_counters = 1;
	assert_int_equal(dp_view_probe_hits(&view, 1), 1000);
	assert_int_equal(dp_view_probe_hits(&view, 0), 0);
	probes[1].instance_pool = 1;
	assert_int_equal(dp_view_probe_hits(&view, 1), 1004);
}

/* Hits at which a program was met are counted apart, if they are at all. */
static void hits_that_are_met(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		shards[i][0] = 1, shards[i][1] = 10;
	assert_int_equal(dp_view_site_hits(&view, 0), 4);
	assert_int_equal(dp_view_met(&view, 0), 0);
	view.met_counters = 1;
	assert_int_equal(dp_view_site_hits(&view, 0), 44);
	assert_int_equal(dp_view_met(&view, 0), 40);
	/* Behind the end of a shard there is nothing. */
	assert_int_equal(dp_view_met(&view, 1), 0);
	assert_int_equal(dp_view_site_hits(&view, 1), 40);
	probes[1].site = 0;
	probes[1].since = 4;
	probes[1].met_since = 30;
	probes[1].met_earlier = 5;
	assert_int_equal(dp_view_probe_met(&view, 1), 5);
	probes[1].counting = 1;
	assert_int_equal(dp_view_probe_met(&view, 1), 15);
	assert_int_equal(dp_view_probe_hits(&view, 1), 40);
}

/* A counter is one word of each shard that there is. */
static void forgets_hits(void **state)
{
	u32 i;

	for (i = 0; i < 4; i++)
		shards[i][0] = shards[i][1] = 5;
	view.nr_shards = 3;
	assert_int_equal(dp_view_hits(&view, 1), 15);
	dp_view_forget_hits(&view, 1);
	assert_int_equal(dp_view_hits(&view, 1), 0);
	assert_int_equal(dp_view_hits(&view, 0), 15);
	assert_int_equal(shards[3][1], 5);
}

/* Neither a jump nor a site that the tables do not have is looked at. */
static void jumps_that_lie(void **state)
{
	u64 orig;

	sites[JUMPS].jump = 2;
	assert_ptr_equal(dp_view_jump(&view, &sites[JUMPS]), &jumps[2]);
	sites[JUMPS].jump = 3;
	assert_ptr_equal(dp_view_jump(&view, &sites[JUMPS]), &jumps[0]);
	jumps[1].site = SITES;
	assert_int_equal(dp_view_original(&view, JUMP + 4, &orig), -ENOENT);
	assert_int_equal(dp_view_original(&view, ISLAND, &orig), -ENOENT);
	view.nr_jumps = 2;
	assert_int_equal(dp_view_original(&view, JUMP + 0x1004, &orig),
			 -ENOENT);
}

/* A covered site is a jump where its leader is one that is there. */
static void jumps_in_the_text(void **state)
{
	assert_false(dp_view_is_jump(&view, &sites[JUMPS]));
	sites[JUMPS].mode = DP_MODE_JUMP;
	assert_true(dp_view_is_jump(&view, &sites[JUMPS]));
	sites[SPLIT].leader = JUMPS + 1;
	assert_true(dp_view_is_jump(&view, &sites[SPLIT]));
	sites[JUMPS].armed = DP_SITE_COMING;
	assert_false(dp_view_is_jump(&view, &sites[SPLIT]));
	sites[JUMPS].armed = DP_SITE_THERE;
	sites[NONE].mode = DP_MODE_JUMP;
	sites[SPLIT].leader = NONE + 1;
	assert_false(dp_view_is_jump(&view, &sites[SPLIT]));
}

static void linkers_sites(void **state)
{
	assert_true(dp_view_is_linkers(&view, &sites[LINKER]));
	assert_false(dp_view_is_linkers(&view, &sites[SPLIT]));
	sites[SPLIT].first_probe = 1;
	assert_false(dp_view_is_linkers(&view, &sites[SPLIT]));
	sites[SPLIT].first_probe = 3;
	assert_false(dp_view_is_linkers(&view, &sites[SPLIT]));
}

/* Those of loader events last, and those of intercepts apart. */
static void disarms_in_order(void **state)
{
	u32 i;

	assert_int_equal(dp_view_disarm(&view, &target, false, NULL), 0);
	for (i = 0; i <= SITES; i++) {
		bool stays = i == OBSERVED || i == NONE;

		assert_int_equal(text[i], stays ? INT3 : NOP);
		assert_int_equal(sites[i].wanted,
				 stays ? DP_WANT_PLAN : DP_WANT_OFF);
		assert_int_equal(sites[i].armed,
				 stays ? DP_SITE_THERE : DP_SITE_OFF);
	}
	assert_int_equal(written[writes - 1].site, LINKER);
	assert_int_equal(writes, SITES - 1);
}

static void disarms_where_none_is_the_linkers(void **state)
{
	probes[1].kind = DP_KIND_PLAIN;
	assert_int_equal(dp_view_disarm(&view, &target, false, NULL), 0);
	assert_int_equal(text[LINKER], NOP);
	assert_int_equal(text[OBSERVED], INT3);
}

/* All others are disarmed all the same; the first is named. */
static void names_foreign_bytes(void **state)
{
	u64 bad = 0;

	text[SPLIT] = text[LINKER] = 0xeb;
	assert_int_equal(dp_view_disarm(&view, &target, false, &bad), -EBUSY);
	assert_int_equal(bad, TEXT + SPLIT * 16);
	assert_int_equal(text[SPLIT], 0xeb);
	assert_int_equal(text[ATOMIC], NOP);
	assert_int_equal(text[JUMPS], NOP);
	begin(NULL);
	text[LINKER] = 0xeb;
	assert_int_equal(dp_view_disarm(&view, &target, false, &bad), -EBUSY);
	assert_int_equal(bad, TEXT + LINKER * 16);
}

/* Is all text as it was, of what is armed and there? */
static void text_that_was_given_back(void **state)
{
	assert_false(dp_view_is_reverted(&view, &target));
	memset(text, NOP, SITES);
	assert_true(dp_view_is_reverted(&view, &target));
	text[LINKER] = INT3;
	assert_false(dp_view_is_reverted(&view, &target));
	sites[LINKER].armed = DP_SITE_OFF;
	assert_true(dp_view_is_reverted(&view, &target));
	sites[LINKER].armed = DP_SITE_GONE;
	assert_true(dp_view_is_reverted(&view, &target));
	dp_view_disown(&view);
	assert_int_equal(sites[0].armed, DP_SITE_OFF);
	assert_int_equal(sites[0].wanted, DP_WANT_OFF);
	assert_int_equal(sites[NONE].armed, DP_SITE_THERE);
}

/* What a debugger may put back is taken for armed. */
static void breakpoints_that_come_back(void **state)
{
	u32 i;

	for (i = 0; i <= SITES; i++)
		sites[i].armed = DP_SITE_OFF;
	sites[NONE].returned = 1;
	assert_false(dp_view_presume(&view));
	sites[SPLIT].returned = 1;
	assert_true(dp_view_presume(&view));
	for (i = 0; i <= SITES; i++)
		assert_int_equal(sites[i].armed,
				 i == SPLIT ? DP_SITE_THERE : DP_SITE_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(originals, begin),
		cmocka_unit_test_setup(whose_address, begin),
		cmocka_unit_test_setup(reasons, begin),
		cmocka_unit_test_setup(counters, begin),
		cmocka_unit_test_setup(hits_of_probes, begin),
		cmocka_unit_test_setup(hits_that_are_met, begin),
		cmocka_unit_test_setup(forgets_hits, begin),
		cmocka_unit_test_setup(jumps_that_lie, begin),
		cmocka_unit_test_setup(jumps_in_the_text, begin),
		cmocka_unit_test_setup(linkers_sites, begin),
		cmocka_unit_test_setup(disarms_in_order, begin),
		cmocka_unit_test_setup(disarms_where_none_is_the_linkers,
				       begin),
		cmocka_unit_test_setup(names_foreign_bytes, begin),
		cmocka_unit_test_setup(text_that_was_given_back, begin),
		cmocka_unit_test_setup(breakpoints_that_come_back, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
